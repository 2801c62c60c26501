"""The command line: ``topnsigma-conformance vectors export | check``."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from topnsigma_conformance.printable import printable
from topnsigma_conformance.vectors.check import problems
from topnsigma_conformance.vectors.export import export, exported_names

_RIGHT, _WRONG = 0, 1
_SHOWN = 50


@click.group()
def vectors() -> None:
    """Frozen test vectors, for implementers who cannot run Python."""


@vectors.command("export")
@click.argument("directory", type=click.Path(file_okay=False, path_type=Path))
def export_(directory: Path) -> None:
    """Write the vectors to DIRECTORY: the same bytes every time, everywhere."""
    names = exported_names()
    foreign = sorted(
        path.name
        for path in (directory.iterdir() if directory.exists() else ())
        if path.name not in names
    )
    if foreign:
        raise click.UsageError(f"{directory} holds other files, such as {foreign[0]}")
    count = export(directory)
    click.echo(f"{count} vectors in {len(names) - 2} files")


@vectors.command()
@click.argument("directory", type=click.Path(exists=True, file_okay=False, path_type=Path))
def check(directory: Path) -> None:
    """Hold the vectors in DIRECTORY to their schema, their manifest and the reference.

    Exit status: 0 all is right, 1 something is wrong, 2 usage.
    """
    found = list(problems(directory))
    for problem in found[:_SHOWN]:
        click.echo(printable(problem))
    if len(found) > _SHOWN:
        click.echo(f"… and {len(found) - _SHOWN} more")
    if not found:
        click.echo("all vectors are right")
    sys.exit(_WRONG if found else _RIGHT)
