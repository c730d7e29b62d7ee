"""Draw the chart of README.md from RESULTS.md: ``python -m benchmarks.chart``.

Each bar is the ratio of a peer's time to the time of semmetrics, on a logarithmic axis. The chart
is an SVG that needs no font or script.
"""

from __future__ import annotations

import math
import re
from pathlib import Path
from typing import NamedTuple
from xml.sax.saxutils import escape

__all__ = ["CHART", "Bar", "draw", "main", "read_ratio"]

RESULTS = Path(__file__).with_name("RESULTS.md")
CHART = Path(__file__).parents[1] / "docs" / "_static" / "benchmarks.svg"

_WIDTH = 820
_LABELS_END = 430  # where the text ends and the bars begin
_BARS_END = 760
_ROW = 34
_TOP = 48
_LARGEST_RATIO = 64.0
_SMALLEST_RATIO = 0.5
_TICKS = (0.5, 1, 2, 4, 8, 16, 32, 64)
_TITLE = "Time of the peer divided by the time of semmetrics"
_STYLE = """\
text { font: 13px system-ui, sans-serif; fill: #1f2328 }
.peer, .tick { font-size: 12px; fill: #59636e }
.title { font-weight: 600 }
.grid { stroke: #d1d9e0 }
.one { stroke: #59636e }
.faster { fill: #0b7285 }
.slower { fill: #c2410c }"""


class Bar(NamedTuple):
    """A bar of the chart.

    Attributes
    ----------
    section : str
        A heading of RESULTS.md.
    row : str
        The beginning of a row of its table.
    row_ends : str
        How the first cell of that row ends.
    label, peer : str
        What the chart prints for the workload and for the peer.
    """

    section: str
    row: str
    row_ends: str
    label: str
    peer: str


BARS = (
    Bar(
        "labels.lists",
        "macro, micro",
        "dense",
        "F1 of 1,000,000 label sets",
        "scikit-learn",
    ),
    Bar("labels.lists", "macro, micro", "sparse", "the same", "scikit-learn, sparse"),
    Bar(
        "labels.arrays",
        "macro F1",
        "`score`; torchmetrics, int64, defaults",
        "F1 of 1,000,000 x 80 arrays",
        "torchmetrics",
    ),
    Bar(
        "captions_cider.candidates",
        "CIDEr-D",
        "pycocoevalcap",
        "CIDEr-D of 5,000 captions",
        "pycocoevalcap",
    ),
    Bar(
        "captions.protocol",
        "coco-caption",
        "pycocoevalcap",
        "COCO protocol, 5,000 images",
        "pycocoevalcap",
    ),
    Bar(
        "captions.meteor",
        "METEOR from JSON files, program start included, 5,000",
        "pycocoevalcap",
        "METEOR, 5,000 images",
        "pycocoevalcap, Java",
    ),
    Bar(
        "comparison.bleu",
        "BLEU-4, 2 systems, 2,000 captions, 1,000",
        "resamples",
        "BLEU with a paired test",
        "sacreBLEU",
    ),
    Bar(
        "transport.labels",
        "WMD from lists",
        "by `semmetrics.score`; gensim `wmdistance` as it is called by default",
        "word mover's distance",
        "gensim",
    ),
    Bar("retrieval.graded", "MAP", "each", "MAP and nDCG of TREC runs", "ir_measures"),
)


def read_ratio(results: str, bar: Bar) -> float:
    r"""Return the ratio of a row of RESULTS.md.

    Parameters
    ----------
    results : str
        The text of the file.
    bar : Bar

    Raises
    ------
    LookupError
        If not exactly one row fits, or the row has no ratio.

    Examples
    --------
    >>> results = "## labels.lists\n\n| F1, 10 examples; dense | 1 ms | 4.0 ms | 4.0x |\n"
    >>> read_ratio(results, Bar("labels.lists", "F1", "dense", "F1", "scikit-learn"))
    4.0
    """
    sections = f"\n{results}".split("\n## ")
    table = next((part for part in sections if part.startswith(f"{bar.section}\n")), "")
    ratios = []
    for line in table.splitlines():
        cells = [cell.strip() for cell in line.strip("| ").split(" | ")]
        if cells[0].startswith(bar.row) and cells[0].endswith(bar.row_ends):
            ratios += re.findall(r"(?<![\d.])([\d.]+)x", line)
    if len(ratios) != 1:
        raise LookupError(f"{len(ratios)} rows of {bar.section} fit {bar.label!r}")
    return float(ratios[0])


def draw(results: str) -> str:
    """Return the chart as SVG.

    Parameters
    ----------
    results : str
        The text of RESULTS.md.
    """
    height = _TOP + _ROW * len(BARS) + 30
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {height}" role="img">',
        "<title>How many times faster semmetrics is than its peers</title>",
        f"<style>{_STYLE}</style>",
        f'<rect width="{_WIDTH}" height="{height}" rx="6" fill="#ffffff"/>',
        f'<text class="title" x="20" y="28">{_TITLE}</text>',
    ]
    bottom = _TOP + _ROW * len(BARS)
    for tick in _TICKS:
        x = _position(tick)
        kind = "one" if tick == 1 else "grid"
        parts.append(
            f'<line class="{kind}" x1="{x}" x2="{x}" y1="{_TOP}" y2="{bottom}"/>'
        )
        label = f"{tick:g}x"
        parts.append(
            f'<text class="tick" x="{x}" y="{bottom + 18}" text-anchor="middle">{label}</text>'
        )
    for place, bar in enumerate(BARS):
        parts += _draw_bar(bar, read_ratio(results, bar), _TOP + _ROW * place)
    parts.append("</svg>")
    return "\n".join(parts) + "\n"


def _position(ratio: float) -> float:
    """Return the horizontal position of a ratio."""
    range_of_axis = math.log(_LARGEST_RATIO / _SMALLEST_RATIO)
    share = math.log(ratio / _SMALLEST_RATIO) / range_of_axis
    return round(_LABELS_END + share * (_BARS_END - _LABELS_END), 1)


def _draw_bar(bar: Bar, ratio: float, top: float) -> list[str]:
    """Return the elements of a bar."""
    one = _position(1)
    end = _position(ratio)
    kind = "faster" if ratio > 1 else "slower"
    middle = top + _ROW / 2 + 4
    left = min(one, end)
    width = round(abs(end - one), 1)
    label_end = max(one, end) + 6
    digits = ".2f" if ratio < 1 else ".1f" if ratio < 10 else ".0f"
    return [
        f'<text x="20" y="{middle}">{escape(bar.label)} '
        f'<tspan class="peer">vs. {escape(bar.peer)}</tspan></text>',
        f'<rect class="{kind}" x="{left}" y="{top + 8}" width="{width}" height="{_ROW - 16}"/>',
        f'<text x="{label_end}" y="{middle}">{ratio:{digits}}x</text>',
    ]


def main() -> None:
    """Draw the chart."""
    CHART.write_text(
        draw(RESULTS.read_text(encoding="utf-8")), encoding="utf-8", newline="\n"
    )


if __name__ == "__main__":
    main()
