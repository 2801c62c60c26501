"""How targets are read, and that the text alone is enough to load what they name."""

import sys
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from topnsigma_conformance import check_implementation
from topnsigma_conformance.adapters import ADAPTERS
from topnsigma_conformance.adapters.processor import Processor
from topnsigma_conformance.cli import main
from topnsigma_conformance.target import TargetError, callable_target, load, load_class, target_of

FUNCTIONS = '''
import numpy as np


def truncate(logits, n):
    """Right, in float64."""
    if any(entry is not None and (isinstance(entry, bool) or entry <= 0) for entry in n):
        raise ValueError(f"n must be > 0; got {n}")
    values = np.array([np.nan if entry is None else float(entry) for entry in n])[:, None]
    wide = logits.astype(np.float64)
    if wide.shape[1] < 2:
        return logits.copy()
    with np.errstate(all="ignore"):
        threshold = wide.max(1, keepdims=True) - values * wide.std(1, ddof=1, keepdims=True)
        return np.where(wide < threshold, np.float32(-np.inf), logits)


def truncate_in_place(logits, n):
    logits[...] = truncate(logits, n)
    return logits


def truncate_all(logits, n):
    assert n is not None
    return truncate(logits, [n] * len(logits))


def truncate_twice_as_far(logits, n):
    return truncate(logits, [entry and entry * 2 for entry in n])


NOT_CALLABLE = 1
'''

LOGITS = np.array([[0.0, 1.0, 3.0], [0.0, 1.0, 3.0]], np.float32)


@pytest.fixture(autouse=True)
def _functions(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "their_functions.py").write_text(FUNCTIONS, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path, str(tmp_path)])
    monkeypatch.delitem(sys.modules, "their_functions", raising=False)


def test_an_adapter_by_name() -> None:
    assert load_class("processor") is Processor


def test_a_function_gets_all_n() -> None:
    implementation = load("numpy:their_functions:truncate")
    assert (implementation.per_row_n, implementation.in_place) == (True, False)
    result = implementation.apply(LOGITS, [1.0, None])
    # σ² = 7/3.
    assert result.tolist() == [[-np.inf, -np.inf, 3.0], [0.0, 1.0, 3.0]]


def test_a_function_of_one_n_is_not_called_without_one() -> None:
    implementation = load("numpy:their_functions:truncate_all,n=scalar")
    assert not implementation.per_row_n
    assert implementation.apply(LOGITS, [1.0, 1.0])[1].tolist() == [-np.inf, -np.inf, 3.0]
    assert implementation.apply(LOGITS, [None, None]).tolist() == LOGITS.tolist()
    with pytest.raises(RuntimeError, match=r"one n a call; got \[1.0, 2.0\]"):
        implementation.apply(LOGITS, [1.0, 2.0])


def test_options_are_claims() -> None:
    implementation = load("numpy:their_functions:truncate_in_place,in_place=true,parameter=sigmas")
    assert implementation.in_place
    assert implementation.parameter == "sigmas"


@pytest.mark.parametrize(
    ("arrays", "in_place", "target"),
    [("numpy", False, "numpy:m:f"), ("torch", True, "torch:m:f,in_place=true")],
)
def test_the_target_of_a_function(arrays: str, in_place: bool, target: str) -> None:
    assert callable_target("m:f", arrays=arrays, in_place=in_place) == target


@pytest.mark.parametrize(
    "target",
    [
        "processor",
        "numpy:their_functions:truncate",
        "numpy:their_functions:truncate_in_place,in_place=true",
        "torch:their_functions:truncate,parameter=n,in_place=false",
    ],
)
def test_what_was_loaded_knows_its_target(target: str) -> None:
    assert target_of(load(target)) == target


@pytest.mark.parametrize("isolate", [False, True])
@pytest.mark.parametrize(
    ("function", "conforms"), [("truncate_in_place", True), ("truncate_twice_as_far", False)]
)
def test_a_target_means_the_same_in_a_process_of_its_own(
    function: str, conforms: bool, isolate: bool
) -> None:
    target = callable_target(f"their_functions:{function}", in_place=function.endswith("in_place"))
    report = check_implementation(
        load(target), checks=["TNS-5.cut", "TNS-10.in-place"], isolate=isolate
    )
    assert report.header.target == target
    assert {result.status for result in report.results} <= {"pass", "fail"}
    assert (not report.failures) == conforms


def test_a_failure_of_a_function_can_be_reproduced() -> None:
    target = "numpy:their_functions:truncate_twice_as_far"
    report = check_implementation(load(target), checks=["TNS-5.cut"])
    failure = report.failures[0].failure
    assert failure is not None
    assert failure.reproduce.startswith(f"topnsigma-conformance run {target} --check TNS-5.cut")


@pytest.mark.parametrize(
    ("target", "message"),
    [
        ("nobody", "target must be MODULE:CLASS or one of processor, llama.cpp"),
        ("their_functions:", "target must be MODULE:CLASS"),
        ("their_functions:truncate", "not a subclass of topnsigma_conformance.Implementation"),
        ("llama.cpp:their_functions:truncate", "target must be llama.cpp; got"),
        ("numpy", r"target must be numpy:MODULE:FUNCTION\[,OPTION=VALUE…\]; got 'numpy'"),
        ("numpy:", r"target must be numpy:MODULE:FUNCTION\[,OPTION=VALUE…\]"),
        ("numpy:their_functions", "path must be MODULE:NAME; got 'their_functions'"),
        ("numpy:no_such_module:truncate", "No module named 'no_such_module'"),
        ("numpy:their_functions:missing", "no attribute 'missing'"),
        ("numpy:their_functions:NOT_CALLABLE", "NOT_CALLABLE must be callable; got 1"),
        ("numpy:their_functions:truncate,in_place", "options must be OPTION=VALUE"),
        ("numpy:their_functions:truncate,n=list,n=scalar", "each OPTION once"),
        ("numpy:their_functions:truncate,n=two", "n must be one of list, scalar; got 'two'"),
        ("numpy:their_functions:truncate,parameter=", "parameter must not be empty"),
        ("numpy:their_functions:truncate,runner=V1", "option must be one of in_place, parameter,"),
    ],
)
def test_what_cannot_be_loaded_is_said(target: str, message: str) -> None:
    with pytest.raises(TargetError, match=message):
        load(target)


def test_a_device_that_an_adapter_does_not_have() -> None:
    with pytest.raises(TargetError, match="device must be one of cpu for numpy:truncate"):
        load("numpy:their_functions:truncate", "cuda")


@pytest.mark.parametrize("name", [name for name, adapter in ADAPTERS.items() if adapter.takes])
def test_an_adapter_that_takes_an_object_is_listed_with_it(name: str) -> None:
    assert name not in ("processor", "llama.cpp")
    with pytest.raises(TargetError, match=f"target must be {name}:MODULE:"):
        load(name)


def test_the_command_line_takes_such_targets() -> None:
    arguments = ["run", "numpy:their_functions:truncate", "--check", "TNS-5.cut"]
    assert CliRunner().invoke(main, arguments).exit_code == 0
