"""How results are written by the command line."""

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
        "Show the whole signature of each row.",
        WRITE,
        flags=("--show-signatures",),
        read=bool,
    ),
    form=Option(
        "The format of the result; json and csv have full precision. The ending of -o says "
        "it, too.",
        WRITE,
        default="table",
        flags=("--format",),
        choices=tuple(RESULT_FORMATS),
        common=True,
    ),
    output=Option(
        "Write the result there, in the format of its extension: "
        f"{', '.join([*ENDINGS, *RECORD_ENDINGS])}. Without an extension, or with .txt, --format "
        "decides.",
        WRITE,
        flags=("-o", "--output"),
        written=(*ENDINGS, *RECORD_ENDINGS, ".txt", "-"),
        common=True,
    ),
    systems=Option(
        "Whether systems are rows or columns of tables. The default is rows if there "
        "are more systems than measures, or their columns do not fit the terminal.",
        WRITE,
        choices=("rows", "columns"),
    ),
    plot=Option(
        "Draw a figure of the result there: the most suitable, or the one named, such as "
        "labels=FILE or items=FILE; may be repeated. A wrong name lists all.",
        WRITE,
        metavar="[NAME=]FILE",
        repeat=True,
        written=(".png", ".svg", ".pdf"),
        common=True,
    ),
    html=Option(
        "Write a report there, too: one page with figures, labels, and the worst and best "
        "items. The same as -o FILE.html.",
        WRITE,
        written=(".html",),
        common=True,
    ),
    images=Option(
        "Show pictures of items in the report: a folder of files called by the ids, or "
        "'images/{id}.jpg', or 'images/{id:012d}.jpg' for 12 digits with leading zeros.",
        WRITE,
        metavar="FOLDER",
    ),
    digits=Option(
        "Digits after the point: 4, or 2 with --percent.",
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
        "Nothing but errors on standard error.",
        OTHER,
        flags=("-q", "--quiet"),
        read=bool,
    ),
)
"""How results are written by the command line."""
