"""Cases: what they build, and that a line of JSON builds the same."""

from __future__ import annotations

import dataclasses
import json
import math
from typing import Any

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings

from topnsigma_conformance import strategies
from topnsigma_conformance.batch import Layout
from topnsigma_conformance.case import BAD_N, Case, Row, exact_row
from topnsigma_conformance.formats import SPECIALS, decode, special_bits
from topnsigma_conformance.implementation import DTYPES
from topnsigma_conformance.placement import Place
from topnsigma_reference import RFC, Dialect, parse_n

ROWS = st.one_of(
    strategies.small_rows(4, 4),
    strategies.small_rows(4, 4, strategies.extreme_values()),
    strategies.small_rows(4, 4).flatmap(strategies.placed),
    strategies.small_rows(4, 4).flatmap(lambda row: strategies.with_specials(row, SPECIALS)),
)
LARGE_ROWS = strategies.large_rows(sizes=(97, 1024)).flatmap(strategies.placed)
N = st.one_of(
    st.none(),
    strategies.valid_n(),
    strategies.unusual_n(),
    strategies.bad_n(),
)
CASES = st.one_of(
    st.lists(st.tuples(ROWS, N), min_size=1, max_size=3),
    st.lists(st.tuples(strategies.large_rows(sizes=(97,)), N), min_size=1, max_size=2),
    LARGE_ROWS.map(lambda row: [(row, 1.0)]),
).flatmap(
    lambda drawn: st.builds(
        Case,
        rows=st.just(tuple(row for row, _ in drawn)),
        n=st.just(tuple(n for _, n in drawn)),
        layout=st.one_of(st.just(Layout()), strategies.layouts()),
        params=st.sampled_from(({}, {"order": 3}, {"copies": [[0, -1]]})),
    )
)


@settings(deadline=None, max_examples=300)
@given(CASES, st.sampled_from(DTYPES))
def test_json_builds_the_same_batch(case: Case, dtype: str) -> None:
    line = case.to_json()
    assert "\n" not in line
    read = Case.from_json(line)
    assert read.to_json() == line
    assert read == case
    one, other = case.batch(dtype, RFC), read.batch(dtype, RFC)
    np.testing.assert_array_equal(one.bits, other.bits)
    assert one.layout == other.layout
    assert [repr(entry) for entry in one.n] == [repr(entry) for entry in other.n]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "null",
        "[]",
        "3",
        "{}",
        '{"rows":[]}',
        '{"rows":[],"n":[]}',
        '{"rows":[{"values":[1,2]}],"n":[]}',
        '{"rows":[{"values":[1,2]},{"values":[1]}],"n":[1,1]}',
        '{"rows":[{"values":["x"]}],"n":[1]}',
        '{"rows":[{"values":[1]}],"n":[1],"layout":{"odd":1}}',
        '{"rows":[{"values":[1],"places":[{"at":1}]}],"n":[1]}',
        '{"rows":[3],"n":[1]}',
        '{"rows":{"values":[1]},"n":[1]}',
        '{"rows":[{"values":[1]}],"n":[1],"layout":[]}',
        '{"rows":[{"values":[1]}]',
        '{"rows":[{"hex":"3f8"}],"n":[1]}',
        '{"rows":[{"hex":3}],"n":[1]}',
        '{"rows":[{"hex":"3f800000"},{"hex":"3f80000040000000"}],"n":[1,1]}',
        '{"rows":[{"hex":"3f800000","size":"1"}],"n":[1]}',
    ],
)
def test_what_is_no_case_is_a_value_error(text: str) -> None:
    with pytest.raises(ValueError, match="not a case"):
        Case.from_json(text)


@pytest.mark.parametrize("name", BAD_N)
def test_bad_n_is_outside_of_the_domain_and_travels_by_name(name: str) -> None:
    with pytest.raises(ValueError, match="n must be"):
        parse_n(BAD_N[name])
    case = Case.from_json(Case(rows=(Row(values=(1.0,)),), n=(name,)).to_json())
    assert case.batch("float32", RFC).n[0] is BAD_N[name]


def test_edits_specials_and_places_come_in_this_order() -> None:
    row = Row(
        family="flat",
        size=97,
        seed=1,
        edits=((0, 5.0), (1, 6.0)),
        specials=((1, "-0.0"),),
        places=(Place(0, "cut"),),
    )
    bits = row.bits("float32", 1.0, RFC)
    values = decode(bits, "float32")
    assert bits[1] == special_bits("float32", "-0.0")
    assert values[0] != 5.0
    assert row.floats()[0] == 5.0
    plain = Row(family="flat", size=97, seed=1).floats()
    np.testing.assert_array_equal(values[2:], plain[2:])


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", SPECIALS)
def test_placing_keeps_the_bits_of_tokens_that_do_not_move(dtype: str, name: str) -> None:
    row = Row(values=(1.0, 2.0, 3.0, 9.0), specials=((1, name),), places=(Place(0, "cut"),))
    assert row.bits(dtype, 1.0, RFC)[1] == special_bits(dtype, name)


