"""``topnsigma-conformance run``: the suite on implementations, with progress and a table."""

from __future__ import annotations

import dataclasses
import itertools
import random
import sys
import threading
from pathlib import Path

import click
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from topnsigma_conformance.case import Case
from topnsigma_conformance.checks import CHECKS
from topnsigma_conformance.implementation import Implementation
from topnsigma_conformance.implementation_check import Interrupted, check_implementation
from topnsigma_conformance.line_process import DEFAULT_TIMEOUT
from topnsigma_conformance.printable import printable, printable_lines
from topnsigma_conformance.profiles import PROFILES
from topnsigma_conformance.report import CONFORMING, CheckResult, Report
from topnsigma_conformance.session import Session
from topnsigma_conformance.table import result_text, summary_table
from topnsigma_conformance.target import TargetError, callable_target, load
from topnsigma_reference import Dialect

_CONFORMS, _DOES_NOT, _USAGE = 0, 1, 2
# What a shell reports of a command that was ended by Ctrl-C.
_INTERRUPTED = 130


def _parse_dialect(
    context: click.Context, parameter: click.Parameter, value: str | None
) -> Dialect | None:
    try:
        return None if value is None else Dialect.parse(value)
    except ValueError as error:
        raise click.BadParameter(str(error), context, parameter) from error


def _parse_timeout(context: click.Context, parameter: click.Parameter, value: float) -> float:
    if not 0 < value <= threading.TIMEOUT_MAX:
        raise click.BadParameter(
            f"{value:g} is not a finite number of seconds > 0.", context, parameter
        )
    return value


@click.command()
@click.argument("targets", nargs=-1, metavar="[TARGET...]")
@click.option(
    "--exec",
    "commands",
    multiple=True,
    metavar="COMMAND",
    help="Check the harness that COMMAND starts, see PROTOCOL.md (repeatable).",
)
@click.option(
    "--callable",
    "callables",
    multiple=True,
    metavar="MODULE:FUNCTION",
    help="Check a function of logits and n (repeatable).",
)
@click.option(
    "--arrays",
    type=click.Choice(["numpy", "torch", "jax"]),
    default="numpy",
    show_default=True,
    help="With --callable: what it takes.",
)
@click.option("--in-place", is_flag=True, help="With --callable: it writes into its input.")
@click.option("--profile", type=click.Choice(list(PROFILES)), default="quick", show_default=True)
@click.option(
    "--dialect", callback=_parse_dialect, help="Check under FIELD=VALUE,… instead of its own."
)
@click.option("--device", help="Construct the implementation for this device.")
@click.option("--seed", help="A number, or 'random'; derandomised by default.")
@click.option("--check", "checks", multiple=True, help="Run only this check (repeatable).")
@click.option("--case", "case_json", help="With one --check: run it on this one case.")
@click.option("--dtype", help="With --case: of the logits.")
@click.option("--isolate", is_flag=True, help="Run the implementation in a process of its own.")
@click.option(
    "--timeout",
    type=float,
    default=DEFAULT_TIMEOUT,
    show_default=True,
    metavar="SECONDS",
    callback=_parse_timeout,
    help="For one call in a process of its own.",
)
@click.option(
    "--report",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Append JSON Lines, each as soon as it is known.",
)
def run(
    targets: tuple[str, ...],
    commands: tuple[str, ...],
    callables: tuple[str, ...],
    arrays: str,
    in_place: bool,
    profile: str,
    dialect: Dialect | None,
    device: str | None,
    seed: str | None,
    checks: tuple[str, ...],
    case_json: str | None,
    dtype: str | None,
    isolate: bool,
    timeout: float,
    report: Path | None,
) -> None:
    """Check implementations: adapters by name, MODULE:CLASS, harnesses, or functions.

    Exit status: 0 all conform, 1 one does not, 2 usage or a target that cannot be loaded, 130
    interrupted: what was found until then is in the report, which says that it is partial.
    """
    unknown = [check for check in checks if check not in CHECKS]
    if unknown:
        raise click.UsageError(f"unknown check {', '.join(unknown)}; see 'list'")
    named = [
        *targets,
        *(f"exec:{command}" for command in commands),
        *(callable_target(path, arrays=arrays, in_place=in_place) for path in callables),
    ]
    if not named:
        raise click.UsageError("name a TARGET, or give --exec or --callable; see 'list'")
    console = Console(soft_wrap=True)
    try:
        implementations = [(target, load(target, device, timeout)) for target in named]
    except TargetError as error:
        raise click.UsageError(printable_lines(str(error))) from error
    number = _seed(seed)
    if case_json is not None:
        sys.exit(
            _replay(console, implementations, dialect, checks, case_json, dtype, isolate, timeout)
        )
    if report is not None:
        _check_writable(report)
    plan = _Plan(profile, dialect, number, checks, isolate, timeout, report)
    if profile == "soak":
        sys.exit(_soak(console, implementations, plan))
    reports: list[Report] = []
    stopped = False
    try:
        for target, implementation in implementations:
            reports.append(_run_one(console, target, implementation, plan))
    except KeyboardInterrupt as stop:
        stopped = True
        reports += [stop.report] if isinstance(stop, Interrupted) else []
    console.print(summary_table(reports))
    if seed == "random":
        console.print(f"seed {number}; repeat with --seed {number}", highlight=False)
    if stopped:
        console.print("interrupted: these results are partial")
        sys.exit(_INTERRUPTED)
    conform = all(_conforms(each, partial=bool(checks)) for each in reports)
    sys.exit(_CONFORMS if conform else _DOES_NOT)


