"""Formats, shapes, bits and memory: what comes back besides the masked logits (TNS-2, 3, 6, 10)."""

from __future__ import annotations

import numpy as np
import pytest

from topnsigma_reference import Dialect, classify, top_n_sigma

QUIET_NAN, SIGNALLING_NAN = 0x7FC0_1234, 0x7F80_0001
NEGATIVE_ZERO, SMALLEST = 0x8000_0000, 0x0000_0001
NEG_INF = 0xFF80_0000


def float32_of_bits(*bits: int) -> np.ndarray:
    return np.array(bits, dtype=np.uint32).view(np.float32)


def bfloat16_bits(*values: float) -> np.ndarray:
    return (np.array(values, dtype=np.float32).view(np.uint32) >> 16).astype(np.uint16)


@pytest.mark.parametrize(
    "row",
    [
        np.array([10, 8, 6, 6, 5], np.float32),
        np.array([10, 8, 6, 6, 5], np.float16),
        bfloat16_bits(10, 8, 6, 6, 5),
    ],
    ids=["float32", "float16", "bfloat16"],
)
def test_formats_agree_on_values_that_all_of_them_hold(row: np.ndarray) -> None:
    kept = [True, True, False, False, False]
    verdict, exact = classify(row, 1), classify(np.array([10, 8, 6, 6, 5], np.float32), 1)
    assert verdict.keep.tolist() == kept
    assert verdict.codes.tolist() == exact.codes.tolist()
    assert verdict.accept == exact.accept
    assert verdict.maximum == 10.0
    result = top_n_sigma(row, 1)
    assert result.dtype == row.dtype
    assert (result == row).tolist() == kept


def test_masked_logits_are_minus_infinity_of_the_format() -> None:
    assert top_n_sigma(np.array([3, 0, 0], np.float16), 1).view(np.uint16)[1] == 0xFC00
    assert top_n_sigma(bfloat16_bits(3, 0, 0), 1)[1] == 0xFF80
    assert top_n_sigma(np.array([3, 0, 0], np.float32), 1).view(np.uint32)[1] == 0xFF80_0000


def test_every_finite_float16_keeps_its_value_in_float32() -> None:
    bits = np.arange(1 << 16, dtype=np.uint16)
    for raw in (bits[:0x7C00], bits[0x8000:0xFC00]):
        half = raw.view(np.float16)
        verdict = classify(half, 1e-300)
        assert verdict.maximum == half.astype(np.float64).max()
        assert verdict.keep.sum() == 1


def test_float16_interval_is_that_of_float32() -> None:
    row = np.array([10, 8, 6, 6, 5], np.float16)
    accept = classify(row, 1).accept
    assert accept is not None
    assert np.float16(accept.lower) == np.float16(accept.upper) == 8
    assert accept.lower < 8 < accept.upper


class bfloat16(np.void):  # type: ignore[misc]  # noqa: N801
    """Stands in for the scalar type of an extension dtype, which is known by this name."""


def test_bfloat16_extension_dtype() -> None:
    # No package that has one is among the requirements; what counts is the name and the two bytes.
    extension = np.dtype((bfloat16, [("bits", np.uint16)]))
    row = bfloat16_bits(10, 8, 6, 6, 5)
    assert classify(row.view(extension), 1).keep.tolist() == [True, True, False, False, False]
    result = top_n_sigma(np.stack([row, row]).view(extension), [1, None])
    assert result.dtype == extension
    assert result.view(np.uint16).tolist() == [
        [*row[:2].tolist(), 0xFF80, 0xFF80, 0xFF80],
        row.tolist(),
    ]


@pytest.mark.parametrize("n", [1.0, None], ids=["enabled", "disabled"])
@pytest.mark.parametrize("bits", [QUIET_NAN, SIGNALLING_NAN, SIGNALLING_NAN | 0x8000_0000, NEG_INF])
def test_rows_left_alone_keep_every_bit(bits: int, n: float | None) -> None:
    row = float32_of_bits(bits, NEGATIVE_ZERO, SMALLEST, 0x3F80_0000)
    for shaped in (row, row[np.newaxis]):
        assert top_n_sigma(shaped, n).tobytes() == row.tobytes()
    assert classify(row, n).unchanged
    assert classify(row, n).rule == ("TNS-2" if n is None else "TNS-3")


def test_signalling_nans_of_narrow_formats_keep_every_bit() -> None:
    for row in (
        np.array([0x7C01, 0x8000, 0x0001, 0x3C00], np.uint16).view(np.float16),
        np.array([0x7F81, 0x8000, 0x0001, 0x3F80], np.uint16),
    ):
        with np.errstate(all="raise"):
            assert top_n_sigma(row, 1).tobytes() == row.tobytes()
            assert classify(row, 1).rule == "TNS-3"


