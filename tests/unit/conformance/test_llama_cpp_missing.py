"""The llama.cpp adapter without its peer."""

import sys

import pytest

from topnsigma_conformance.adapters.llama_cpp import LlamaCpp


def test_missing_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "xllamacpp", None)
    monkeypatch.delitem(sys.modules, "xllamacpp.xllamacpp", raising=False)
    with pytest.raises(ImportError, match="pip install xllamacpp"):
        LlamaCpp()
