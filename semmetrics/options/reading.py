"""The options that describe how files are read."""

# No "from __future__ import annotations", because the tables read the annotations.

from typing import Annotated, TypedDict

from semmetrics.options.choices import COLUMNS, FILES, FOR_TEXTS
from semmetrics.options.option import Option


class Reading(TypedDict, total=False):
    """Options for the files of both sides, which are the fields of `semmetrics.ReadOptions`."""

    format: Annotated[
        str | None,
        Option(
            "Format of the files. By default it is inferred from the file extension.",
            FILES,
            flags=("--input-format",),
            metavar="F",
            names="formats",
        ),
    ]
    id_column: Annotated[
        str | None,
        Option(
            "Name of the column or key that contains the ids.", FILES, metavar="NAME"
        ),
    ]
    label_column: Annotated[
        str | None,
        Option(
            "Name of the column or key that contains the labels.",
            FILES,
            kinds=COLUMNS["label"],
            metavar="NAME",
        ),
    ]
    score_column: Annotated[
        str | None,
        Option(
            "Name of the column or key that contains the scores.",
            FILES,
            kinds=COLUMNS["score"],
            metavar="NAME",
        ),
    ]
    caption_column: Annotated[
        str | None,
        Option(
            "Name of the column or key that contains the captions.",
            FILES,
            kinds=COLUMNS["caption"],
            metavar="NAME",
        ),
    ]
    candidate_column: Annotated[
        str | None,
        Option(
            "Name of the column or key that contains the candidates.",
            FILES,
            kinds=COLUMNS["candidate"],
            metavar="NAME",
        ),
    ]
    delimiter: Annotated[
        str | None,
        Option(
            "Character that separates the cells of a CSV file. By default a comma.",
            FILES,
            metavar="C",
        ),
    ]
    label_delimiter: Annotated[
        str | None,
        Option(
            "String that separates the labels in a cell. If it is not set, a CSV file has "
            "one row per label.",
            FILES,
            kinds=COLUMNS["score"],
            metavar="TEXT",
        ),
    ]
    split: Annotated[
        str | None,
        Option(
            "Split of Karpathy's JSON to use: test, val, train or restval. The default is "
            "all.",
            FILES,
            kinds=FOR_TEXTS,
            metavar="NAME",
        ),
    ]
    max_line_bytes: Annotated[
        int,
        Option(
            "Maximum length in bytes of a line of CSV and JSONL files.",
            FILES,
            default=64 * 2**20,
            read=int,
        ),
    ]
    max_bytes: Annotated[
        int,
        Option(
            "Maximum size in bytes of a file after decompression. The limit for embeddings "
            "is 16 times larger.",
            FILES,
            default=4 * 2**30,
            read=int,
        ),
    ]


class SideReading(Reading, total=False):
    """Options for reading files, with the options of `SIDED` also for only one side."""

    pred_format: str | None
    pred_id_column: str | None
    pred_label_column: str | None
    pred_score_column: str | None
    pred_caption_column: str | None
    pred_candidate_column: str | None
    pred_delimiter: str | None
    pred_label_delimiter: str | None
    gt_format: str | None
    gt_id_column: str | None
    gt_label_column: str | None
    gt_score_column: str | None
    gt_caption_column: str | None
    gt_candidate_column: str | None
    gt_delimiter: str | None
    gt_label_delimiter: str | None
