"""Tables that users provide: their columns, the names of columns, and the values of cells.

``cells`` converts single cells, ``columns`` describes a column, ``tables`` reads a whole table, and
``inputs`` defines the tables that semmetrics accepts besides predictions and ground truth.
"""

from semmetrics.schema.cells import (
    TRUTHS,
    Reader,
    as_answer,
    as_given,
    as_grade,
    as_group,
    as_id,
    as_number,
    as_real,
    as_text,
    is_missing,
    not_a_number,
)
from semmetrics.schema.columns import Column
from semmetrics.schema.inputs import (
    CLASS_NAMES,
    COLUMN_FLAG,
    ID_NAMES,
    JUDGEMENTS,
    LINKS,
    NUMBERS,
    SAME_PAIRS,
    SCORED_PAIRS,
    TREC,
)
from semmetrics.schema.tables import ABSENT, ColumnChooser, Row, Schema, Table

__all__ = [
    "ABSENT",
    "CLASS_NAMES",
    "COLUMN_FLAG",
    "ID_NAMES",
    "JUDGEMENTS",
    "LINKS",
    "NUMBERS",
    "SAME_PAIRS",
    "SCORED_PAIRS",
    "TREC",
    "TRUTHS",
    "Column",
    "Reader",
    "Row",
    "Schema",
    "ColumnChooser",
    "Table",
    "as_answer",
    "as_given",
    "as_grade",
    "as_group",
    "as_id",
    "as_number",
    "as_real",
    "as_text",
    "is_missing",
    "not_a_number",
]
