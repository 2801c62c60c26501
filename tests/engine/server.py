"""vLLM's HTTP server in a process of its own."""

import contextlib
import os
import signal
import socket
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
READY_WITHIN = 240.0


@contextlib.contextmanager
def serve(model: Path, log: Path, *options: str) -> Iterator[str]:
    """Start ``examples/server.sh`` and yield its address once it is ready.

    Raises:
        RuntimeError: it ended, or was not ready in time; with the end of its log.
    """
    port = _free_port()
    arguments = ["--host", "127.0.0.1", "--port", str(port), "--served-model-name", "tiny"]
    command = ["bash", str(ROOT / "examples" / "server.sh"), str(model), *arguments, *options]
    # The tests' own engines live in this process; the server's has one for itself, as usual.
    environment = os.environ | {"VLLM_ENABLE_V1_MULTIPROCESSING": "1"}
    with log.open("w") as output:
        server = subprocess.Popen(
            command,
            stdout=output,
            stderr=subprocess.STDOUT,
            env=environment,
            start_new_session=True,
        )
        try:
            address = f"http://127.0.0.1:{port}"
            _wait_until_healthy(address, server, log)
            yield address
        finally:
            _stop(server)


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
