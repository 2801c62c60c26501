"""Pictures for pages on GitHub: each is drawn once for its light and once for its dark theme.

A page shows the one that fits with

    <picture>
      <source media="(prefers-color-scheme: dark)" srcset="images/NAME-dark.png">
      <img alt="what it shows" src="images/NAME-light.png">
    </picture>

pip install matplotlib
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.typing import RcKeyType

COLOURS = {
    "top_n_sigma": "#d1495b",
    "min_p": "#166c98",
    "top_p": "#bd8005",
    "top_k": "#af44e4",
    "typical": "#722efa",
    "epsilon": "#e755cf",
    "plain": "#858b93",
    "greedy": "#858b93",
}
"""Method to its colour, the same in every picture.

Contrast is 3:1 at least on either background, and no two of those that are drawn as lines look the
same to a colour-blind reader.
"""

MARKERS = {
    "top_n_sigma": "o",
    "min_p": "s",
    "top_p": "D",
    "top_k": "^",
    "typical": "v",
    "epsilon": "P",
    "plain": "X",
    "greedy": "*",
}
"""Method to its marker: colour is never the only thing that tells two methods apart."""

_DOTS_PER_INCH = 160
_THEMES = {"light": ("#ffffff", "#1f2328", "#d1d9e0"), "dark": ("#0d1117", "#e6edf3", "#3d444d")}
"""Suffix to the colours of background, text and grid: GitHub's own."""


def draw(
    stem: Path, paint: Callable[[Figure], None], size: tuple[float, float]
) -> tuple[Path, Path]:
    """Write ``<stem>-light.png`` and ``<stem>-dark.png`` and return their paths.

    ``paint`` is called once for each with an empty figure of ``size`` inches (width, height); it
    should leave the colours of text, grid and background as they are. What it draws on the same
    machine with the same versions gives the same bytes. A missing folder is made.
    """
    stem.parent.mkdir(parents=True, exist_ok=True)
    light, dark = (_drawn(stem, paint, size, theme) for theme in _THEMES)
    return light, dark


def _drawn(
    stem: Path, paint: Callable[[Figure], None], size: tuple[float, float], theme: str
) -> Path:
    path = stem.with_name(f"{stem.name}-{theme}.png")
    # The settings of whoever runs this must not show.
    with mpl.rc_context():
        mpl.rcdefaults()
        mpl.rcParams.update(_style(*_THEMES[theme]))
        figure = Figure(figsize=size, layout="constrained")
        FigureCanvasAgg(figure)
        paint(figure)
        # Matplotlib would write its version there, and nothing else that changes.
        figure.savefig(path, metadata={"Software": None})
    return path


def frame(panel: Axes) -> None:
    """A light grid behind the data, and no box around it."""
    panel.grid(lw=0.7)
    panel.set_axisbelow(True)
    panel.spines[["top", "right"]].set_visible(False)


def _style(background: str, text: str, grid: str) -> dict[RcKeyType, Any]:
    return {
        "axes.edgecolor": text,
        "axes.facecolor": background,
        "axes.labelcolor": text,
        "axes.titlesize": 11,
        "figure.dpi": _DOTS_PER_INCH,
        "figure.facecolor": background,
        "font.family": "DejaVu Sans",
        "font.size": 10,
        "grid.color": grid,
        "legend.frameon": False,
        "lines.linewidth": 1.8,
        "lines.markersize": 5,
        "text.color": text,
        "xtick.color": text,
        "ytick.color": text,
    }
