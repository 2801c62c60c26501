"""The page that tells the suite's verdicts to those whom they concern: ``docs/peers.md``."""

from __future__ import annotations

import platform
import textwrap
from collections.abc import Iterable, Iterator, Mapping, Sequence

import hypothesis
import numpy as np
from peers.outside_domain import ROW, shown, wanted
from peers.remarks import ABOUT, About

from topnsigma_conformance import SUITE_VERSION, Report
from topnsigma_conformance.adapters import ADAPTERS
from topnsigma_conformance.case import BAD_N, Case, Row
from topnsigma_conformance.checks import CHECKS
from topnsigma_conformance.formats import Bits, decode
from topnsigma_conformance.publish.markdown import block, inline, matrix
from topnsigma_conformance.report import CheckResult, Failure
from topnsigma_reference import RFC, SPEC_VERSION, Dialect

Outside = Mapping[str, Mapping[str, str]]
"""Target to name of ``BAD_N`` to what came of it."""

SHORT = 16
"""Tokens of a row that is shown whole."""

WIDTH = 100
"""Characters in a line of prose."""


def page(
    reports: Sequence[Report],
    outside: Outside,
    versions: Mapping[str, str],
    about: Mapping[str, About] = ABOUT,
) -> str:
    """Markdown of the whole page.

    Args:
        reports: in any order; those on targets that ``about`` does not know are of examples.
        outside: on those that it knows.
        versions: of the packages in the environment that the reports come from.
        about: what a person has to say, in the order of the page.

    Raises:
        KeyError: no report on a target that ``about`` knows.
        ValueError: a failure without a remark, or a remark without a failure.
    """
    of = {report.header.target: report for report in reports}
    judged = [of[target] for target in about]
    for report in judged:
        _require_remarks(report, about[report.header.target])
    parts = [
        "# The suite's verdicts on implementations that run on a CPU",
        *_preface(reports),
        "## Verdicts",
        matrix(judged),
        _prose(_LEGEND),
        "## An n outside of the domain",
        _outside_table(outside, about),
    ]
    for report in judged:
        parts += _section(report, about[report.header.target])
    parts += [
        "## Adapters for what you bring",
        *_examples([of[target] for target in sorted(set(of) - set(about))]),
    ]
    parts += ["## Versions", _versions(versions)]
    return "\n\n".join(parts) + "\n"


def _preface(reports: Sequence[Report]) -> Iterator[str]:
    day = max(report.header.started for report in reports).partition("T")[0]
    yield _prose(
        f"Written by `tox -e peers` on {day}: suite {SUITE_VERSION}, spec {SPEC_VERSION},"
        f" Hypothesis {hypothesis.__version__}, numpy {np.__version__}, Python"
        f" {platform.python_version()}, {platform.system()} {platform.machine()}. All runs are in"
        " profile `quick`, derandomised, on a CPU. Versions are at the end."
    )
    yield _prose(
        "This page is for the maintainers of these engines, and for those who choose among them."
        " Each is checked under its own [dialect](../reference/SPEC.md#5-dialects): what its"
        " authors have chosen (the divisor of σ, what n = 0 means) is no fault. What fails below"
        " fails under that dialect. *Meets RFC* is another question: whether it can be exchanged"
        " for one that follows the proposal for vLLM. The verdicts are pinned by"
        " `tests/peers/test_verdicts.py`, and every failure is worked out once by hand in"
        " `tests/peers/test_by_hand.py`. If"
        " something here is wrong or has been mended, we would like to know. What others do, which"
        " could not be run here, is in the surveys of the [specification](../reference/SPEC.md)."
    )


_LEGEND = (
    "✓ passes; ✓ (warning) passes with a quality warning; – does not apply to what it claims, or to"
    " its dialect; ✗ fails, with the names of the checks. `topnsigma-conformance explain RULE` says"
    " what a rule asks for."
)


def _prose(text: str) -> str:
    return textwrap.fill(text, WIDTH, break_long_words=False, break_on_hyphens=False)


def _outside_table(outside: Outside, about: Mapping[str, About]) -> str:
    refusing = [target for target in outside if set(outside[target].values()) == {wanted("reject")}]
    targets = [target for target in about if target in outside and target not in refusing]
    values = ", ".join(f"{value:g}" for value in ROW.values)
    lines = [
        _prose(
            f"What comes of the row {values} when n is not a finite number > 0. At n = 1, two of"
            " the four stay. An empty cell: the value cannot reach a sampler whose n is of a"
            " numeric type, and is not tried."
        ),
        "",
        f"| n | {' | '.join(inline(about[target].title) for target in targets)} |",
        "|---" * (len(targets) + 1) + "|",
    ]
    for name in BAD_N:
        cells = [outside[target].get(name, "") for target in targets]
        if any(cells):
            lines.append(f"| {inline(shown(name))} | {' | '.join(cells)} |")
    if refusing:
        lines += ["", "All of them are refused by:", ""]
        lines += [f"- {about[target].title}" for target in about if target in refusing]
    return "\n".join(lines)


def _require_remarks(report: Report, about: About) -> None:
    failing = {result.check for result in report.failures}
    if failing != set(about.remarks):
        raise ValueError(
            f"{report.header.target} fails {', '.join(sorted(failing)) or 'nothing'}; there are"
            f" remarks on {', '.join(sorted(about.remarks)) or 'nothing'}"
        )


