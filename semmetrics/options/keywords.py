"""The keywords of `semmetrics.score`.

Each field of `Options` is annotated with the type of its value and the description of the option.
"""

# No "from __future__ import annotations", because the tables read the annotations.

from collections.abc import Callable
from typing import Annotated, Any

from semmetrics.options.kind_options import (
    CaptionOptions,
    ClassOptions,
    IntervalOptions,
    RetrievalOptions,
)
from semmetrics.options.measure_options import (
    DataOptions,
    MeaningOptions,
    MeasureOptions,
)
from semmetrics.options.option import Option
from semmetrics.options.reading import SideReading


class Options(
    SideReading,
    MeasureOptions,
    DataOptions,
    MeaningOptions,
    CaptionOptions,
    RetrievalOptions,
    ClassOptions,
    IntervalOptions,
    total=False,
):
    """The options of ``semmetrics.score``, by keyword."""

    read: Annotated[
        Any,
        Option(
            "How to read files, as a semmetrics.ReadOptions object. It replaces the "
            "keywords that are its fields, such as id_column."
        ),
    ]
    keep_rows: Annotated[
        bool,
        Option(
            "Store the data needed for per-item values. Turn it off to save memory.",
            default=True,
        ),
    ]
    progress: Annotated[
        Callable[[int, int], None] | None,
        Option(
            "Function that is called with the number of completed steps and the total "
            "number of steps."
        ),
    ]
