"""Describe how the data of a kind are written: the columns, keys and formats of its inputs."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

from semmetrics.options import FORMATS
from semmetrics.schema import (
    COLUMN_FLAG,
    ID_NAMES,
    Column,
    Schema,
    as_grade,
    as_id,
    as_number,
)

DELIMITED_FORMATS = ("csv", "tsv")
MATRICES = ("npy", "npz", "hdf5")
_EXTENSIONS_BY_FORMAT = {
    "json": ".json",
    "jsonl": ".jsonl .ndjson",
    "csv": ".csv",
    "tsv": ".tsv .tab",
    "parquet": ".parquet .pq",
    "arrow": ".arrow .arrows .ipc .feather",
    "npy": ".npy",
    "npz": ".npz",
    "hdf5": ".h5 .hdf5",
    "txt": ".txt",
    "flickr": ".token",
    "trec": ".trec .run .qrels .qrel",
}
EXTENSIONS: dict[str, str] = {}
"""The format of each extension."""
for _format, _extensions in _EXTENSIONS_BY_FORMAT.items():
    EXTENSIONS.update(dict.fromkeys(_extensions.split(), _format))
RECORD_IDS = ("id", "image_id", "img_id")
FILE_ID = "file_name"
"""A column or key that is the id if there is no other id. The images of COCO have both."""
_FILE_KEYS = ("filename", "image", "img")
"""Keys of JSON records that are the id if there is no other id."""
SCORE_NAMES = (
    "score",
    "scores",
    "conf_level",
    "confidence",
    "conf",
    "prob",
    "probability",
)


class CocoReader(Protocol):
    """A function that reads a COCO document, or annotations of another format as one."""

    def __call__(
        self, value: Mapping[str, Any], name: str, *, title: str | None = None
    ) -> Any:
        """Return the items.

        Parameters
        ----------
        value : mapping
        name : str
            The name of the file in messages.
        title : str, optional
            What the description of the items calls the format. Default: the title of COCO.
        """


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Form:
    """How the data of a kind are written. Each kind has one form.

    Attributes
    ----------
    noun : str
        Noun for an entry: "label". The option ``label_column`` names its column.
    columns, keys : tuple of str
        Names of the column of entries in tables, and of their key in JSON records.
    formats : tuple of str
        The file formats that can be read.
    coco : CocoReader or None
        Reads a COCO document.
    is_coco : callable
        Returns whether a mapping is such a document.
    scored : bool
        Whether entries may have scores and synonyms, and a cell may contain several entries.
    single : bool
        Whether an item may be a single string instead of a list. Records with the same id are then
        gathered into one item.
    allows_empty : bool
        Whether an entry may be an empty string. If not, an empty cell is an item without entries.
    first_id : str or None
        Name of the id column that has priority over all others.
    first_column : str or None
        Name of the column of entries that has priority over all others.
    ids, scores : tuple of str
        Additional names of the column of ids, and of the column of scores.
    first_scores, last_scores : tuple of str
        Names of the column of scores with a higher priority, and with a lower priority.
    integers_as_names : bool
        Whether integers are accepted as entries and converted to strings. Lists of numbers that are
        not all integers are the rows of a matrix with arbitrary values.
    allows_grades : bool
        Whether scores may be grades, or booleans, which are read as 1 and 0.
    integers_as_positions : bool
        Whether integers are accepted as entries, and mean positions in the list of classes, from 0.
    unknown : tuple of float
        Values in a 0/1 matrix that mean "not verified". NaN includes empty cells.
    checked_by_block : bool
        Whether the matrix is checked for finite numbers block by block, when it is used, so that a
        large file is read only once.
    """

    noun: str
    columns: tuple[str, ...]
    keys: tuple[str, ...]
    formats: tuple[str, ...] = tuple(FORMATS)
    coco: CocoReader | None = None
    is_coco: Callable[[Mapping[Any, Any]], bool] = lambda value: False
    scored: bool = False
    single: bool = False
    allows_empty: bool = False
    first_id: str | None = None
    ids: tuple[str, ...] = ()
    scores: tuple[str, ...] = ()
    first_column: str | None = None
    first_scores: tuple[str, ...] = ()
    last_scores: tuple[str, ...] = ()
    integers_as_names: bool = False
    allows_grades: bool = False
    unknown: tuple[float, ...] = ()
    integers_as_positions: bool = False
    checked_by_block: bool = False

    @property
    def allows_nan(self) -> bool:
        """Whether cells of a matrix may be nan."""
        return any(math.isnan(value) for value in self.unknown)

    @property
    def single_integers(self) -> bool:
        """Whether an item may be a single integer instead of a list."""
        return self.single and self.integers_as_names

    @property
    def takes_matrices(self) -> bool:
        """Whether matrices of items x entries can be read."""
        return MATRICES[0] in self.formats

    @cached_property
    def table(self) -> Schema:
        """The columns of a table: ids, entries, and scores if the form has them."""
        ids = ((*self.ids, *ID_NAMES), FILE_ID)
        return self._schema(ids, self.columns, (*self.scores, *SCORE_NAMES))

    @cached_property
    def record(self) -> Schema:
        """The keys of a JSON record."""
        ids = ((*self.ids, *RECORD_IDS), FILE_ID, *_FILE_KEYS)
        return self._schema(ids, self.keys, (*self.scores, "scores"))

    def _schema(
        self,
        ids: tuple[str | tuple[str, ...], ...],
        entries: tuple[str, ...],
        scores: tuple[str, ...],
    ) -> Schema:
        """Return the columns, given their names in order of priority."""
        if self.first_id is not None:
            ids = (self.first_id, *ids)
        id_column = Column("id", ids, as_id)
        entry_names: tuple[str | tuple[str, ...], ...] = (entries,)
        if self.first_column is not None:
            entry_names = (self.first_column, entries)
        entry_column = Column(self.noun, entry_names)
        columns: tuple[Column, ...] = (id_column, entry_column)
        if self.scored:
            levels = (self.first_scores, scores, self.last_scores)
            score_names = tuple(level for level in levels if level)
            read = as_grade if self.allows_grades else as_number
            columns += (Column("score", score_names, read, required=False),)
        return Schema(self.noun, columns, flag=COLUMN_FLAG)

    @property
    def roles(self) -> tuple[str, ...]:
        """The roles of the columns. An option can name the column of each role."""
        return tuple(column.role for column in self.table.columns)
