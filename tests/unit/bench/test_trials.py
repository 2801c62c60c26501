"""The faults of the trials can be planted in the tree as it is."""

from __future__ import annotations

from pathlib import Path

import pytest
from bench.trials import FAULTS, ROOT, Fault, tree


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.name)
def test_a_fault_is_planted_in_a_copy(fault: Fault) -> None:
    original = (ROOT / fault.path).read_text(encoding="utf-8")
    with tree(fault) as folder:
        assert (folder / fault.path).read_text(encoding="utf-8") != original
    assert (ROOT / fault.path).read_text(encoding="utf-8") == original


def test_a_fault_that_no_longer_fits_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("twice twice", encoding="utf-8")
    with pytest.raises(ValueError, match="must hold once"):
        Fault("a fault", "file", "twice", "", "").plant(tmp_path)
