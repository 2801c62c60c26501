"""The vLLM adapter tells processors that follow the batch from those that lose track of it."""

import pytest

from topnsigma_conformance import Report, check_implementation
from topnsigma_conformance.target import TargetError, load

EXAMPLES = "vllm:peers.vllm_processors:"
OURS = "vllm:topnsigma_processor.vllm_plugin:TopNSigma"

# On which a lost or swapped n shows, at a fraction of the cost of all.
BOOKKEEPING = ("TNS-1.reject", "TNS-2.disabled", "TNS-5.cut", "TNS-8.mixed-n")


def _report(target: str) -> Report:
    return check_implementation(load(target), target=target, checks=BOOKKEEPING, rfc=False)


@pytest.mark.parametrize("name", ["RightV1", "RightV2"])
def test_right_bookkeeping_passes(name: str) -> None:
    report = _report(EXAMPLES + name)
    assert not report.failures
    assert {result.status for result in report.results} == {"pass"}


@pytest.mark.parametrize(
    ("name", "caught_by"),
    [
        ("KeepsWhatItReplaces", "TNS-2.disabled"),
        ("ForgetsMoves", "TNS-8.mixed-n"),
        ("MovesWhereItShouldSwap", "TNS-8.mixed-n"),
        ("AcceptsAnything", "TNS-1.reject"),
        ("KeepsTheSlot", "TNS-2.disabled"),
        ("TakesRowsForSlots", "TNS-8.mixed-n"),
    ],
)
def test_wrong_bookkeeping_is_caught(name: str, caught_by: str) -> None:
    report = _report(EXAMPLES + name)
    assert caught_by in {result.check for result in report.failures}


def test_the_runner_has_to_be_one_that_the_class_is_for() -> None:
    with pytest.raises(TargetError, match="RightV1 must be a subclass of vLLM's V2"):
        load(EXAMPLES + "RightV1,runner=V2")


def test_the_name_says_which_runner() -> None:
    assert load(OURS).name == "vllm:TopNSigma V2"
    assert load(OURS + ",runner=V1").name == "vllm:TopNSigma V1"
