"""The command line: ``topnsigma-conformance list | run | summary | explain | vectors``."""

from __future__ import annotations

import click
from rich.console import Console
from rich.table import Table

from topnsigma_conformance.adapters import ADAPTERS
from topnsigma_conformance.checks import CHECKS
from topnsigma_conformance.publish.command import summary
from topnsigma_conformance.rule_page import find_subject, page
from topnsigma_conformance.run_command import run
from topnsigma_conformance.vectors.command import vectors
from topnsigma_conformance.version import SUITE_VERSION
from topnsigma_reference import SPEC_VERSION


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(SUITE_VERSION, message=f"suite %(version)s, spec {SPEC_VERSION}")
def main() -> None:
    """Check a top-nσ sampler against the specification."""


main.add_command(run)
main.add_command(summary)
main.add_command(vectors)


@main.command("list")
def list_() -> None:
    """List the adapters, what they need, and the checks."""
    console = Console()
    adapters = Table(title="adapters")
    for column in ("name", "drives", "needs", "installed"):
        adapters.add_column(column, overflow="fold")
    for name, adapter in ADAPTERS.items():
        installed = "yes" if adapter.available else "no"
        target = f"{name}:{adapter.takes}" if adapter.takes else name
        adapters.add_row(target, adapter.summary, f"pip install {adapter.needs}", installed)
    checks = Table(title="checks")
    checks.add_column("check", no_wrap=True)
    checks.add_column("what")
    for check in CHECKS.values():
        checks.add_row(check.id, check.title)
    console.print(adapters, checks)


@main.command()
@click.argument("rule")
def explain(rule: str) -> None:
    """Print a rule, why it is so, the faults that break it, its checks, and a drawn example.

    RULE is a rule (TNS-5), a check (TNS-5.cut) or a fault (PopulationDivisor).
    """
    try:
        subject = find_subject(rule)
    except ValueError as error:
        raise click.UsageError(str(error)) from error
    console = Console(highlight=False, markup=False)
    for part in page(subject):
        console.print(part)
