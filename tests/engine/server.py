"""vLLM's HTTP server in a process of its own."""

import contextlib
import dataclasses
import os
import signal
import socket
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping
from pathlib import Path

ROOT = Path(__file__).parents[2]
READY_WITHIN = 600.0


@dataclasses.dataclass(frozen=True)
class Server:
    """A server that is ready.

    Attributes:
        address: where it listens.
        process: vLLM's own processes are in the session that was started for it.
    """

    address: str
    process: subprocess.Popen[bytes]


@contextlib.contextmanager
def serve(model: Path, log: Path, *options: str) -> Iterator[str]:
    """Start ``examples/server.sh`` and yield its address once it is ready.

    Raises:
        RuntimeError: it ended, or was not ready in time; with the end of its log.
    """
    with started(model, log, *options) as running:
        yield running.address


@contextlib.contextmanager
def started(
    model: Path, log: Path, *options: str, environment: Mapping[str, str] = os.environ
) -> Iterator[Server]:
    """As `serve`, with the process and in an environment of its own."""
    port = _free_port()
    arguments = ["--host", "127.0.0.1", "--port", str(port), "--served-model-name", "tiny"]
    command = ["bash", str(ROOT / "examples" / "server.sh"), str(model), *arguments, *options]
    with log.open("w") as output:
        process = subprocess.Popen(
            command,
            stdout=output,
            stderr=subprocess.STDOUT,
            # The tests' own engines live in this process; the server's has one for itself, as
            # usual.
            env={**environment, "VLLM_ENABLE_V1_MULTIPROCESSING": "1"},
            start_new_session=True,
        )
        try:
            address = f"http://127.0.0.1:{port}"
            _wait_until_healthy(address, process, log)
            yield Server(address, process)
        finally:
            _stop(process)


def healthy(address: str) -> bool:
    try:
        with urllib.request.urlopen(f"{address}/health", timeout=10) as answer:
            return bool(answer.status == 200)
    except OSError:
        return False


def post(address: str, path: str, body: str) -> tuple[int, str]:
    """Send ``body`` as it is, which a JSON library might refuse to write; status and answer."""
    request = urllib.request.Request(
        address + path, data=body.encode(), headers={"Content-Type": "application/json"}
    )
    try:
        with urllib.request.urlopen(request, timeout=120) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode()


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def _wait_until_healthy(address: str, server: subprocess.Popen[bytes], log: Path) -> None:
    end = time.monotonic() + READY_WITHIN
    while not healthy(address):
        if server.poll() is not None or time.monotonic() > end:
            raise RuntimeError(f"the server is not there:\n{log.read_text()[-4000:]}")
        with contextlib.suppress(subprocess.TimeoutExpired):
            server.wait(timeout=0.5)


def _stop(server: subprocess.Popen[bytes]) -> None:
    # vLLM's own processes are in the session that was started for it.
    for sent, patience in ((signal.SIGTERM, 20), (signal.SIGKILL, 20)):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(server.pid, sent)
        with contextlib.suppress(subprocess.TimeoutExpired):
            server.wait(timeout=patience)
