"""The base class of figures: an object that holds the numbers it draws."""

from __future__ import annotations

import io
import os
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from semmetrics.errors import InputError, MissingDependencyError, require

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, FigureBase
    from typing_extensions import Self

MAX_ROWS = 30
"""The number of rows, classes or systems that a figure shows at most."""
COLORS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
MARKERS = "os^DvPX"
FORMATS = (".png", ".svg", ".pdf")

_NOTEBOOK_DPI = 100
_FILE_DPI = 150
_METADATA = {
    ".png": {"Software": None},
    ".pdf": {"CreationDate": None},
    ".svg": dict.fromkeys(("Creator", "Date", "Format", "Type")),
}
"""Metadata that is left out of files, so that their bytes are reproducible."""
_SVG_SETTINGS: dict[Any, Any] = {"svg.fonttype": "none", "svg.hashsalt": "figure"}


class Panels(NamedTuple):
    """How the axes of a figure are divided into panels."""

    n_rows: int = 1
    n_columns: int = 1
    height_ratios: Sequence[float] | None = None
    width_ratios: Sequence[float] | None = None


@dataclass(kw_only=True, eq=False, repr=False)
class Display:
    """A figure of a result. The numbers that it draws are its attributes.

    Attributes
    ----------
    title : str
    note : str
        A note on values that the figure leaves out. It is written below the figure.
    ax_ : Axes, or array of Axes
        The axes of the figure, set by ``plot``.
    figure_ : Figure
        Set by ``plot``.
    """

    title: str = ""
    note: str = ""
    ax_: Any = field(default=None, init=False)
    figure_: Any = field(default=None, init=False)

    @classmethod
    def of(cls, result: Any) -> Self:
        """Create the display of a result. The methods ``from_…`` are names of this method.

        Raises
        ------
        InputError
            If the result does not have the numbers that the figure shows.
        """
        raise NotImplementedError

    def _size(self) -> tuple[float, float]:
        """Return the width and height of the figure in inches."""
        return 6.4, 4.2

    def _panels(self) -> Panels:
        """Return how the figure is divided into panels."""
        return Panels()

    def _draw(self, axes: Sequence[Any]) -> None:
        """Draw the panels.

        Parameters
        ----------
        axes : sequence of Axes
            One for each panel.
        """
        raise NotImplementedError

    def plot(self, ax: Any = None) -> Self:
        """Draw the figure.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            The axes to draw in. Panels divide them. Default: a new figure, which appears
            below the cell in a notebook. Elsewhere no window opens.

        Returns
        -------
        Display
            The display itself, with ``ax_`` and ``figure_``.

        Raises
        ------
        MissingDependencyError
            If matplotlib is not installed.
        """
        if ax is None:
            self._draw_figure(_new_figure(self._size()))
        else:
            self._draw_in(ax)
        return self

    def _draw_figure(self, figure: Figure) -> None:
        """Draw in a new figure, with a title."""
        self._draw_in(figure.subplots())
        first_axes = np.ravel(self.ax_)[0]
        title = self.title or first_axes.get_title("left")
        first_axes.set_title(title, loc="left", fontsize="medium")
        _disable_math(figure)
        # The layout is computed once, so that every drawing of the figure is the same.
        with _ignore_missing_glyphs():
            figure.draw_without_rendering()
        figure.set_layout_engine("none")

    def _draw_in(self, outer_axes: Axes) -> None:
        """Draw in axes that are divided into panels."""
        self.figure_ = outer_axes.figure
        panels = self._panels()
        axes = _divide(outer_axes, panels)
        if len(axes) == 1:
            self.ax_ = axes[0]
        else:
            self.ax_ = np.array(axes, dtype=object)
        self._draw(axes)
        lowest_axes = axes[-1] if panels.n_rows > 1 else axes[0]
        label = f"{lowest_axes.get_xlabel()}\n{self.note}"
        lowest_axes.set_xlabel(label.strip())
        for ax in axes:
            ax.spines[["top", "right"]].set_visible(False)
            ax.set_axisbelow(True)
            _disable_math(ax)

    def __repr__(self) -> str:
        title = f": {self.title}" if self.title else ""
        return f"<{type(self).__name__}{title}>"

    def _repr_png_(self) -> tuple[bytes, dict[str, int]] | None:
        """Return the image that a notebook shows, and its size.

        Return None for a figure that pyplot still has open: the notebook shows it itself
        at the end of the cell. Also return None if matplotlib is not installed.
        """
        try:
            load()
        except MissingDependencyError:
            return None
        if _is_open(self.figure_):
            return None
        image = render(self, ".png")
        width, height = self.figure_.get_size_inches() * _NOTEBOOK_DPI
        return image, {"width": round(width), "height": round(height)}


