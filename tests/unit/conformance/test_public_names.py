"""What is public is there, whether it is loaded with the package or on demand."""

from __future__ import annotations

import pytest

import topnsigma_conformance


def test_every_public_name_can_be_imported() -> None:
    imported: dict[str, object] = {}
    exec("from topnsigma_conformance import *", imported)
    assert {*topnsigma_conformance.__all__} == {*imported} - {"__builtins__"}
    assert {*topnsigma_conformance.__all__} <= {*dir(topnsigma_conformance)}
    assert callable(imported["check_implementation"])


def test_no_other_name_can() -> None:
    with pytest.raises(AttributeError, match="'topnsigma_conformance' has no attribute 'Mine'"):
        getattr(topnsigma_conformance, "Mine")  # noqa: B009