@dataclasses.dataclass(frozen=True)
class _Plan:
    profile: str
    dialect: Dialect | None
    seed: int
    checks: tuple[str, ...]
    isolate: bool
    timeout: float
    report: Path | None


def _run_one(console: Console, target: str, implementation: Implementation, plan: _Plan) -> Report:
    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
    )
    selected = list(plan.checks) or list(CHECKS)
    dialect = plan.dialect or implementation.dialect
    both = dialect != Dialect()
    name = printable(implementation.name)
    with Progress(*columns, console=console, transient=True) as progress:
        task = progress.add_task(name, total=len(selected) * (2 if both else 1))
        done = itertools.count(1)

        def advance(result: CheckResult) -> None:
            progress.advance(task)
            # Results under RFC come second; they are summed up, not listed.
            if next(done) <= len(selected):
                console.print(result_text(result))
            else:
                progress.update(task, description=f"{name} under RFC")

        result = check_implementation(
            implementation,
            plan.profile,
            plan.seed,
            dialect=dialect,
            checks=selected,
            progress=advance,
            target=target,
            isolate=plan.isolate,
            timeout=plan.timeout,
            file=plan.report,
        )
    if result.rfc is not None and result.rfc.failing and dialect != Dialect():
        console.print(f"under RFC these fail: {', '.join(result.rfc.failing)}", highlight=False)
    if result.explained_by:
        fitting = " or ".join(result.explained_by)
        console.print(f"all failures fit the dialect {fitting}", highlight=False)
    return result


def _soak(console: Console, implementations: list[tuple[str, Implementation]], plan: _Plan) -> int:
    first = plan.seed or random.SystemRandom().randrange(1, 2**31)
    try:
        for number in itertools.count(first):
            console.print(f"round with --seed {number} (stop with Ctrl-C)", highlight=False)
            for target, implementation in implementations:
                result = _run_one(
                    console, target, implementation, dataclasses.replace(plan, seed=number)
                )
                console.print(summary_table([result]))
                if not _conforms(result, partial=bool(plan.checks)):
                    return _DOES_NOT
    except KeyboardInterrupt as stop:
        console.print("stopped; every round before this one conformed")
        if isinstance(stop, Interrupted) and stop.report.failures:
            return _DOES_NOT
    return _CONFORMS


def _replay(
    console: Console,
    implementations: list[tuple[str, Implementation]],
    dialect: Dialect | None,
    checks: tuple[str, ...],
    case_json: str,
    dtype: str | None,
    isolate: bool,
    timeout: float,
) -> int:
    if len(checks) != 1:
        raise click.UsageError("--case needs exactly one --check")
    try:
        case = Case.from_json(case_json)
    except ValueError as error:
        raise click.UsageError(str(error)) from error
    results = []
    for target, implementation in implementations:
        with Session(
            implementation, dialect=dialect, target=target, isolate=isolate, timeout=timeout
        ) as session:
            try:
                result = session.replay(CHECKS[checks[0]], case, dtype or session.claims.dtypes[0])
            except ValueError as error:
                raise click.UsageError(str(error)) from error
        console.print(result_text(result))
        results.append(result)
    return _CONFORMS if all(result.status in CONFORMING for result in results) else _DOES_NOT


def _check_writable(path: Path) -> None:
    # Before the run, not when its first result is there.
    try:
        path.open("a").close()
    except OSError as error:
        raise click.UsageError(f"cannot write {path}: {error.strerror}") from error


def _conforms(report: Report, *, partial: bool) -> bool:
    return not report.failures if partial else report.conforms


def _seed(text: str | None) -> int:
    if text is None:
        return 0
    if text == "random":
        return random.SystemRandom().randrange(1, 2**31)
    try:
        return int(text)
    except ValueError:
        raise click.UsageError(f"--seed takes a number or 'random'; got {text!r}") from None
