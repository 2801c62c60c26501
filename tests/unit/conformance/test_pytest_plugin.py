"""The suite as pytest tests, in a pytest of its own."""

from __future__ import annotations

import pytest

from topnsigma_conformance.checks import CHECKS

pytest_plugins = ["pytester"]

FEW = ("-k", "TNS-1.reject or TNS-4.divisor or TNS-4.one-token")
MODULE = """
import pytest
from gallery.{module} import {name}
from topnsigma_conformance.suite import *

@pytest.fixture(scope="session")
def implementation():
    return {name}()
"""


def by_name(target: str) -> tuple[str, ...]:
    return ("--pyargs", "topnsigma_conformance.suite", "--tns-implementation", target)


def by_fixture(inner: pytest.Pytester, module: str, name: str) -> None:
    inner.makepyfile(test_mine=MODULE.format(module=module, name=name))


def test_a_right_implementation_by_name(inner: pytest.Pytester) -> None:
    result = inner.runpytest_subprocess(*by_name("gallery.right:TwoPassFloat32"), *FEW)
    result.assert_outcomes(passed=3, deselected=len(CHECKS) - 3)
    assert result.ret == 0
    result.stdout.fnmatch_lines(
        ["topnsigma-conformance: gallery.right:TwoPassFloat32, seed 0", "*3 passed*"]
    )


def test_a_wrong_implementation_by_name(inner: pytest.Pytester) -> None:
    result = inner.runpytest_subprocess(*by_name("gallery.wrong:PopulationDivisor"), *FEW)
    result.assert_outcomes(passed=2, failed=1, deselected=len(CHECKS) - 3)
    assert result.ret == 1
    result.stdout.fnmatch_lines(
        [
            "*TNS-4: expected kept: above the acceptance interval*",
            "*reproduce: topnsigma-conformance run gallery.wrong:PopulationDivisor*--case*",
        ]
    )


def test_a_fixture_of_ones_own(inner: pytest.Pytester) -> None:
    by_fixture(inner, "right", "TwoPassFloat32")
    inner.runpytest_subprocess(*FEW).assert_outcomes(passed=3, deselected=len(CHECKS) - 3)


def test_a_wrong_implementation_by_fixture(inner: pytest.Pytester) -> None:
    by_fixture(inner, "wrong", "PopulationDivisor")
    result = inner.runpytest_subprocess(*FEW)
    result.assert_outcomes(passed=2, failed=1, deselected=len(CHECKS) - 3)
    result.stdout.fnmatch_lines(["*reproduce: *run gallery.wrong_deviations:PopulationDivisor *"])


def test_in_parallel_and_in_random_order(inner: pytest.Pytester) -> None:
    by_fixture(inner, "wrong", "PopulationDivisor")
    failures = []
    for options in (("-n", "2", "-p", "no:randomly"), ("--randomly-seed=5",)):
        result = inner.runpytest_subprocess(*FEW, *options)
        result.assert_outcomes(
            passed=2, failed=1, deselected=0 if "-n" in options else len(CHECKS) - 3
        )
        failures.append([line for line in result.outlines if "reproduce:" in line])
    # Draws hang on the seed of the suite alone.
    assert failures[0] == failures[1] != []


def test_there_is_one_test_for_each_check(inner: pytest.Pytester) -> None:
    result = inner.runpytest_subprocess(
        *by_name("gallery.right:TwoPassFloat32"), "--collect-only", "-q", "-p", "no:randomly"
    )
    collected = [line.split("[")[1].rstrip("]") for line in result.outlines if "::" in line]
    assert collected == list(CHECKS)


def test_unsupported_and_waived_are_skipped_with_the_reason(inner: pytest.Pytester) -> None:
    inner.makepyfile(
        test_mine="""
import pytest
from gallery.wrong import PopulationDivisor
from topnsigma_conformance import KnownFailure
from topnsigma_conformance.suite import *

class Waived(PopulationDivisor):
    batched = False
    known_failures = {"TNS-4.divisor": KnownFailure("divides by V", "#7", "9999-12-31")}

@pytest.fixture(scope="session")
def implementation():
    return Waived()
"""
    )
    result = inner.runpytest_subprocess("-rs", "-k", "TNS-4.divisor or TNS-8.batch")
    result.assert_outcomes(skipped=2, deselected=len(CHECKS) - 2)
    result.stdout.fnmatch_lines_random(
        ["*waived: divides by V (#7), until 9999-12-31", "*unsupported: takes one row at a time"]
    )


def test_a_waiver_that_has_expired_is_named_beside_the_failure(inner: pytest.Pytester) -> None:
    inner.makepyfile(
        test_mine="""
import pytest
from gallery.wrong import PopulationDivisor
from topnsigma_conformance import KnownFailure
from topnsigma_conformance.suite import *

class Waived(PopulationDivisor):
    known_failures = {"TNS-4.divisor": KnownFailure("divides by V", "#7", "2020-12-31")}

@pytest.fixture(scope="session")
def implementation():
    return Waived()
"""
    )
    result = inner.runpytest_subprocess("-k", "TNS-4.divisor")
    result.assert_outcomes(failed=1, deselected=len(CHECKS) - 1)
    result.stdout.fnmatch_lines(
        ["*waiver expired on 2020-12-31: divides by V (#7)*", "*TNS-4: expected kept*"]
    )


def test_without_an_implementation_it_says_what_to_do(inner: pytest.Pytester) -> None:
    result = inner.runpytest_subprocess("--pyargs", "topnsigma_conformance.suite", *FEW)
    assert result.ret != 0
    result.stdout.fnmatch_lines(
        ["*name the implementation with --tns-implementation MODULE:CLASS*"]
    )
    assert result.parseoutcomes().get("passed", 0) == 0


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--tns-implementation", "gallery.right:Odd"), "cannot load gallery.right:Odd"),
        (("--tns-profile", "odd"), "invalid choice: 'odd'"),
        (("--tns-seed", "odd"), "invalid int value: 'odd'"),
    ],
)
def test_options_that_make_no_sense(
    inner: pytest.Pytester, options: tuple[str, ...], message: str
) -> None:
    result = inner.runpytest_subprocess(*by_name("gallery.right:TwoPassFloat32"), *FEW, *options)
    assert result.ret != 0
    assert "passed" not in result.stdout.str()
    assert message in result.stdout.str() + result.stderr.str()


def test_options_reach_the_suite(inner: pytest.Pytester) -> None:
    inner.makepyfile(
        """
def test_session(tns_session, implementation):
    assert tns_session.claims.name == implementation.name == "PopulationDivisor"
    assert (tns_session.seed, tns_session.profile.name) == (9, "full")
    assert str(tns_session.dialect) == "sigma=population"
"""
    )
    result = inner.runpytest_subprocess(
        "--tns-implementation=gallery.wrong:PopulationDivisor",
        "--tns-dialect=sigma=population",
        "--tns-seed=9",
        "--tns-profile=full",
    )
    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(["*seed 9"])


def test_the_plugin_leaves_other_tests_alone(inner: pytest.Pytester) -> None:
    inner.makepyfile("def test_nothing(): pass")
    result = inner.runpytest_subprocess()
    result.assert_outcomes(passed=1)
    assert "topnsigma-conformance:" not in result.stdout.str()
