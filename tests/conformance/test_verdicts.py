"""The suite's verdict on our processor, and on llama.cpp under its own dialect."""

import json
from collections.abc import Callable

import pytest

from topnsigma_conformance import Report, check_implementation
from topnsigma_conformance.target import load

Record = Callable[[str, object], None]

LLAMA_CPP_BREAKS = {"TNS-9"}
"""The rules that the pinned build of llama.cpp breaks in its own dialect: its float32 sums lose the
small deviations of a large vocabulary after a few large ones."""


def _verdict(target: str, record: Record) -> Report:
    report = check_implementation(load(target), target=target)
    record("tns_report", json.dumps(report.to_dict()))
    return report


def test_processor_conforms(record_property: Record) -> None:
    report = _verdict("processor", record_property)
    report.raise_for_failures()
    assert report.rfc is not None
    assert report.rfc.conforms
    assert report.count("quality-warning") == 0


def test_llama_cpp_gets_a_verdict(record_property: Record) -> None:
    report = _verdict("llama.cpp", record_property)
    assert report.complete
    assert {result.status for result in report.failures} <= {"fail"}
    assert {result.rule for result in report.failures} == LLAMA_CPP_BREAKS
    assert "TNS-9.core" in {result.check for result in report.failures}
    assert report.rfc is not None
    assert not report.rfc.conforms
    for result in report.failures:
        failure = result.failure
        assert failure is not None
        assert failure.distance_ulp is not None
        assert failure.reproduce.startswith("topnsigma-conformance run llama.cpp --check")


@pytest.mark.parametrize("rule", ["TNS-1.reject", "TNS-3.neg-inf", "TNS-4.divisor"])
def test_llama_cpp_departs_from_rfc_where_its_dialect_says(rule: str) -> None:
    report = check_implementation(
        load("llama.cpp"), dialect=None, checks=[rule], target="llama.cpp"
    )
    assert not report.failures
    assert report.rfc is not None
    assert report.rfc.failing == (rule,)
