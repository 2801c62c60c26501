"""Pictures come out the same each time, in two themes, in colours that can be seen."""

from pathlib import Path

import matplotlib as mpl
import pictures
import pytest
from matplotlib.figure import Figure

BACKGROUNDS = ("#ffffff", "#0d1117")


def paint(figure: Figure) -> None:
    panel = figure.subplots()
    panel.plot([1, 2, 3], color=pictures.COLOURS["top_n_sigma"], label="top-nσ")
    panel.legend()
    pictures.frame(panel)


def test_the_same_data_gives_the_same_bytes(tmp_path: Path) -> None:
    first = [path.read_bytes() for path in pictures.draw(tmp_path / "a", paint, (3, 2))]
    with mpl.rc_context({"font.size": 20, "axes.linewidth": 5, "savefig.dpi": 30}):
        again = [path.read_bytes() for path in pictures.draw(tmp_path / "new" / "b", paint, (3, 2))]
        assert mpl.rcParams["font.size"] == 20
    assert first == again
    assert first[0] != first[1]
    assert all(b"Matplotlib" not in picture for picture in first)


def test_each_theme_has_its_name_and_background(tmp_path: Path) -> None:
    paths = pictures.draw(tmp_path / "some.name", paint, (3, 2))
    assert [path.name for path in paths] == ["some.name-light.png", "some.name-dark.png"]
    for path, background in zip(paths, BACKGROUNDS, strict=True):
        corner = mpl.image.imread(path)[0, 0, :3]
        assert corner == pytest.approx(mpl.colors.to_rgb(background), abs=1 / 255)


@pytest.mark.parametrize("method", pictures.COLOURS)
@pytest.mark.parametrize("background", BACKGROUNDS)
def test_colours_stand_out_from_the_background(method: str, background: str) -> None:
    """WCAG 2.2, success criterion 1.4.11: 3 to 1 for what one has to see."""
    lights = sorted(luminance(colour) for colour in (pictures.COLOURS[method], background))
    assert (lights[1] + 0.05) / (lights[0] + 0.05) >= 3


def luminance(colour: str) -> float:
    """Relative luminance as WCAG 2.2 defines it."""
    linear = [
        x / 12.92 if x <= 0.04045 else ((x + 0.055) / 1.055) ** 2.4
        for x in mpl.colors.to_rgb(colour)
    ]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def test_methods_differ_in_more_than_colour() -> None:
    assert pictures.MARKERS.keys() == pictures.COLOURS.keys()
    assert len(set(pictures.MARKERS.values())) == len(pictures.MARKERS)
