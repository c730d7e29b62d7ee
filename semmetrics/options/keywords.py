"""The keywords of `semmetrics.score`, each in one place."""

# No "from __future__ import annotations": the tables read the annotations themselves.

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
            "How files are read: semmetrics.ReadOptions, in place of the "
            "keywords that are its fields, such as id_column."
        ),
    ]
    keep_rows: Annotated[
        bool, Option("Keep what item values need; saves memory when off.", default=True)
    ]
    progress: Annotated[
        Callable[[int, int], None] | None,
        Option("Called with the number done and the number in all."),
    ]
