"""The places that the page names are in the packages that are installed."""

import ast
import importlib.util
from pathlib import Path

import pytest
from peers.remarks import ABOUT, Place

PLACES = sorted(
    {
        place
        for about in ABOUT.values()
        for remark in about.remarks.values()
        for place in remark.places
        if place.package
    },
    key=str,
)


@pytest.mark.parametrize("place", PLACES, ids=str)
def test_the_place_is_there(place: Place) -> None:
    spec = importlib.util.find_spec(place.package)
    assert spec is not None
    assert spec.submodule_search_locations is not None
    (folder,) = spec.submodule_search_locations
    tree = ast.parse((Path(folder) / place.file).read_text(encoding="utf-8"))
    names = {node.name for node in tree.body if isinstance(node, ast.FunctionDef | ast.ClassDef)}
    assert place.name in names
