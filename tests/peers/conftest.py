"""What all of these tests need, and the page that is written when all of them have passed."""

import importlib.metadata
import json
import os
from pathlib import Path

import pytest
from peers.page import page
from peers.pinned import EXAMPLES, OURS, PEERS, VERSIONS
from recorded_properties import recorded

from topnsigma_conformance import Report

HERE = Path(__file__).parent

PACKAGES = (*VERSIONS, "jax", "torch", "transformers")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--write-page",
        type=Path,
        metavar="FILE",
        help="Write the page on the peers, if every test of a verdict ran and all have passed.",
    )


@pytest.fixture(autouse=True, scope="session")
def _examples_on_the_path_of_other_processes() -> None:
    """Isolated implementations import the examples here, in a process of their own."""
    inherited = os.environ.get("PYTHONPATH", "")
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [str(HERE.parent), inherited]))


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, exitstatus: int, config: pytest.Config
) -> None:
    path: Path | None = config.getoption("--write-page")
    if path is None:
        return
    found = recorded(terminalreporter, ("passed",))
    reports = [Report.from_dict(json.loads(text)) for name, text in found if name == "tns_report"]
    answers = [json.loads(text) for name, text in found if name == "tns_outside"]
    outside = {data["target"]: data["answers"] for data in answers}
    expected = {pinned.target for pinned in (*PEERS, *OURS, *EXAMPLES)}
    if exitstatus != pytest.ExitCode.OK or {each.header.target for each in reports} != expected:
        terminalreporter.write_line(f"{path} was not written: not all verdicts are as pinned")
        return
    versions = {name: importlib.metadata.version(name) for name in PACKAGES}
    path.write_text(page(reports, outside, versions), encoding="utf-8")
    terminalreporter.write_line(f"wrote {path}")
