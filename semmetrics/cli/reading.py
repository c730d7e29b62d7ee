"""How files are read: the options that `score` and `validate` share, and what is said of a file."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from semmetrics.cli.names import complete, formats
from semmetrics.cli.shape import FILE, option

if TYPE_CHECKING:
    from semmetrics.data.labels import Labels
    from semmetrics.data.readers import ReadOptions

__all__ = ["Reading", "reading_options", "understood"]

GROUP = "How files are read"
MANY = 3
F = TypeVar("F", bound=Callable[..., Any])


def reading_options(command: F) -> F:
    """The options of `Reading`."""
    options = [
        option(GROUP, "--classes", type=FILE, metavar="FILE",
               help="The class list (one a line, or JSON): names the columns of a matrix, and is "
               "the dictionary that labels=given averages over."),
        option(GROUP, "--input-format", metavar="F", shell_complete=complete(formats),
               help="json, jsonl, csv, tsv, parquet, npy, npz or coco; told by the extension "
               "when left out."),
        option(GROUP, "--id-column", metavar="NAME", help="Column or key of the ids."),
        option(GROUP, "--label-column", metavar="NAME", help="Column or key of the labels."),
        option(GROUP, "--score-column", metavar="NAME", help="Column or key of the scores."),
        option(GROUP, "--delimiter", metavar="C", help="Between the cells of CSV; a comma."),
        option(GROUP, "--label-delimiter", metavar="TEXT",
               help="Between the labels in a cell; left out, CSV has one row a label."),
        option(GROUP, "--max-line-bytes", type=int, metavar="N", default=64 * 2**20,
               show_default=True, help="Longest line of CSV and JSONL."),
        option(GROUP, "--max-bytes", type=int, metavar="N", default=4 * 2**30,
               show_default=True, help="Largest file, decompressed."),
    ]  # fmt: skip
    for decorate in reversed(options):
        command = decorate(command)
    return command


@dataclass(frozen=True, kw_only=True)
class Reading:
    """How files are read, as asked for on the command line."""

    classes: str | None
    input_format: str | None
    id_column: str | None
    label_column: str | None
    score_column: str | None
    delimiter: str | None
    label_delimiter: str | None
    max_line_bytes: int
    max_bytes: int

    def options(self) -> ReadOptions:
        """For files of labels."""
        from semmetrics.data.readers import ReadOptions

        return ReadOptions(
            format=self.input_format,
            id_column=self.id_column,
            label_column=self.label_column,
            score_column=self.score_column,
            delimiter=self.delimiter,
            label_delimiter=self.label_delimiter,
            max_line_bytes=self.max_line_bytes,
            max_bytes=self.max_bytes,
        )

    def beside(self) -> ReadOptions:
        """For class lists, weights and matrices, whose format is their own."""
        from semmetrics.data.readers import ReadOptions

        return ReadOptions(
            id_column=self.id_column,
            delimiter=self.delimiter,
            max_line_bytes=self.max_line_bytes,
            max_bytes=self.max_bytes,
        )

    def class_list(self) -> list[str] | None:
        """The given classes."""
        from semmetrics.data.readers import read_class_list

        return None if self.classes is None else read_class_list(self.classes, self.beside())

    def labels(self, path: str, classes: Sequence[str] | None) -> Labels:
        """The label lists of a file."""
        from semmetrics.data.inputs import as_labels

        return as_labels(path, classes=classes, options=self.options())


def understood(inputs: Iterable[Labels]) -> list[str]:
    """How each file was read; many that were read alike are one line.

    Examples
    --------
    >>> from semmetrics.data.inputs import as_labels
    >>> understood([as_labels({"a": ["cat"]}, source="gt.json")])
    ['gt.json: {id: [labels]}: 1 item, 1 label']
    """
    alike: dict[str, list[Labels]] = {}
    for labels in inputs:
        alike.setdefault(labels.understood, []).append(labels)
    lines = []
    for how, group in alike.items():
        if len(group) <= MANY:
            lines += [
                f"{one.source}: {how}: {count(len(one), 'item')}, "
                f"{count(len(one.side.codes), 'score' if one.ranked else 'label')}"
                for one in group
            ]
        else:
            names = ", ".join(one.source for one in group[:MANY])
            total = sum(len(one.side.codes) for one in group)
            lines.append(f"{names} and {len(group) - MANY} more: {how}: {count(total, 'label')}")
    return lines


def count(number: int, noun: str) -> str:
    """A number of things.

    Examples
    --------
    >>> count(1, "item"), count(2000, "item")
    ('1 item', '2,000 items')
    """
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
