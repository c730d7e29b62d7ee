"""Figures as files, and as SVG elements of HTML pages."""

from __future__ import annotations

import hashlib
import re
from html import escape
from typing import Any

import numpy as np

from semmetrics.reports.figures.display import Display, render
from semmetrics.store.files import open_output

_TAG = re.compile(r"<[^>]+>")
_ID = re.compile(r'(\bid="|url\(#|href="#)')
_STYLE = re.compile(r"<style.*?\*\{(.*?)\}</style>")


def save(display: Display, path: Any) -> None:
    """Write a figure to a file with the extension .png, .svg or .pdf.

    Raises
    ------
    InputError
        If the file has another extension, or cannot be written.
    """
    extension = "." + str(path).lower().rpartition(".")[2]
    content = render(display, extension)
    with open_output(path, binary=True) as out:
        out.write(content)


def svg_text(display: Display) -> str:
    """Return a figure as an SVG element for an HTML page.

    The element has no XML declaration and no date. Its texts are text, not paths, and its
    ids differ from the ids of other figures on the page.
    """
    document = render(display, ".svg").decode()
    svg = document[document.index("<svg") :]
    digest = hashlib.sha256(svg.encode()).hexdigest()[:10]
    svg = _prefix_ids(svg, f"f{digest}-")
    style = _STYLE.search(svg)
    if style:  # it would apply to the whole page
        svg = svg.replace(style[0], "")
        svg = svg.replace("<svg", f'<svg style="{style[1]}"', 1)
    label = escape(_describe(display))
    return svg.replace("<svg", f'<svg role="img" aria-label="{label}"', 1)


def _prefix_ids(svg: str, prefix: str) -> str:
    """Put a prefix before all ids in tags. Texts between tags stay as they are."""
    parts = []
    start = 0
    for tag in _TAG.finditer(svg):
        text_before = svg[start : tag.start()]
        parts.append(text_before)
        parts.append(_ID.sub(rf"\g<1>{prefix}", tag[0]))
        start = tag.end()
    parts.append(svg[start:])
    return "".join(parts)


def _describe(display: Display) -> str:
    """Return the title of a figure, or else its kind."""
    first_axes = np.ravel(display.ax_)[0]
    title: str = first_axes.get_title(loc="left")
    return title or type(display).__name__.removesuffix("Display")
