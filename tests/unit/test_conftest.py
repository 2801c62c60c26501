"""What our conftest promises of every run, in a pytest of its own."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest_plugins = ["pytester"]

OURS = (Path(__file__).parents[1] / "conftest.py").read_text(encoding="utf-8")


@pytest.mark.parametrize("workers", ["0", "1"])
def test_a_failure_about_half_a_surrogate_pair_is_shown(
    inner: pytest.Pytester, workers: str
) -> None:
    inner.makeconftest(OURS)
    inner.makepyfile(
        r"""
        class Odd:
            def __repr__(self):
                return "odd \ud800"

        def test_wrong():
            value = Odd()
            assert value is None, str(value)

        def test_right():
            pass
        """
    )
    result = inner.runpytest_subprocess("-n", workers)
    result.assert_outcomes(failed=1, passed=1)
    assert result.ret == 1
    result.stdout.fnmatch_lines([r"*AssertionError: odd \ud800*"])


@pytest.mark.parametrize("workers", ["0", "1"])
def test_a_skip_that_nobody_expects_fails_the_run(inner: pytest.Pytester, workers: str) -> None:
    inner.makeconftest(OURS)
    inner.makepyfile(
        test_mine="""
        import pytest

        def test_skipped():
            pytest.skip("no reason")

        @pytest.mark.xfail(reason="known", strict=True)
        def test_known():
            assert False
        """
    )
    result = inner.runpytest_subprocess("-n", workers)
    result.assert_outcomes(skipped=1, xfailed=1)
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.stdout.fnmatch_lines(["unexpected skip: test_mine.py::test_skipped"])
    result.stdout.no_fnmatch_line("*unexpected skip: *test_known*")


@pytest.mark.parametrize("workers", ["0", "1"])
def test_a_skip_that_is_expected_does_not(inner: pytest.Pytester, workers: str) -> None:
    inner.makeconftest(OURS + '\nEXPECTED_SKIPS["test_mine.py::test_skipped"] = "known"\n')
    inner.makepyfile(
        test_mine="""
        import pytest

        def test_skipped():
            pytest.skip("no reason")
        """
    )
    result = inner.runpytest_subprocess("-n", workers)
    result.assert_outcomes(skipped=1)
    assert result.ret == 0
    result.stdout.no_fnmatch_line("unexpected skip: *")
