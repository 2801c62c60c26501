"""Every skip has to be expected by name, for it is a test that nobody ran; every failure shows."""

from collections.abc import Generator
from typing import Any

import pytest
from toolchains import works

_NEEDS = {
    "rustc": ("test_the_one_in_rust_conforms",),
    "node": (
        "test_the_wrong_one_is_caught_by_the_rules_it_breaks",
        "test_a_dialect_explains_one_half_of_it",
        "test_a_failure_can_be_repeated",
    ),
}

EXPECTED_SKIPS: dict[str, str] = {
    f"tests/unit/conformance/test_harness_examples.py::{test}": f"there is no {tool} that works"
    for tool, tests in _NEEDS.items()
    if not works(tool)
    for test in tests
}
"""Node id to the reason for skipping it, on this machine."""

_unexpected: list[str] = []


@pytest.hookimpl(wrapper=True)
def pytest_report_to_serializable() -> Generator[None, Any, Any]:
    """Escape what UTF-8 cannot say, as a failure shows it that is about halves of surrogate pairs:
    pytest-xdist would end the whole run."""
    return _encodable((yield))


def _encodable(data: Any) -> Any:
    if isinstance(data, str):
        return data.encode("utf-8", "backslashreplace").decode("utf-8")
    if isinstance(data, dict):
        return {key: _encodable(value) for key, value in data.items()}
    if isinstance(data, (list, tuple)):
        return type(data)(map(_encodable, data))
    return data


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    if report.skipped and not hasattr(report, "wasxfail") and report.nodeid not in EXPECTED_SKIPS:
        _unexpected.append(report.nodeid)


def pytest_sessionfinish(session: pytest.Session) -> None:
    if _unexpected and session.exitstatus == pytest.ExitCode.OK:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    for nodeid in _unexpected:
        terminalreporter.write_line(f"unexpected skip: {nodeid}", red=True)
