"""The command line: ``topnsigma-conformance list | run | explain``."""

from __future__ import annotations

import dataclasses
import itertools
import random
import sys
from pathlib import Path

import click
from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from topnsigma_conformance.adapters import ADAPTERS
from topnsigma_conformance.case import Case
from topnsigma_conformance.check_implementation import check_implementation
from topnsigma_conformance.checks import CHECKS
from topnsigma_conformance.implementation import Implementation
from topnsigma_conformance.profiles import PROFILES
from topnsigma_conformance.report import CONFORMING, CheckResult, Report
from topnsigma_conformance.session import Session
from topnsigma_conformance.table import result_line, summary_table
from topnsigma_conformance.target import TargetError, load
from topnsigma_conformance.version import SUITE_VERSION
from topnsigma_reference import RULES, SPEC_VERSION, Dialect

_CONFORMS, _DOES_NOT, _USAGE = 0, 1, 2


def _parse_dialect(
    context: click.Context, parameter: click.Parameter, value: str | None
) -> Dialect | None:
    try:
        return None if value is None else Dialect.parse(value)
    except ValueError as error:
        raise click.BadParameter(str(error), context, parameter) from error


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(SUITE_VERSION, message=f"suite %(version)s, spec {SPEC_VERSION}")
def main() -> None:
    """Check a top-nσ sampler against the specification."""


@main.command("list")
def list_() -> None:
    """List the adapters, what they need, and the checks."""
    console = Console()
    adapters = Table(title="adapters")
    for column in ("name", "drives", "needs", "installed"):
        adapters.add_column(column, overflow="fold")
    for name, adapter in ADAPTERS.items():
        installed = "yes" if adapter.available else "no"
        adapters.add_row(name, adapter.summary, f"pip install {adapter.needs}", installed)
    checks = Table(title="checks")
    checks.add_column("check", no_wrap=True)
    checks.add_column("what")
    for check in CHECKS.values():
        checks.add_row(check.id, check.title)
    console.print(adapters, checks)


@main.command()
@click.argument("rule")
def explain(rule: str) -> None:
    """Print a rule, why it is so, and the checks that enforce it. RULE is TNS-5 or a check's id."""
    known = RULES.get(rule.split(".")[0])
    if known is None:
        raise click.UsageError(f"unknown rule {rule}; known: {', '.join(RULES)}")
    console = Console()
    console.print(f"[bold]{known.id}: {escape(known.title)}[/]\n", highlight=False)
    console.print(escape(known.statement), "\n", highlight=False)
    console.print(escape(known.rationale), "\n", highlight=False)
    for check in CHECKS.values():
        if check.rule == known.id:
            console.print(f"  {check.id:<20} {escape(check.title)}", highlight=False)


@main.command()
@click.argument("targets", nargs=-1, required=True, metavar="TARGET...")
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
    "--report", type=click.Path(dir_okay=False, path_type=Path), help="Append JSON Lines."
)
def run(
    targets: tuple[str, ...],
    profile: str,
    dialect: Dialect | None,
    device: str | None,
    seed: str | None,
    checks: tuple[str, ...],
    case_json: str | None,
    dtype: str | None,
    isolate: bool,
    report: Path | None,
) -> None:
    """Check implementations: adapters by name, or MODULE:CLASS.

    Exit status: 0 all conform, 1 one does not, 2 usage or a target that cannot be loaded.
    """
    unknown = [check for check in checks if check not in CHECKS]
    if unknown:
        raise click.UsageError(f"unknown check {', '.join(unknown)}; see 'list'")
    console = Console(soft_wrap=True)
    try:
        implementations = [(target, load(target, device)) for target in targets]
    except TargetError as error:
        raise click.UsageError(str(error)) from error
    number = _seed(seed)
    if case_json is not None:
        sys.exit(_replay(console, implementations, dialect, checks, case_json, dtype, isolate))
    plan = _Plan(profile, dialect, number, checks, isolate, report)
    if profile == "soak":
        sys.exit(_soak(console, implementations, plan))
    reports = [
        _run_one(console, target, implementation, plan)
        for target, implementation in implementations
    ]
    console.print(summary_table(reports))
    if seed == "random":
        console.print(f"seed {number}; repeat with --seed {number}", highlight=False)
    conform = all(_conforms(each, partial=bool(checks)) for each in reports)
    sys.exit(_CONFORMS if conform else _DOES_NOT)


@dataclasses.dataclass(frozen=True)
class _Plan:
    profile: str
    dialect: Dialect | None
    seed: int
    checks: tuple[str, ...]
    isolate: bool
    report: Path | None


def _run_one(console: Console, target: str, implementation: Implementation, plan: _Plan) -> Report:
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
    )
    selected = list(plan.checks) or list(CHECKS)
    dialect = plan.dialect or implementation.dialect
    both = dialect != Dialect()
    with Progress(*columns, console=console, transient=True) as progress:
        task = progress.add_task(implementation.name, total=len(selected) * (2 if both else 1))
        done = itertools.count(1)

        def advance(result: CheckResult) -> None:
            progress.advance(task)
            # Results under RFC come second; they are summed up, not listed.
            if next(done) <= len(selected):
                console.print(result_line(result), highlight=False)
                if result.failure is not None:
                    console.print(f"[red]{escape(str(result.failure))}[/]", highlight=False)
                elif result.detail:
                    console.print(f"[dim]{'':>16}{escape(result.detail)}[/]", highlight=False)
            else:
                progress.update(task, description=f"{implementation.name} under RFC")

        result = check_implementation(
            implementation,
            plan.profile,
            plan.seed,
            dialect=dialect,
            checks=selected,
            progress=advance,
            target=target,
            isolate=plan.isolate,
        )
    if result.rfc is not None and result.rfc.failing and dialect != Dialect():
        console.print(f"under RFC these fail: {', '.join(result.rfc.failing)}", highlight=False)
    if result.explained_by:
        fitting = " or ".join(result.explained_by)
        console.print(f"all failures fit the dialect {fitting}", highlight=False)
    if plan.report is not None:
        result.write(plan.report)
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
    except KeyboardInterrupt:
        console.print("stopped; every round before this one conformed")
    return _CONFORMS


def _replay(
    console: Console,
    implementations: list[tuple[str, Implementation]],
    dialect: Dialect | None,
    checks: tuple[str, ...],
    case_json: str,
    dtype: str | None,
    isolate: bool,
) -> int:
    if len(checks) != 1:
        raise click.UsageError("--case needs exactly one --check")
    try:
        case = Case.from_json(case_json)
    except ValueError as error:
        raise click.UsageError(str(error)) from error
    results = []
    for target, implementation in implementations:
        with Session(implementation, dialect=dialect, target=target, isolate=isolate) as session:
            try:
                result = session.replay(CHECKS[checks[0]], case, dtype or session.claims.dtypes[0])
            except ValueError as error:
                raise click.UsageError(str(error)) from error
        console.print(result_line(result), highlight=False)
        if result.failure is not None:
            console.print(f"[red]{escape(str(result.failure))}[/]", highlight=False)
        results.append(result)
    return _CONFORMS if all(result.status in CONFORMING for result in results) else _DOES_NOT


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
