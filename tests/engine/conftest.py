"""A real vLLM on a CPU, with the model runner that ``--runner`` names.

The runner is a matter of environment variables that vLLM reads while it is imported, so one run of
pytest tests one of the two: ``pytest tests/engine --runner V1``, then ``--runner V2``. What takes
a minute on V2, whose kernels are interpreted here, and is tested on V1 in each run, is tested there
with ``--nightly``.
"""

import importlib.util
import os
from pathlib import Path

import pytest
from recorded_properties import recorded

HERE = Path(__file__).parent

ENVIRONMENT = {
    "HF_HUB_OFFLINE": "1",
    "VLLM_CPU_KVCACHE_SPACE": "1",
    "VLLM_ENABLE_V1_MULTIPROCESSING": "0",
    "VLLM_NO_USAGE_STATS": "1",
    "VLLM_LOGGING_LEVEL": "ERROR",
    # A minute of compiling for functions that these models do not profit from.
    "TORCH_COMPILE_DISABLE": "1",
    "VLLM_CPU_OMP_THREADS_BIND": "nobind",
    "OMP_NUM_THREADS": "1",
}


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--runner", choices=["V1", "V2"], default="V1", help="vLLM's model runner")
    parser.addoption(
        "--state-machine-runs",
        type=int,
        default=2_000,
        metavar="N",
        help="how often each state machine runs, up to 60 steps each time; nightly 100000",
    )
    parser.addoption("--nightly", action="store_true", help="also what takes long on V2")


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "runner(name): only on the model runner of that name")
    config.addinivalue_line("markers", "long_on_v2: on Model Runner V2 only with --nightly")
    os.environ.update(ENVIRONMENT)
    if config.getoption("--runner") == "V1":
        os.environ["VLLM_USE_V2_MODEL_RUNNER"] = "0"
        return
    preparation = HERE / "v2_on_cpu" / "sitecustomize.py"
    spec = importlib.util.spec_from_file_location("v2_on_cpu", preparation)
    assert spec is not None
    assert spec.loader is not None
    spec.loader.exec_module(importlib.util.module_from_spec(spec))
    # For the processes that vLLM and the tests start.
    inherited = os.environ.get("PYTHONPATH", "")
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [str(preparation.parent), inherited]))


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    # Deselected rather than skipped: a skipped test is one that ought to have run.
    runner = config.getoption("--runner")
    briefly = runner == "V2" and not config.getoption("--nightly")
    kept: list[pytest.Item] = []
    others: list[pytest.Item] = []
    for item in items:
        marker = item.get_closest_marker("runner")
        of_runner = marker is None or marker.args[0] == runner
        long = briefly and item.get_closest_marker("long_on_v2") is not None
        (kept if of_runner and not long else others).append(item)
    config.hook.pytest_deselected(items=others)
    items[:] = kept


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    for name, line in recorded(terminalreporter, ("passed", "failed")):
        if name == "state_machine":
            terminalreporter.write_line(line)


@pytest.fixture(scope="session")
def runner(request: pytest.FixtureRequest) -> str:
    name: str = request.config.getoption("--runner")
    return name


@pytest.fixture(scope="session")
def tiny_model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a random model with 512 tokens."""
    from engine import tiny_model

    return tiny_model.build(tmp_path_factory.mktemp("model") / "tiny")
