"""What an implementer claims: defaults, and what is refused."""

from __future__ import annotations

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


def test_apply_has_to_be_written() -> None:
    with pytest.raises(TypeError, match="apply"):
        Implementation()  # type: ignore[abstract]


@pytest.mark.parametrize(
    ("claims", "error", "message"),
    [
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
    waiver = KnownFailure("wrong", "#1")
    with pytest.raises(ValueError, match=r"known_failures names unknown checks: TNS-5\.odd"):
        Session(claiming(known_failures={"TNS-5.odd": waiver, "TNS-5.cut": waiver}))


@pytest.mark.parametrize(("reason", "issue"), [("", "#1"), ("wrong", ""), ("  ", "#1")])
def test_a_waiver_needs_a_reason_and_an_issue(reason: str, issue: str) -> None:
    with pytest.raises(ValueError, match="must not be empty"):
        KnownFailure(reason, issue)


def test_devices() -> None:
    two = type("Two", (Minimal,), {"devices": ("cpu", "cuda")})
    assert two().device == "cpu"
    assert two("cuda").device == "cuda"
    with pytest.raises(ValueError, match="device must be one of cpu, cuda for minimal; got 'tpu'"):
        two("tpu")
