"""How files are read: the options that commands share, and what is said of a file."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from semmetrics.cli.names import complete, formats
from semmetrics.cli.shape import FILE, F, decorated, option
from semmetrics.errors import amount

if TYPE_CHECKING:
    from semmetrics.data.form import ReadOptions
    from semmetrics.data.lists import Lists

__all__ = [
    "Input", "Reading", "caption_reading_options", "label_reading_options", "reading_options",
    "understood",
]  # fmt: skip

GROUP = "How files are read"
MANY = 3
# Those of semmetrics.data.form, which is not loaded to show help.
_FORMATS = ("json", "jsonl", "csv", "tsv", "parquet", "arrow", "npy", "npz", "coco", "txt")
_COLUMNS = "The class list (one a line, or JSON): names the columns of a matrix."
_DICTIONARY = (
    "The class list (one a line, or JSON): names the columns of a matrix, and is the dictionary "
    "that labels=given averages over."
)
Input: TypeAlias = "Lists"


def reading_options(command: F) -> F:
    """The options of `Reading`, where files may hold labels or captions."""
    return decorated(command, *_options(_FORMATS, ("label", "score", "caption"), _DICTIONARY))


def label_reading_options(command: F) -> F:
    """The options of `Reading` that mean something for labels."""
    kinds = [name for name in _FORMATS if name != "txt"]
    return decorated(command, *_options(kinds, ("label", "score"), _COLUMNS))


def caption_reading_options(command: F) -> F:
    """The options of `Reading` that mean something for captions."""
    kinds = [name for name in _FORMATS if name not in ("npy", "npz")]
    return decorated(command, *_options(kinds, ("caption",), None))


def _options(
    kinds: Sequence[str], columns: Sequence[str], classes: str | None
) -> Iterator[Callable[[F], F]]:
    """Those of the formats and columns; of labels, too, where it is said what classes are for."""
    if classes is not None:
        yield option(GROUP, "--classes", type=FILE, metavar="FILE", help=classes)
    yield option(GROUP, "--input-format", metavar="F", shell_complete=complete(formats),
                 help=f"{', '.join(kinds[:-1])} or {kinds[-1]}; told by the extension when left "
                 "out.")  # fmt: skip
    for role in ("id", *columns):
        text = f"Column or key of the {role}s."
        yield option(GROUP, f"--{role}-column", metavar="NAME", help=text)
    yield option(GROUP, "--delimiter", metavar="C", help="Between the cells of CSV; a comma.")
    if classes is not None:
        yield option(GROUP, "--label-delimiter", metavar="TEXT",
                     help="Between the labels in a cell; left out, CSV has one row a "
                     "label.")  # fmt: skip
    yield option(GROUP, "--max-line-bytes", type=int, metavar="N", default=64 * 2**20,
                 show_default=True, help="Longest line of CSV and JSONL.")  # fmt: skip
    yield option(GROUP, "--max-bytes", type=int, metavar="N", default=4 * 2**30,
                 show_default=True, help="Largest file, decompressed.")  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class Reading:
    """How files are read, as asked for on the command line; what a command lacks is None."""

    classes: str | None = None
    input_format: str | None = None
    id_column: str | None = None
    label_column: str | None = None
    score_column: str | None = None
    caption_column: str | None = None
    delimiter: str | None = None
    label_delimiter: str | None = None
    max_line_bytes: int
    max_bytes: int

    @classmethod
    def taken(cls, given: dict[str, Any]) -> Reading:
        """That of a command's options, from which it is taken."""
        names = [name for name in cls.__dataclass_fields__ if name in given]
        return cls(**{name: given.pop(name) for name in names})

    def options(self) -> ReadOptions:
        """For files of labels."""
        from semmetrics.data.form import ReadOptions

        return ReadOptions(
            format=self.input_format,
            id_column=self.id_column,
            label_column=self.label_column,
            score_column=self.score_column,
            caption_column=self.caption_column,
            delimiter=self.delimiter,
            label_delimiter=self.label_delimiter,
            max_line_bytes=self.max_line_bytes,
            max_bytes=self.max_bytes,
        )

    def beside(self) -> ReadOptions:
        """For class lists, weights and matrices, whose format is their own."""
        from semmetrics.data.form import ReadOptions

        return ReadOptions(
            id_column=self.id_column,
            delimiter=self.delimiter,
            max_line_bytes=self.max_line_bytes,
            max_bytes=self.max_bytes,
        )

    def class_list(self) -> list[str] | None:
        """The given classes."""
        from semmetrics.data.beside import read_class_list

        return None if self.classes is None else read_class_list(self.classes, self.beside())

    def labels(self, path: Any, classes: Sequence[str] | None) -> Lists:
        """The label lists of a file."""
        from semmetrics.kinds.labels.reading import as_labels

        return as_labels(path, classes=classes, options=self.options())

    def captions(self, path: Any) -> Lists:
        """The captions of a file."""
        from semmetrics.kinds.captions.reading import as_captions

        return as_captions(path, options=self.options())


def understood(inputs: Iterable[Input]) -> list[str]:
    """How each file was read; many that were read alike are one line.

    Examples
    --------
    >>> from semmetrics.kinds.labels.reading import as_labels
    >>> understood([as_labels({"a": ["cat"]}, source="gt.json")])
    ['gt.json: {id: [labels]}: 1 item, 1 label']
    """
    alike: dict[str, list[Input]] = {}
    for one in inputs:
        alike.setdefault(one.understood, []).append(one)
    lines = []
    for how, group in alike.items():
        if len(group) <= MANY:
            lines += [
                f"{one.source}: {how}: {amount(len(one), 'item')}, {amount(*_held(one))}"
                for one in group
            ]
        else:
            names = ", ".join(one.source for one in group[:MANY])
            total = sum(_held(one)[0] for one in group)
            what = amount(total, _held(group[0])[1])
            lines.append(f"{names} and {len(group) - MANY} more: {how}: {what}")
    return lines


def _held(one: Input) -> tuple[int, str]:
    """How many of what an input holds."""
    return len(one.side.codes), "score" if one.ranked else one.noun
