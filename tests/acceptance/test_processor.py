"""The acceptance gate: every check of the suite on our processor."""

import pytest

from topnsigma_conformance import Implementation
from topnsigma_conformance.suite import *  # noqa: F403
from topnsigma_conformance.target import load


@pytest.fixture(scope="session")
def implementation() -> Implementation:
    return load("processor")
