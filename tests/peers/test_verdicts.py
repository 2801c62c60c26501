"""The suite's verdict on each peer is the one in ``peers.pinned``; the page tells it to others."""

import importlib.metadata
import json
from collections.abc import Callable

import pytest
from peers.outside_domain import answers, wanted
from peers.pinned import EXAMPLES, OURS, PEERS, VERSIONS, Pinned

from topnsigma_conformance import check_implementation
from topnsigma_conformance.target import load
from topnsigma_reference import Dialect


@pytest.mark.parametrize("pinned", [*PEERS, *OURS, *EXAMPLES], ids=str)
def test_verdict(pinned: Pinned, record_property: Callable[[str, object], None]) -> None:
    report = check_implementation(
        load(pinned.target),
        target=pinned.target,
        dialect=Dialect.parse(pinned.dialect),
        rfc=pinned not in EXAMPLES,
    )
    record_property("tns_report", json.dumps(report.to_dict()))
    assert report.complete
    failing = {result.check: result.status for result in report.failures}
    assert failing == dict.fromkeys(pinned.fails, "fail")
    assert report.conforms == (not pinned.fails)
    warned = {result.check for result in report.results if result.status == "quality-warning"}
    assert warned == pinned.warns
    for result in report.failures:
        assert result.failure is not None
        start = f"topnsigma-conformance run {pinned.target} --check {result.check} "
        assert result.failure.reproduce.startswith(start)
    if report.rfc is not None:
        assert set(report.rfc.failing) == pinned.fails | pinned.departs


@pytest.mark.parametrize("pinned", [*PEERS, *OURS], ids=str)
def test_a_peer_is_checked_under_its_own_dialect(
    pinned: Pinned, record_property: Callable[[str, object], None]
) -> None:
    implementation = load(pinned.target)
    assert str(implementation.dialect) == pinned.dialect
    outside = answers(implementation, pinned.target)
    record_property("tns_outside", json.dumps({"target": pinned.target, "answers": outside}))
    # What the page says in words has to be what the verdict rests on.
    right = set(outside.values()) == {wanted(implementation.dialect.invalid_n)}
    assert right == ("TNS-1.reject" not in pinned.fails)


def test_verdicts_were_read_from_these_versions() -> None:
    assert {package: importlib.metadata.version(package) for package in VERSIONS} == VERSIONS
