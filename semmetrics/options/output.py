"""The options that choose how a command writes its result."""

from __future__ import annotations

from semmetrics.options.choices import (
    ENDINGS,
    OTHER,
    RECORD_ENDINGS,
    RESULT_FORMATS,
    WRITE,
)
from semmetrics.options.option import Option, name_options

OUTPUT = name_options(
    signatures=Option(
        "Show the complete signature of each row.",
        WRITE,
        flags=("--show-signatures",),
        read=bool,
    ),
    form=Option(
        "Format of the result. json and csv have full precision. The extension of the "
        "-o file also sets the format.",
        WRITE,
        default="table",
        flags=("--format",),
        choices=tuple(RESULT_FORMATS),
        common=True,
    ),
    output=Option(
        f"Write the result to this file, in the format of its extension: "
        f"{', '.join([*ENDINGS, *RECORD_ENDINGS])}. Without an extension, or with .txt, --format "
        "sets the format.",
        WRITE,
        flags=("-o", "--output"),
        written=(*ENDINGS, *RECORD_ENDINGS, ".txt", "-"),
        common=True,
    ),
    systems=Option(
        "Show systems as rows or columns of tables. The default is rows if there are "
        "more systems than measures, or if columns do not fit the terminal.",
        WRITE,
        choices=("rows", "columns"),
    ),
    plot=Option(
        "Draw a figure of the result to this file. The most suitable figure is drawn "
        "unless one is named, as in labels=FILE or items=FILE. Can be repeated, and an "
        "unknown name lists all figures.",
        WRITE,
        metavar="[NAME=]FILE",
        repeat=True,
        written=(".png", ".svg", ".pdf"),
        common=True,
    ),
    html=Option(
        "Write a report to this file. It is one page with figures, labels, and the "
        "worst and best items, the same as -o FILE.html.",
        WRITE,
        written=(".html",),
        common=True,
    ),
    images=Option(
        "Show images of items in the report. The value is a folder with files named by "
        "id, or a pattern such as 'images/{id}.jpg', or 'images/{id:012d}.jpg' for 12 "
        "digits with leading zeros.",
        WRITE,
        metavar="FOLDER",
    ),
    digits=Option(
        "Number of digits after the decimal point. The default is 4, or 2 with "
        "--percent.",
        WRITE,
        read=int,
        least=0,
        most=17,
    ),
    percent=Option(
        "Multiply values in [-1, 1], CIDEr, SPICE and SPIDEr by 100, as papers print "
        "them.",
        WRITE,
        read=bool,
    ),
    quiet=Option(
        "Print only errors to standard error.",
        OTHER,
        flags=("-q", "--quiet"),
        read=bool,
    ),
)
"""The options that choose how a command writes its result."""
