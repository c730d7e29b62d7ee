"""How files are read, as keywords of a score."""

# No "from __future__ import annotations": the tables read the annotations themselves.

from typing import Annotated, TypedDict

from semmetrics.options.choices import COLUMNS, FOR_TEXTS, READ
from semmetrics.options.option import Option


class Reading(TypedDict, total=False):
    """How files are read: the fields of `semmetrics.ReadOptions`, by keyword."""

    format: Annotated[
        str | None,
        Option(
            "The format of the files. The default is told by the extension.",
            READ,
            flags=("--input-format",),
            metavar="F",
            names="formats",
        ),
    ]
    id_column: Annotated[
        str | None, Option("Column or key of the ids.", READ, metavar="NAME")
    ]
    label_column: Annotated[
        str | None,
        Option(
            "Column or key of the labels.", READ, kinds=COLUMNS["label"], metavar="NAME"
        ),
    ]
    score_column: Annotated[
        str | None,
        Option(
            "Column or key of the scores.", READ, kinds=COLUMNS["score"], metavar="NAME"
        ),
    ]
    caption_column: Annotated[
        str | None,
        Option(
            "Column or key of the captions.",
            READ,
            kinds=COLUMNS["caption"],
            metavar="NAME",
        ),
    ]
    candidate_column: Annotated[
        str | None,
        Option(
            "Column or key of the candidates.",
            READ,
            kinds=COLUMNS["candidate"],
            metavar="NAME",
        ),
    ]
    delimiter: Annotated[
        str | None,
        Option("Character between the cells of CSV; a comma.", READ, metavar="C"),
    ]
    label_delimiter: Annotated[
        str | None,
        Option(
            "Text between the labels in a cell. Without it, CSV has one row a label.",
            READ,
            kinds=COLUMNS["score"],
            metavar="TEXT",
        ),
    ]
    split: Annotated[
        str | None,
        Option(
            "Split of Karpathy's JSON: test, val, train or restval. "
            "The default is all.",
            READ,
            kinds=FOR_TEXTS,
            metavar="NAME",
        ),
    ]
    max_line_bytes: Annotated[
        int,
        Option("Longest line of CSV and JSONL.", READ, default=64 * 2**20, read=int),
    ]
    max_bytes: Annotated[
        int,
        Option(
            "Largest file, decompressed. An embedding may have 16 times as many bytes.",
            READ,
            default=4 * 2**30,
            read=int,
        ),
    ]


class SideReading(Reading, total=False):
    """The fields that may differ between predictions and ground truth: those of `SIDED`."""

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
