"""One torch thread for these tests: on a busy machine, threads waiting for each other take minutes.

Tests that are about the number of threads set it themselves.
"""

from collections.abc import Iterator

import pytest
import torch


@pytest.fixture(autouse=True, scope="package")
def one_thread() -> Iterator[None]:
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)
