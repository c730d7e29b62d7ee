"""The options that choose how a command writes its result."""

from __future__ import annotations

from semmetrics.options.choices import (
    FORMAT_OF_EXTENSION,
    OTHER,
    RECORD_EXTENSIONS,
    RESULT,
    RESULT_FORMATS,
)
from semmetrics.options.option import Option, name_options

OUTPUT = name_options(
    signatures=Option(
        "Show the complete signature of each row.",
        RESULT,
        flags=("--show-signatures",),
        read=bool,
    ),
    form=Option(
        "Format of the result. json and csv have full precision. The extension of the "
        "-o file also sets the format.",
        RESULT,
        default="table",
        flags=("--format",),
        choices=tuple(RESULT_FORMATS),
        common=True,
    ),
    output=Option(
        f"Write the result to this file, in the format of its extension: "
        f"{', '.join([*FORMAT_OF_EXTENSION, *RECORD_EXTENSIONS])}. Without an extension, or with .txt, --format "
        "sets the format.",
        RESULT,
        flags=("-o", "--output"),
        output_extensions=(*FORMAT_OF_EXTENSION, *RECORD_EXTENSIONS, ".txt", "-"),
        common=True,
    ),
    systems=Option(
        "Show systems as rows or columns of tables. The default is rows if there are "
        "more systems than measures, or if columns do not fit the terminal.",
        RESULT,
        choices=("rows", "columns"),
    ),
    plot=Option(
        "Draw a figure of the result to this file. The most suitable figure is drawn "
        "unless one is named, as in labels=FILE or items=FILE. Can be repeated, and an "
        "unknown name lists all figures.",
        RESULT,
        metavar="[NAME=]FILE",
        repeat=True,
        output_extensions=(".png", ".svg", ".pdf"),
        common=True,
    ),
    html=Option(
        "Write a report to this file, the same as -o FILE.html. The report is one page "
        "with figures, labels, and the worst and best items.",
        RESULT,
        output_extensions=(".html",),
        common=True,
    ),
    images=Option(
        "Show images of items in the report. The value is a folder with files named by "
        "id, or a pattern such as 'images/{id}.jpg', or 'images/{id:012d}.jpg' for 12 "
        "digits with leading zeros.",
        RESULT,
        metavar="FOLDER",
    ),
    digits=Option(
        "Number of digits after the decimal point. The default is 4, or 2 with "
        "--percent.",
        RESULT,
        read=int,
        least=0,
        most=17,
    ),
    percent=Option(
        "Multiply values in [-1, 1], CIDEr, SPICE and SPIDEr by 100, as papers print "
        "them.",
        RESULT,
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