def render(display: Display, form: str) -> bytes:
    """Return a figure as the content of a file. The bytes are reproducible.

    Parameters
    ----------
    display : Display
        It is drawn in a new figure if it was not drawn before.
    form : {".png", ".svg", ".pdf"}
    """
    if form not in FORMATS:
        raise InputError("wrong-ending", form, known=FORMATS)
    matplotlib = load()
    if display.figure_ is None:
        from matplotlib.figure import Figure

        display._draw_figure(Figure(display._size(), layout="constrained"))
    out = io.BytesIO()
    with matplotlib.rc_context(_SVG_SETTINGS), _ignore_missing_glyphs():
        display.figure_.savefig(
            out, format=form[1:], dpi=_FILE_DPI, metadata=_METADATA[form]
        )
    return out.getvalue()


def load() -> Any:
    """Import matplotlib.

    Raises
    ------
    MissingDependencyError
        If it is not installed.
    """
    return require("matplotlib", "drawing", extra="plots")


def draw_legend(ax: Axes, *, min_entries: int = 2, **options: Any) -> None:
    """Draw a legend to the right of the axes if it has enough entries.

    Parameters
    ----------
    ax : Axes
    min_entries : int
    **options
        Options of ``Axes.legend``.
    """
    entries = options.get("handles")
    if entries is None:
        _, entries = ax.get_legend_handles_labels()
    if len(entries) < min_entries:
        return
    settings = {
        "loc": "upper left",
        "bbox_to_anchor": (1.01, 1),
        "frameon": False,
        "fontsize": "small",
        "borderaxespad": 0,
    }
    ax.legend(**{**settings, **options})


def _divide(outer_axes: Axes, panels: Panels) -> list[Axes]:
    """Return the axes of each panel: the axes themselves if there is only one."""
    n_panels = panels.n_rows * panels.n_columns
    if n_panels == 1:
        return [outer_axes]
    outer_axes.set_axis_off()
    position: Any = outer_axes.get_subplotspec()
    grid = position.subgridspec(
        panels.n_rows,
        panels.n_columns,
        height_ratios=panels.height_ratios,
        width_ratios=panels.width_ratios,
    )
    figure = outer_axes.figure
    return [figure.add_subplot(grid[number]) for number in range(n_panels)]


def _new_figure(size: tuple[float, float]) -> Figure:
    """Return a new figure. In a notebook, pyplot shows and closes it."""
    load()
    # Jupyter's kernel sets MPLBACKEND to its inline backend.
    if not os.environ.get("MPLBACKEND", "").endswith("inline"):
        from matplotlib.figure import Figure

        return Figure(size, layout="constrained")
    from matplotlib import pyplot

    return pyplot.figure(figsize=size, layout="constrained")


def _is_open(figure: Any) -> bool:
    """Return whether pyplot has a figure, so that the notebook will show it."""
    number = getattr(figure, "number", None)
    if number is None:
        return False
    from matplotlib import pyplot

    return bool(pyplot.fignum_exists(number))


def _disable_math(artist: Artist | FigureBase) -> None:
    """Show dollar signs in texts as they are, instead of reading them as math."""
    from matplotlib.text import Text

    for text in artist.findobj(Text):
        text.set_parse_math(False)


@contextmanager
def _ignore_missing_glyphs() -> Iterator[None]:
    """Ignore warnings about letters that the font does not have.

    They are drawn as boxes.
    """
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph .* missing")
        yield