def test_survivors_keep_negative_zero_and_subnormals() -> None:
    row = float32_of_bits(NEGATIVE_ZERO, SMALLEST, SMALLEST | 0x8000_0000, 0xC0A0_0000)
    result = top_n_sigma(row, 1).view(np.uint32)
    assert result.tolist() == [*row.view(np.uint32)[:3].tolist(), NEG_INF]


def test_zeros_of_either_sign_are_equal_logits() -> None:
    row = np.array([4, 0.0, -0.0, -4], np.float32)
    verdict = classify(row, 1.2)
    assert verdict.keep[1] == verdict.keep[2]
    assert classify(np.array([0.0, -0.0], np.float32), 1).rule == "TNS-4"
    assert classify(np.array([-0.0, 0.0, -5], np.float32), 1e-9).codes.tolist() == [2, 2, 0]


@pytest.mark.parametrize("dtype", [np.float32, np.float16, np.uint16])
def test_input_is_not_changed_and_not_shared(dtype: type) -> None:
    values = np.array([[10, 8, 6, 6, 5], [1, 2, 3, 4, 5]], np.float32)
    rows = bfloat16_bits(*values.ravel()).reshape(2, 5) if dtype is np.uint16 else values
    rows = rows.astype(dtype)
    before = rows.tobytes()
    rows.setflags(write=False)
    for logits in (rows, rows[0]):
        result = top_n_sigma(logits, 1)
        assert not np.shares_memory(result, logits)
        assert result.flags.writeable
        assert result.shape == logits.shape
    classify(rows[0], 1)
    assert rows.tobytes() == before


def test_a_batch_is_its_rows() -> None:
    rows = np.random.default_rng(5).normal(0, 3, (6, 40)).astype(np.float32)
    rows[2, 7] = np.nan
    n = [1, 0.5, 1, None, 1.5, 2]
    result = top_n_sigma(rows, n)
    for row, each, got in zip(rows, n, result, strict=True):
        assert top_n_sigma(row, each).tobytes() == got.tobytes()


@pytest.mark.parametrize("width", [5, 100])
def test_layout_does_not_matter(width: int) -> None:
    rows = np.random.default_rng(6).normal(0, 3, (4, width)).astype(np.float32)
    expected = top_n_sigma(rows, 1)
    wide = np.full((8, 2 * width), np.nan, np.float32)
    wide[::2, ::2] = rows
    for layout in (wide[::2, ::2], np.asfortranarray(rows), rows[::-1, ::-1][::-1, ::-1]):
        assert top_n_sigma(layout, 1).tobytes() == expected.tobytes()
        assert classify(layout[1], 1).keep.tolist() == (expected[1] != -np.inf).tolist()
    halves = np.asfortranarray(rows.astype(np.float16))
    assert top_n_sigma(halves, 1).tobytes() == top_n_sigma(halves.copy("C"), 1).tobytes()


@pytest.mark.parametrize("shape", [(0,), (0, 5), (3, 0), (1, 1)])
def test_empty_and_smallest_shapes(shape: tuple[int, ...]) -> None:
    result = top_n_sigma(np.ones(shape, np.float32), 1)
    assert result.shape == shape
    assert (result == 1).all()


@pytest.mark.parametrize(
    "dtype", [np.float64, np.int32, np.uint32, np.int16, np.bool_, np.complex64, ">f4", ">u2", "V4"]
)
def test_other_dtypes_are_refused(dtype: str | type) -> None:
    row = np.zeros(3, dtype)
    for call in (classify, top_n_sigma):
        with pytest.raises(TypeError, match=r"^logits must be .*bfloat16.*got [^ ]+$"):
            call(row, 1)


@pytest.mark.parametrize("logits", [[1.0, 2.0], 3.0, None, "row"])
def test_other_types_are_refused(logits: object) -> None:
    for call in (classify, top_n_sigma):
        with pytest.raises(TypeError, match=f"numpy array of .*got {type(logits).__name__}"):
            call(logits, 1)  # type: ignore[arg-type]


def test_wrong_numbers_of_dimensions_are_refused() -> None:
    with pytest.raises(ValueError, match=r"row must have shape \[V\]; got \[2, 3\]"):
        classify(np.zeros((2, 3), np.float32), 1)
    for shape in ((), (1, 2, 3)):
        with pytest.raises(ValueError, match=r"logits must have shape \[V\] or \[B, V\]; got \["):
            top_n_sigma(np.zeros(shape, np.float32), 1)


def test_subclasses_of_ndarray_are_read_as_arrays() -> None:
    row = np.ma.masked_array(np.array([10, 8, 6, 6, 5], np.float32), mask=np.arange(5) == 0)
    result = top_n_sigma(row, 1, Dialect())
    assert type(result) is np.ndarray
    assert result.tolist() == [10, 8, -np.inf, -np.inf, -np.inf]
