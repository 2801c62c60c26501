"""Pictures of the figures of ``quality.py``: accuracy over temperature, quality over diversity."""

from collections.abc import Callable, Sequence
from typing import Any

import pictures
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from quality_figures import Figures

_LINES = {"min_p 0.05": ":", "top_n_sigma 0.7": ":", "top_n_sigma 1.5": "--"}
"""Of methods that share a colour with one that is drawn through."""

_PANELS = (
    ("top_n_sigma 0.7", "top_n_sigma 1", "top_n_sigma 1.5"),
    ("top_k 40", "top_p 0.9", "min_p 0.05", "min_p 0.1"),
)
_SHADED = ("top_n_sigma 1", "min_p 0.1")
"""Methods whose intervals are drawn: those of all would hide one another."""


def accuracy(lines: Sequence[Figures]) -> Callable[[Figure], None]:
    """Share of right answers over temperature: top-nσ on the left, the others on the right.

    Both panels show plain sampling and greedy, and the intervals of one method each.
    """

    def paint(figure: Figure) -> None:
        panels: Sequence[Axes] = figure.subplots(1, 2, sharey=True)
        for panel, methods in zip(panels, _PANELS, strict=True):
            for method in (*methods, "plain"):
                _over_temperature(panel, [line for line in lines if line.method == method])
            for line in lines:
                if line.method == "greedy":
                    panel.axhline(line.correct, **_look("greedy", marker=""), label="greedy")
            pictures.frame(panel)
            found = sorted({line.temperature for line in lines if line.temperature is not None})
            panel.set(xlabel="temperature", ylim=(0, 1), xticks=found)
            panel.legend(loc="upper right", fontsize=8.5, ncols=2, handlelength=3.2)
        panels[0].set_ylabel("share of right answers")

    return paint


def trade_off(lines: Sequence[Figures]) -> Callable[[Figure], None]:
    """Share of right answers over how much they differ, a path from cool to hot for each method."""

    def paint(figure: Figure) -> None:
        panel = figure.subplots()
        for method in dict.fromkeys(line.method for line in lines):
            own = [line for line in lines if line.method == method]
            x = [1 - line.self_overlap for line in own if line.self_overlap is not None]
            y = [line.correct for line in own if line.self_overlap is not None]
            panel.plot(x, y, **_look(method), label=_label(method))
            panel.plot(x[-1:], y[-1:], **_look(method, markersize=10))
        pictures.frame(panel)
        panel.set(
            xlabel="1 – self-overlap: token pairs of an answer that another seed's does not have",
            ylabel="share of right answers",
            ylim=(0, None),
        )
        panel.legend(
            loc="center left",
            bbox_to_anchor=(1, 0.5),
            fontsize=8.5,
            handlelength=3.2,
            title="large marker:\nhighest temperature",
            title_fontsize=8.5,
        )

    return paint


def _over_temperature(panel: Axes, own: Sequence[Figures]) -> None:
    """One method's line; nothing where it was not measured."""
    points = [(line.temperature, line) for line in own if line.temperature is not None]
    if not points:
        return
    method, x = own[0].method, [temperature for temperature, _ in points]
    if method in _SHADED:
        low = [line.correct_low for line in own]
        high = [line.correct_high for line in own]
        panel.fill_between(x, low, high, color=_look(method)["color"], alpha=0.18, lw=0)
    panel.plot(x, [line.correct for line in own], **_look(method), label=_label(method))


def _look(method: str, **changes: Any) -> dict[str, Any]:
    family = method.split()[0]
    return {
        "color": pictures.COLOURS[family],
        "marker": pictures.MARKERS[family],
        "linestyle": "--" if family == "greedy" else _LINES.get(method, "-"),
        **changes,
    }


def _label(method: str) -> str:
    return method.replace("top_n_sigma", "top-nσ").replace("_", "-")
