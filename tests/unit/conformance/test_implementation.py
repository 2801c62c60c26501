"""What an implementer claims: defaults, and what is refused."""

from __future__ import annotations

import datetime
from typing import Any

import pytest

from topnsigma_conformance import RFC, Implementation, KnownFailure, Session
from topnsigma_conformance.implementation import Claims


class Minimal(Implementation):
    name = "minimal"

    def apply(self, logits: Any, n: Any) -> Any:
        return logits


def claiming(**claims: Any) -> Implementation:
    made: Implementation = type("Claiming", (Minimal,), claims)()
    return made


def test_the_least_that_has_to_be_said() -> None:
    claims = Claims.of(Minimal())
    assert (claims.name, claims.version, claims.dialect) == ("minimal", "unknown", RFC)
    assert (claims.arrays, claims.dtypes, claims.device) == ("numpy", ("float32",), "cpu")
    assert (claims.in_place, claims.batched, claims.per_row_n, claims.strided) == (
        False,
        True,
        True,
        True,
    )
    assert (claims.extreme, claims.parameter, claims.known_failures) == (False, "n", {})


def test_a_name_has_to_be_given() -> None:
    class Nameless(Implementation):
        def apply(self, logits: Any, n: Any) -> Any:
            return logits

    with pytest.raises(TypeError, match="name must be a string; got None"):
        Session(Nameless())


def test_apply_has_to_be_written() -> None:
    with pytest.raises(TypeError, match="apply"):
        Implementation()  # type: ignore[abstract]


@pytest.mark.parametrize(
    ("claims", "error", "message"),
    [
        ({"name": 3}, TypeError, "name must be a string; got 3"),
        ({"version": None}, TypeError, "version must be a string; got None"),
        ({"parameter": b"n"}, TypeError, "parameter must be a string; got b'n'"),
        ({"devices": (0,)}, TypeError, "device must be a string; got 0"),
        ({"dialect": "RFC"}, TypeError, "dialect must be a Dialect; got 'RFC'"),
        ({"dtypes": ()}, ValueError, "dtypes must be some of float32"),
        ({"dtypes": ("float64",)}, ValueError, "dtypes must be some of .*float64"),
        ({"arrays": "jax"}, ValueError, "arrays must be 'numpy' or 'torch'; got 'jax'"),
        (
            {"known_failures": {"TNS-5.cut": "it is known"}},
            TypeError,
            r"known_failures\['TNS-5.cut'\] must be a KnownFailure",
        ),
    ],
)
def test_claims_that_make_no_sense(
    claims: dict[str, Any], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        Session(claiming(**claims))


def test_a_waiver_of_an_unknown_check_is_refused() -> None:
    waiver = KnownFailure("wrong", "#1", "2026-01-31")
    with pytest.raises(ValueError, match=r"known_failures names unknown checks: TNS-5\.odd"):
        Session(claiming(known_failures={"TNS-5.odd": waiver, "TNS-5.cut": waiver}))


@pytest.mark.parametrize(("reason", "issue"), [("", "#1"), ("wrong", ""), ("  ", "#1")])
def test_a_waiver_needs_a_reason_and_an_issue(reason: str, issue: str) -> None:
    with pytest.raises(ValueError, match="must not be empty"):
        KnownFailure(reason, issue, "2026-01-31")


@pytest.mark.parametrize(
    ("values", "error", "message"),
    [
        (
            ("wrong", "#1", "soon"),
            ValueError,
            "expires must be a date, or one as 'YYYY-MM-DD'; got 'soon'",
        ),
        (("wrong", "#1", ""), ValueError, "KnownFailure.expires must be .*; got ''"),
        (("wrong", "#1", "2026-02-30"), ValueError, "KnownFailure.expires .* got '2026-02-30'"),
        (("wrong", "#1", None), TypeError, "KnownFailure.expires .* got None"),
        (("wrong", "#1", 2026), TypeError, "KnownFailure.expires .* got 2026"),
        (("wrong", "#1", datetime.datetime(2026, 1, 31)), TypeError, "KnownFailure.expires .* got"),
        (("wrong", 1, "2026-01-31"), TypeError, "KnownFailure.issue must be a string; got 1"),
    ],
)
def test_waivers_that_make_no_sense(
    values: tuple[Any, ...], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        KnownFailure(*values)


def test_a_waiver_has_to_expire() -> None:
    with pytest.raises(TypeError, match="expires"):
        KnownFailure("wrong", "#1")  # type: ignore[call-arg]


@pytest.mark.parametrize("expires", ["2026-01-31", datetime.date(2026, 1, 31)])
def test_a_waiver_holds_up_to_its_last_day(expires: datetime.date | str) -> None:
    waiver = KnownFailure("wrong", "#1", expires)
    assert waiver.expires == datetime.date(2026, 1, 31)
    assert not waiver.has_expired(datetime.date(2026, 1, 31))
    assert waiver.has_expired(datetime.date(2026, 2, 1))


def test_devices() -> None:
    two = type("Two", (Minimal,), {"devices": ("cpu", "cuda")})
    assert two().device == "cpu"
    assert two("cuda").device == "cuda"
    with pytest.raises(ValueError, match="device must be one of cpu, cuda for minimal; got 'tpu'"):
        two("tpu")
