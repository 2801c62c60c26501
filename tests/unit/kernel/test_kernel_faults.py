"""The compiler, its cache or the driver fail: a masker takes PyTorch, or says what it was."""

import subprocess
import sys
from concurrent.futures import ProcessPoolExecutor

import pytest
import torch
from unit.kernel import failing_compiler
from unit.kernel.masked_rows import sample

from topnsigma_processor import top_n_sigma_

LOGITS = torch.stack([sample(300), sample(300, 1) * 5, sample(300, 2) + 40])

RAISED = {
    "cache that can't be made": "NotADirectoryError: ",
    "full disk": "OSError: [Errno 27] File too large",
    "failing assembler": "PTXASError: ",
    "failing launch": "RuntimeError: Triton Error [CUDA]: out of resources",
}


@pytest.mark.parametrize("fault", RAISED)
def test_a_masker_takes_pytorch_and_says_why(compiler: ProcessPoolExecutor, fault: str) -> None:
    found = compiler.submit(
        failing_compiler.of_a_masker, fault, "auto", LOGITS.clone(), 1.0
    ).result()
    assert found.error == ""
    assert found.grids == []
    assert torch.equal(found.logits, top_n_sigma_(LOGITS.clone(), 1.0, path="torch"))
    (message,) = found.logged
    assert "PyTorch's operations" in message
    assert RAISED[fault] in message


@pytest.mark.parametrize("fault", RAISED)
def test_a_masker_that_was_asked_for_the_kernels_raises(
    compiler: ProcessPoolExecutor, fault: str
) -> None:
    found = compiler.submit(
        failing_compiler.of_a_masker, fault, "triton", LOGITS.clone(), 1.0
    ).result()
    assert found.error.startswith(RAISED[fault])
    assert found.logged == []
    assert torch.equal(found.logits, LOGITS)


@pytest.mark.parametrize("fault", RAISED)
def test_the_operation_raises_and_has_masked_nothing(
    compiler: ProcessPoolExecutor, fault: str
) -> None:
    found = compiler.submit(failing_compiler.of_the_operation, fault, LOGITS.clone(), 1.0).result()
    assert found.error.startswith(RAISED[fault])
    assert found.grids == []
    assert torch.equal(found.logits, LOGITS)


@pytest.mark.parametrize("fails_at", [0, 1])
def test_a_launch_that_fails_later_is_raised_and_nothing_is_launched_after_it(
    compiler: ProcessPoolExecutor, fails_at: int
) -> None:
    failed, next_call = compiler.submit(
        failing_compiler.of_a_later_launch, fails_at, LOGITS.clone()
    ).result()
    assert failed.error == "RuntimeError: Triton Error [CUDA]: invalid argument"
    assert len(failed.grids) == fails_at
    assert next_call.error == ""
    assert next_call.grids == [3, 3]


WITHOUT_TRITON = """
import logging, sys
{preparation}
import torch
from topnsigma_processor import top_n_sigma_
from topnsigma_processor.path_choice import uses_triton
from topnsigma_processor.row_masker import RowMasker

logging.basicConfig(format="%(name)s %(levelname)s %(message)s", stream=sys.stdout)
for _ in range(2):
    print(uses_triton("auto", torch.float32, 100, torch.device("cuda")))
for call in (
    lambda: uses_triton("triton", torch.float32, 100, torch.device("cuda")),
    lambda: top_n_sigma_(torch.zeros(1, 4), 1.0, path="triton"),
    lambda: RowMasker(4, 1, torch.device("cpu"), path="triton"),
):
    try:
        print(call())
    except ValueError as error:
        print(error)
print(top_n_sigma_(torch.tensor([3.0, 2.0, 1.0, 0.0]), 1.0).tolist())
"""

PREPARATIONS = {
    "missing": ('sys.modules["triton"] = None', "triton is not installed"),
    "broken": ("sys.path.insert(0, {folder!r})", "triton can't be imported: OSError: no libtriton"),
    "of another version": (
        "sys.path.insert(0, {folder!r})",
        "triton can't be imported: AttributeError: module 'triton' has no attribute 'jit'",
    ),
}


@pytest.mark.parametrize("state", PREPARATIONS)
def test_without_a_triton_that_works_pytorch_is_taken_on_a_gpu_too(
    tmp_path_factory: pytest.TempPathFactory, state: str
) -> None:
    folder = tmp_path_factory.mktemp("packages")
    (folder / "triton").mkdir()
    content = 'raise OSError("no libtriton")' if state == "broken" else ""
    (folder / "triton" / "__init__.py").write_text(content)
    (folder / "triton" / "language.py").touch()
    preparation, reason = PREPARATIONS[state]
    code = WITHOUT_TRITON.format(preparation=preparation.format(folder=str(folder)))
    lines = _printed(code)
    assert lines[0].startswith("topnsigma_processor WARNING top-nσ uses PyTorch's operations")
    assert lines[0].endswith(f"because {reason}")
    assert lines[1:3] == ["False", "False"]
    assert lines[3:6] == [f"path 'triton' can't be taken: {reason}"] * 3
    assert lines[6:] == ["[3.0, 2.0, -inf, -inf]"]


WITHOUT_CUDA = """
import sys
import torch

def refuse(*arguments):
    raise AssertionError("CUDA was asked for")

torch.cuda._lazy_init = torch.cuda.current_device = torch.cuda.current_stream = refuse
torch.cuda.is_available = torch.cuda.device_count = refuse
from topnsigma_processor import top_n_sigma_
from topnsigma_processor.row_masker import RowMasker

cpu = torch.device("cpu")
print(top_n_sigma_(torch.tensor([3.0, 2.0, 1.0, 0.0]), 1.0).tolist())
logits = torch.tensor([[3.0, 2.0, 1.0, 0.0]])
RowMasker(4, 1, cpu).mask_(logits, torch.ones(1, dtype=torch.float64), torch.zeros(1) > 0)
print(logits.tolist())
print("triton" in sys.modules)
"""


def test_on_a_cpu_neither_cuda_nor_triton_is_asked_for() -> None:
    assert _printed(WITHOUT_CUDA) == [
        "[3.0, 2.0, -inf, -inf]",
        "[[3.0, 2.0, -inf, -inf]]",
        "False",
    ]


def _printed(code: str) -> list[str]:
    finished = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False
    )
    assert finished.returncode == 0, finished.stderr
    return finished.stdout.splitlines()
