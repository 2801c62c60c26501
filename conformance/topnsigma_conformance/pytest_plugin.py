"""The pytest plugin: options, the ``implementation`` fixture, and one test a check.

It does nothing until ``topnsigma_conformance.suite`` is collected or imported from.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from topnsigma_conformance.checks import CHECKS
from topnsigma_conformance.implementation import Implementation
from topnsigma_conformance.printable import printable_lines
from topnsigma_conformance.profiles import PROFILES
from topnsigma_conformance.session import Session
from topnsigma_conformance.target import TargetError, load
from topnsigma_reference import Dialect


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the ``--tns-*`` options."""
    group = parser.getgroup("topnsigma-conformance")
    group.addoption("--tns-implementation", metavar="TARGET", help="adapter or MODULE:CLASS")
    group.addoption("--tns-profile", choices=[p for p in PROFILES if p != "soak"], default="quick")
    group.addoption("--tns-dialect", metavar="FIELD=VALUE,…", help="instead of its own")
    group.addoption("--tns-device", metavar="DEVICE")
    group.addoption("--tns-seed", type=int, default=0, metavar="N", help="0: derandomised")


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """One test for each check of the suite."""
    if "tns_check" in metafunc.fixturenames:
        metafunc.parametrize("tns_check", CHECKS.values(), ids=CHECKS.keys())


def pytest_report_header(config: pytest.Config) -> str | None:
    """Say which seed the suite draws with, when it is in use."""
    target = config.getoption("--tns-implementation")
    return target and f"topnsigma-conformance: {target}, seed {config.getoption('--tns-seed')}"


@pytest.fixture(scope="session")
def implementation(request: pytest.FixtureRequest) -> Implementation:
    """The implementation under test: from ``--tns-implementation``, unless overridden."""
    target = request.config.getoption("--tns-implementation")
    if not target:
        raise pytest.UsageError(
            "name the implementation with --tns-implementation MODULE:CLASS,"
            " or define an 'implementation' fixture"
        )
    try:
        return load(target, request.config.getoption("--tns-device"))
    except TargetError as error:
        raise pytest.UsageError(printable_lines(str(error))) from error


@pytest.fixture(scope="session")
def tns_session(
    request: pytest.FixtureRequest, implementation: Implementation
) -> Iterator[Session]:
    """The suite on :func:`implementation`, for the whole run."""
    option = request.config.getoption
    dialect = Dialect.parse(option("--tns-dialect")) if option("--tns-dialect") else None
    target = option("--tns-implementation") or ""
    with Session(
        implementation,
        dialect=dialect,
        profile=option("--tns-profile"),
        seed=option("--tns-seed"),
        target=target,
    ) as session:
        yield session
