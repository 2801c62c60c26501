"""A skipped test is a test that nobody ran: every skip has to be expected by name."""

import pytest

EXPECTED_SKIPS: dict[str, str] = {}
"""Node id to the reason for skipping it, on every machine that the tests are meant for."""

_unexpected: list[str] = []


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    if report.skipped and not hasattr(report, "wasxfail") and report.nodeid not in EXPECTED_SKIPS:
        _unexpected.append(report.nodeid)


def pytest_sessionfinish(session: pytest.Session) -> None:
    if _unexpected and session.exitstatus == pytest.ExitCode.OK:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    for nodeid in _unexpected:
        terminalreporter.write_line(f"unexpected skip: {nodeid}", red=True)