def _section(report: Report, about: About) -> Iterator[str]:
    header = report.header
    yield f"## {inline(about.title)}"
    yield _prose(
        f"{inline(header.version)}, dialect {inline(header.dialect)}."
        f" **{'Conforms' if report.conforms else 'Does not conform'}.**"
    )
    yield _prose(f"*What is run.* {about.driven}")
    if about.dialect:
        yield _prose(f"*Dialect.* {about.dialect}")
    yield _prose(f"*RFC.* {_rfc(report)}")
    for result in report.results:
        if result.status == "quality-warning":
            yield _prose(f"*Quality warning.* {inline(result.check)}: {inline(result.detail)}")
    for result in report.failures:
        yield from _failure(result, about)


def _rfc(report: Report) -> str:
    if report.rfc is None:
        return "Not asked."
    if report.rfc.conforms:
        return "It meets RFC."
    own = {result.check for result in report.failures}
    departs = [check for check in report.rfc.failing if check not in own]
    text = "It does not meet RFC"
    if departs:
        text += f": its dialect is another one, which shows in {', '.join(departs)}"
    both = [check for check in report.rfc.failing if check in own]
    if both:
        text += f"{'; and' if departs else ':'} what fails below fails there too"
    return text + "."


def _failure(result: CheckResult, about: About) -> Iterator[str]:
    remark, failure = about.remarks[result.check], result.failure
    assert failure is not None
    yield f"### {inline(about.title)}: {inline(result.check)}"
    title = CHECKS[result.check].title
    yield f"{title[0].upper()}{title[1:]}: {result.status}. This is {remark.kind}."
    yield _prose(f"*Expected.* {remark.expected}")
    yield _prose(f"*Came back.* {remark.seen}")
    yield "*Smallest counterexample found.*"
    yield _counterexample(failure)
    yield block(str(failure))
    yield _prose(f"*By hand.* {remark.by_hand}")
    yield _prose(f"*Where.* {', '.join(map(str, remark.places))}.")
    yield _prose(f"*A fix.* {remark.fix}")
    yield _prose(f"*Who is concerned.* {remark.concerns}")


def _counterexample(failure: Failure) -> str:
    """Rows of up to :data:`SHORT` tokens whole; of longer ones the token concerned."""
    case = Case.from_json(failure.case)
    batch = case.batch(failure.dtype, Dialect.parse(failure.dialect))
    lines = ["| row | n | logits | as bits | came back |", "|---|---|---|---|---|"]
    for index, (bits, n) in enumerate(zip(batch.bits, batch.n, strict=True)):
        came_back = _came_back(failure) if index == failure.row else {}
        if bits.size <= SHORT:
            cells = [_decimals(bits, failure.dtype), _hex(bits), ", ".join(came_back.values())]
        elif index == failure.row and failure.token is not None:
            said = f"{_in_words(case, index)}; token {failure.token} is {failure.logit!r}"
            cells = [said, f"{failure.logit_bits}", came_back.get(failure.token, "")]
        else:
            cells = [_in_words(case, index), "", ""]
        lines.append(f"| {index} | {inline(repr(n))} | {' | '.join(cells)} |")
    return "\n".join(lines)


def _came_back(failure: Failure) -> dict[int, str]:
    """Token to what became of it, for those that the report shows."""
    shown_row = failure.shown
    if shown_row is None:
        return {}
    row = Row(hex=shown_row.after, size=len(shown_row.tokens))
    values = decode(row.bits(failure.dtype, None, RFC), failure.dtype)
    return dict(zip(shown_row.tokens, map(str, values), strict=True))


def _in_words(case: Case, index: int) -> str:
    row = case.rows[index]
    family = f" of the family {row.family}, seed {row.seed}" if row.family else ""
    return f"{len(row):,} tokens{family}"


def _decimals(bits: Bits, dtype: str) -> str:
    return ", ".join(str(value) for value in decode(bits, dtype))


def _hex(bits: Bits) -> str:
    return ", ".join(f"{value:0{2 * bits.itemsize}x}" for value in bits.tolist())


def _examples(reports: Sequence[Report]) -> Iterator[str]:
    yield _prose(
        "SGLang, transformers, numpy, PyTorch and jax carry no top-nσ in these versions, so there"
        " is no verdict on them. Their adapters drive what somebody brings. That they tell right"
        " from wrong is shown on examples of ours, in `tests/peers`:"
    )
    lines = ["| example of ours | conforms | checks that fail |", "|---|---|---|"]
    for report in reports:
        failing = ", ".join(inline(result.check) for result in report.failures)
        verdict = "yes" if report.conforms else "no, as it should be"
        lines.append(f"| `{report.header.target}` | {verdict} | {failing} |")
    yield "\n".join(lines)
    yield "To run your own, beside the peer's package:"
    commands: Iterable[str] = (
        f"topnsigma-conformance run {name}:{adapter.takes}"
        for name, adapter in ADAPTERS.items()
        if adapter.takes
    )
    yield "```sh\n" + "\n".join(commands) + "\n```"
    yield _prose(
        "[conformance/README.md](../conformance/README.md#adapters) has their options, and how to"
        " declare a dialect."
    )


def _versions(versions: Mapping[str, str]) -> str:
    lines = ["| package | version |", "|---|---|"]
    lines += [f"| {name} | {versions[name]} |" for name in sorted(versions)]
    return "\n".join(lines)
