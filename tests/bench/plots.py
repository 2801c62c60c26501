"""Pictures of what was measured: latency over the batch, and the fraction of a copy's bandwidth."""

from __future__ import annotations

import io
import statistics
from collections.abc import Mapping, Sequence

import matplotlib as mpl
from bench.benchmark_ids import OURS, YARDSTICK
from bench.cases import VOCABULARIES, Case
from bench.gate import Seconds
from matplotlib.axes import Axes
from matplotlib.figure import Figure

mpl.use("svg")

SHOWN = {
    YARDSTICK: ("copy", "#8c8c8c", "--"),
    OURS: ("top_n_sigma_", "#d1495b", "-"),
    "passes": ("its passes alone", "#f4a3ad", "--"),
    "one-launch": ("top_n_sigma_, one launch", "#edae49", "-"),
    "min_p": ("min_p, PyTorch", "#00798c", ":"),
    "vllm_min_p": ("min_p, vLLM's kernel", "#00798c", "-"),
    "textbook": ("textbook", "#30638e", ":"),
    "rfc_example": ("the RFC's example", "#6a4c93", ":"),
}
"""Contender to its name, colour and line; the colours can be told apart on light and dark."""

Medians = Mapping[Case, Mapping[str, float]]


def medians(seconds: Seconds) -> dict[Case, dict[str, float]]:
    """Of each case and contender."""
    return {
        case: {name: statistics.median(figures) for name, figures in found.items()}
        for case, found in seconds.items()
    }


def latency(found: Medians) -> Figure:
    """Microseconds over the batch size, a panel for each vocabulary."""
    sizes = measured_sizes(found)
    figure = Figure(figsize=(3.2 * len(sizes), 3.6), layout="constrained")
    panels: list[Axes] = list(figure.subplots(1, len(sizes), sharey=True, squeeze=False)[0])
    for panel, vocabulary in zip(panels, sizes, strict=True):
        for name, (label, colour, line) in SHOWN.items():
            points = _series(found, vocabulary, name)
            if points:
                panel.plot(
                    *zip(*points, strict=True), line, color=colour, label=label, marker=".", lw=1.6
                )
        panel.set(title=f"V = {vocabulary:,}", xlabel="rows B", xscale="log", yscale="log")
        _plain(panel, found)
    panels[0].set_ylabel("µs")
    handles, labels = panels[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=len(SHOWN), frameon=False)
    return figure


def bandwidth(found: Medians) -> Figure:
    """How much of a copy's bandwidth the operation reaches, over the batch size."""
    figure = Figure(figsize=(6.4, 3.6), layout="constrained")
    panel: Axes = figure.subplots()
    colours = mpl.colormaps["viridis"]
    sizes = measured_sizes(found)
    for index, vocabulary in enumerate(sizes):
        ours = dict(_series(found, vocabulary, OURS))
        points = [
            (batch, copy / ours[batch]) for batch, copy in _series(found, vocabulary, YARDSTICK)
        ]
        colour = colours(0.1 + 0.8 * index / max(len(sizes) - 1, 1))
        panel.plot(
            *zip(*points, strict=True), color=colour, label=f"V = {vocabulary:,}", marker="."
        )
    panel.set(xlabel="rows B", ylabel="fraction of a copy's bandwidth", xscale="log")
    panel.set_ylim(0, 1)
    _plain(panel, found)
    panel.legend(frameon=False)
    return figure


def svg(figure: Figure) -> str:
    """The figure as an element of a page."""
    text = io.StringIO()
    figure.savefig(text, format="svg", metadata={"Date": None})
    return text.getvalue()[text.getvalue().index("<svg") :]


def measured_sizes(found: Medians) -> Sequence[int]:
    """Those of which the pictures show something."""
    return [v for v in VOCABULARIES if _series(found, v, OURS)]


def _series(found: Medians, vocabulary: int, name: str) -> list[tuple[int, float]]:
    """(B, µs) of one contender, all rows enabled, float32."""
    return sorted(
        (case.batch, figures[name] * 1e6)
        for case, figures in found.items()
        if case == Case(case.batch, vocabulary) and name in figures
    )


def _plain(panel: Axes, found: Medians) -> None:
    batches = sorted({case.batch for case in found} - {32})
    panel.set_xticks(batches, labels=[f"{batch:,}" for batch in batches])
    panel.minorticks_off()
    panel.grid(alpha=0.25)
    panel.spines[["top", "right"]].set_visible(False)
