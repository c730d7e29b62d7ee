"""The tables that semmetrics reads besides predictions and ground truth.

A schema with a flag belongs to inputs for which options can name the columns. ``{role}`` in the
flag is replaced by the role of the column.
"""

from __future__ import annotations

from semmetrics.schema.cells import as_answer, as_given, as_group, as_id, as_number
from semmetrics.schema.columns import Column
from semmetrics.schema.tables import Schema

COLUMN_FLAG = "{role}_column"
_COLUMNS_FLAG = "columns group_by"

# ---- numbers per item or class ----------------------------------------------------------

ID_NAMES = (
    "id",
    "image_id",
    "img_id",
    "image",
    "img",
    "item",
    "item_id",
    "filename",
    "image_name",
)
"""The names that a column of item ids may have."""

CLASS_NAMES = ("class", "classes", "label", "labels", "category", "name")
"""The names that a column of classes may have."""

_NUMBER_NAMES = ("weight", "weights", "sample_weight", "value", "number")
_POPULATION_NAMES = ("images", "count", "counts", "population", "populations")
_HOP_NAMES = ("hops", "hop", "distance")


def _number_schema(id_column: Column, noun: str, *names: str) -> Schema:
    """Return the schema of a table with one number per id.

    The column of numbers may have a common name, such as "value", or one of ``names``.
    """
    number = Column("score", ((*_NUMBER_NAMES, *names),), as_number, noun=noun)
    return Schema(noun, (id_column, number), flag=COLUMN_FLAG)


_ITEM_ID = Column("id", (ID_NAMES,), as_id, key=True, noun="id")
_CLASS_ID = Column(
    "id", (CLASS_NAMES, ID_NAMES), as_id, key=True, noun="class", shared=True
)

NUMBERS = {
    "weights": _number_schema(_ITEM_ID, "weight"),
    "populations": _number_schema(_CLASS_ID, "number", *_POPULATION_NAMES),
    "hops": _number_schema(_CLASS_ID, "number", *_HOP_NAMES),
}
"""Tables of a finite number per item or class, by the option that takes them."""

# ---- pairs ------------------------------------------------------------------------------

SAME_PAIRS = Schema(
    "pair",
    (
        Column(
            "a",
            (
                "a",
                "first",
                "left",
                "label_a",
                "text_a",
                "label1",
                "text1",
                "word1",
                "prediction",
            ),
        ),
        Column(
            "b",
            (
                "b",
                "second",
                "right",
                "label_b",
                "text_b",
                "label2",
                "text2",
                "word2",
                "reference",
            ),
        ),
        Column(
            "same",
            ("same", "match", "matches", "equal", "gold", "label", "target"),
            as_answer,
        ),
    ),
    example='{"a": "car", "b": "automobile", "same": true}',
)
"""Pairs of labels, and whether they mean the same."""

SCORED_PAIRS = Schema(
    "pair",
    (
        Column("first", read=as_id),
        Column("second", read=as_id),
        Column("score", read=as_number),
        Column("group", read=as_group, required=False, group=True),
    ),
    example='["id", "id", 0.5]',
    flag=_COLUMNS_FLAG,
)
"""Pairs of ids with a score. The first three columns are used unless the user names others."""

# ---- judgements -------------------------------------------------------------------------

JUDGEMENTS = Schema(
    "judgement",
    (
        Column(
            "rating",
            ("rating", "score", "human", "human_score", "human_rating", "judgement"),
            as_number,
            required=False,
        ),
        Column(
            "preferred",
            ("preferred", "preference", "winner"),
            as_given,
            required=False,
        ),
        Column("a", ("a",), as_given, required=False),
        Column("b", ("b",), as_given, required=False),
        Column("caption", ("caption", "mt", "text"), as_given, required=False),
        Column(
            "references",
            ("references", "refs", "ground_truth"),
            as_given,
            required=False,
        ),
        Column("candidate", ("candidate", "candidate_id"), as_given, required=False),
        Column("reference", ("reference", "reference_id"), as_given, required=False),
        Column("id", ("id", "item", "item_id"), as_given, required=False),
        Column(
            "image", ("image", "image_id", "imgid", "img_id"), as_given, required=False
        ),
        Column("rater", ("rater", "annotator", "worker"), as_given, required=False),
        Column("system", ("system",), as_given, required=False),
        Column("group", (), as_group, required=False),
    ),
    example='{"id": "a", "rating": 4}',
    flag=_COLUMNS_FLAG,
    allows_lists=False,
)
"""Ratings of candidates, or preferences between two candidates."""

# ---- taxonomies and TREC files ----------------------------------------------------------

LINKS = Schema(
    "link",
    (
        Column("child", (("child",),), as_given),
        Column("parent", (("parent",),), as_given),
    ),
    example="child,parent",
)
"""The edges of a taxonomy."""

_RUN = Schema(
    "line",
    (
        Column("query", read=as_given, group=True),
        Column("Q0", read=as_given),
        Column("document", read=as_given),
        Column("rank", read=as_given),
        Column("score", read=as_number),
        Column("tag", read=as_given),
    ),
)
_QRELS = Schema(
    "line",
    (
        Column("query", read=as_given, group=True),
        Column("0", read=as_given),
        Column("document", read=as_given),
        Column("grade", read=as_number),
    ),
)
TREC = {6: _RUN, 4: _QRELS}
"""Runs and qrels of TREC, by the number of words per line."""
