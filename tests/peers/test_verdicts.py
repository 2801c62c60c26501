"""The suite's verdict on each peer, pinned: whoever updates a peer sees what it changes."""

import dataclasses
import functools
import importlib.metadata

import pytest

from topnsigma_conformance import Report, check_implementation
from topnsigma_conformance.target import load
from topnsigma_reference import Dialect


@dataclasses.dataclass(frozen=True)
class Pinned:
    """What is expected of one target.

    Attributes:
        target: as on the command line.
        dialect: its own, or the one it is checked under.
        fails: ids of the checks that fail.
        warns: ids of those that give a quality warning.
    """

    target: str
    dialect: str
    fails: frozenset[str] = frozenset()
    warns: frozenset[str] = frozenset()

    def __str__(self) -> str:
        return self.target


PEERS = (
    Pinned(
        "mlx-vlm",
        "sigma=population",
        # n = 0, NaN, infinity and True pass; an int beyond 64 bits does not; float32 sums of
        # squares lose the small ones after a large one.
        fails=frozenset({"TNS-1.reject", "TNS-1.accept", "TNS-9.core"}),
        warns=frozenset({"TNS-1.message", "TNS-5.fill"}),
    ),
    Pinned(
        "aphrodite",
        "RFC",
        # n = 0, NaN, infinity and True pass; a request without n is greedy beside one with n.
        fails=frozenset({"TNS-1.reject", "TNS-2.beside-enabled", "TNS-8.mixed-n"}),
        warns=frozenset({"TNS-1.message"}),
    ),
)

# Examples of ours, which show that each adapter can tell right from wrong.
EXAMPLES = (
    Pinned("transformers:peers.transformers_processors:TopNSigma", "RFC"),
    Pinned(
        "transformers:peers.transformers_processors:Published",
        "RFC",
        fails=frozenset(
            {
                "TNS-1.reject",
                "TNS-1.accept",
                "TNS-3.nan",
                "TNS-3.inf",
                "TNS-3.neg-inf",
                "TNS-3.mixed",
                "TNS-4.one-token",
                "THM-3.idempotent",
            }
        ),
    ),
    Pinned("sglang:peers.sglang_processors:TopNSigma", "invalid_n=disable"),
    Pinned(
        "sglang:peers.sglang_processors:FirstForAll",
        "invalid_n=disable",
        fails=frozenset({"TNS-1.reject", "TNS-8.batch", "TNS-8.position", "TNS-8.mixed-n"}),
    ),
    Pinned("numpy:peers.functions:in_numpy", "RFC"),
    Pinned("torch:peers.functions:in_torch", "RFC"),
    Pinned("jax:peers.functions:in_jax", "RFC"),
)

VERSIONS = {"mlx": "0.32.4", "mlx-vlm": "0.7.10", "aphrodite-engine": "0.24.1", "sglang": "0.5.23"}
"""Those that the verdicts were read from, as tox.ini installs them."""


@functools.cache
def _report(pinned: Pinned) -> Report:
    dialect = Dialect.parse(pinned.dialect)
    return check_implementation(
        load(pinned.target), target=pinned.target, dialect=dialect, rfc=False
    )


@pytest.mark.parametrize("pinned", [*PEERS, *EXAMPLES], ids=str)
def test_verdict(pinned: Pinned) -> None:
    report = _report(pinned)
    assert report.complete
    failing = {result.check: result.status for result in report.failures}
    assert failing == dict.fromkeys(pinned.fails, "fail")
    assert report.conforms == (not pinned.fails)
    warned = {result.check for result in report.results if result.status == "quality-warning"}
    assert warned == pinned.warns


@pytest.mark.parametrize("pinned", PEERS, ids=str)
def test_a_peer_is_checked_under_its_own_dialect(pinned: Pinned) -> None:
    assert str(load(pinned.target).dialect) == pinned.dialect


@pytest.mark.parametrize("pinned", PEERS, ids=str)
def test_the_line_that_reproduces_a_failure_names_the_peer(pinned: Pinned) -> None:
    for result in _report(pinned).failures:
        assert result.failure is not None
        start = f"topnsigma-conformance run {pinned.target} --check {result.check} "
        assert result.failure.reproduce.startswith(start)


def test_verdicts_were_read_from_these_versions() -> None:
    assert {package: importlib.metadata.version(package) for package in VERSIONS} == VERSIONS
