"""The processes in which kernels are interpreted or compiled.

Triton reads TRITON_INTERPRET once, when it is imported, and these tests share their process with
others. So kernels are run elsewhere: one process for each worker of pytest.
"""

import multiprocessing
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor

import pytest
from unit.kernel import compiled, interpreted


@pytest.fixture(scope="session")
def interpreter() -> Iterator[ProcessPoolExecutor]:
    """`submit` a function of `interpreted`."""
    spawn = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(1, mp_context=spawn, initializer=interpreted.start) as executor:
        yield executor


@pytest.fixture(scope="session")
def compiler(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ProcessPoolExecutor]:
    """`submit` a function of `compiled`."""
    spawn = multiprocessing.get_context("spawn")
    cache = str(tmp_path_factory.mktemp("triton"))
    with ProcessPoolExecutor(
        1, mp_context=spawn, initializer=compiled.start, initargs=(cache,)
    ) as executor:
        yield executor