def test_a_row_knows_its_length() -> None:
    assert len(Row(values=(1.0, 2.0))) == 2
    assert len(Row(family="flat", size=97)) == 97

    assert len(Row(hex="3f80000040000000")) == 2
    assert len(Row(hex="3f80000040000000", size=4)) == 4
    assert len(Row(hex="3f80000040000000", size=2)) == 2


@pytest.mark.parametrize("dtype", DTYPES)
def test_exact_row_holds_exactly_the_bits(dtype: str) -> None:
    specials = tuple(enumerate(SPECIALS, 1))
    row = Row(values=(0.1, *([0.0] * len(specials)), -3.5, 1e-8), specials=specials)
    bits = row.bits(dtype, None, RFC)
    np.testing.assert_array_equal(exact_row(bits, dtype).bits(dtype, None, RFC), bits)


def test_hex_is_one_pattern_after_the_other() -> None:
    np.testing.assert_array_equal(Row(hex="3F80000040000000").floats(), [1.0, 2.0])
    narrow = Row(hex="3c004000", size=2)
    np.testing.assert_array_equal(decode(narrow.bits("float16", None, RFC), "float16"), [1, 2])
    narrow = Row(hex="3f804000", size=2)
    np.testing.assert_array_equal(decode(narrow.bits("bfloat16", None, RFC), "bfloat16"), [1, 2])


@settings(deadline=None, max_examples=200)
@given(CASES, st.sampled_from(DTYPES), st.sampled_from((RFC, Dialect(sigma="population"))))
def test_an_exact_case_builds_the_same_batch_under_every_dialect(
    case: Case, dtype: str, dialect: Dialect
) -> None:
    exact = case.exact(dtype, dialect)
    assert Case.from_json(exact.to_json()) == exact
    assert exact.exact(dtype, RFC) == exact
    assert (exact.n, exact.layout, exact.params) == (case.n, case.layout, case.params)
    assert all(row == Row(hex=row.hex, size=row.size) for row in exact.rows)
    bits = case.batch(dtype, dialect).bits
    for other in (dialect, RFC, Dialect(neg_inf="exclude", boundary="drop")):
        np.testing.assert_array_equal(exact.batch(dtype, other).bits, bits)


@pytest.mark.parametrize("dtype", DTYPES)
def test_edits_specials_and_places_come_on_top_of_hex(dtype: str) -> None:
    values = (0.1, 2.0, 3.0, 4.0, 9.0)
    exact = exact_row(Row(values=values).bits(dtype, None, RFC), dtype)
    extras: dict[str, Any] = {
        "edits": ((1, 6.0), (2, 7.0)),
        "specials": ((2, "-0.0"),),
        "places": (Place(0, "cut", -1),),
    }
    row = dataclasses.replace(exact, **extras)
    plain = Row(values=values, **extras)
    bits = row.bits(dtype, 1.0, RFC)
    np.testing.assert_array_equal(bits, plain.bits(dtype, 1.0, RFC))
    assert decode(bits, dtype)[1] == 6.0
    assert bits[2] == special_bits(dtype, "-0.0")
    assert bits[0] != exact.bits(dtype, 1.0, RFC)[0]


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"hex": "3f8"}, "8 hexadecimal digits a token"),
        ({"hex": "3f800000 "}, "got '3f800000 '"),
        ({"hex": "3f80000g"}, "got '3f80000g'"),
        ({"hex": "+f800000"}, "got '.f800000'"),
        ({"hex": "3f80"}, "got '3f80', size 0"),
        ({"hex": "3f80", "size": 3}, "got '3f80', size 3"),
        ({"hex": "3f800000", "size": -1}, "size -1"),
        ({"hex": "3f800000", "values": (1.0,)}, "one of values, family and hex"),
        ({"hex": "3f800000", "family": "flat", "size": 1}, "one of values, family and hex"),
    ],
)
def test_what_is_no_hex_is_a_value_error(fields: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Row(**fields)


def test_hex_of_another_width_is_a_value_error() -> None:
    with pytest.raises(ValueError, match="hex must hold 4 digits a token in float16; got 8"):
        Row(hex="3f800000").bits("float16", None, RFC)
    with pytest.raises(ValueError, match="hex must hold 8 digits a token in float32; got 4"):
        Row(hex="3f800000", size=2).floats()


def test_json_is_short_and_readable() -> None:
    case = Case(rows=(Row(values=(1.0, -0.0)),), n=(None,))
    assert json.loads(case.to_json()) == {"rows": [{"values": [1.0, -0.0]}], "n": [None]}
    assert math.copysign(1, Case.from_json(case.to_json()).rows[0].values[1]) == -1
