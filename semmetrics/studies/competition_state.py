"""The state of a maximum discrepancy competition: its selected images, its file and its sheets.

Conventions
-----------
A state is one JSON file. It has the systems, the options, a fingerprint of each system's answers
for all images, the images selected for each pair, and the answers of both systems for them. The
file ends with a digest of its content. A file that was edited by hand raises an error.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

import numpy as np

from semmetrics._version import __version__
from semmetrics.core.hashing import by_value
from semmetrics.data.json_files import parse_source
from semmetrics.data.read_options import DEFAULTS
from semmetrics.data.source import enough_memory, load
from semmetrics.errors import Fact, InputError
from semmetrics.kinds.descriptions import finite_or_none
from semmetrics.messages import Spelling, keyword
from semmetrics.metrics.definition import DEFAULT_EMBEDDING
from semmetrics.metrics.parsing import parse
from semmetrics.reports import Records, Result, cells
from semmetrics.store.files import open_output

_SCHEMA = "semmetrics.mad/1"
_NOT_SAVED = ("facts", "understood")
_PAIR_COLUMNS = (
    "first",
    "second",
    "n",
    "undefined",
    "identical",
    "mean",
    "tied",
    "taken",
)


@dataclass(frozen=True)
class PairSelection:
    """The images that were selected for two systems.

    Attributes
    ----------
    first, second : str
        The systems.
    images : tuple of str
        The most discrepant image first.
    values : tuple of float
        How alike the systems answer for each of these images.
    n : int
        The number of images with a value.
    undefined : int
        The number of images without a value, which are never selected.
    identical : int
        The number of images for which both systems give the same answer.
    mean : float
        The mean value over the images with a value.
    tied : int
        The number of images with the same value as the last selected image.
    taken : int
        The number of selected images among the tied ones.
    """

    first: str
    second: str
    images: tuple[str, ...]
    values: tuple[float, ...]
    n: int
    undefined: int
    identical: int
    mean: float
    tied: int
    taken: int


@by_value()
@dataclass(frozen=True, eq=False, kw_only=True)
class DiscrepancySelection(Result):
    """The most discrepant images of each pair of systems: the state of a competition.

    Attributes
    ----------
    systems : tuple of str
    measure : str
        The measure of how alike two answers are.
    k : int
        The number of images selected for each pair.
    ties : {"orders", "id", "position", "random"}
        The rule that orders images of equal values.
    seed : int
        The seed of the rule "random".
    kind, noun : str
        The kind of the answers, and the name of one entry of an answer: "captions", "caption".
    n : int
        The number of images compared.
    left_out : int
        The number of images that some system has no answer for.
    excluded : tuple of str
        Images that were excluded from the selection.
    options : mapping
        Options of the data and of the measure.
    models : mapping
        Identities of the models used by the measure: "tok", embeddings.
    inputs : mapping from system to mapping
        "fingerprint" of the answers of the system and number of "empty" answers. With NGSM also the
        number of "duplicated" captions, which repeat a word three or more times in a row, and of
        the distinct "duplicated_words".
    pairs : tuple of PairSelection
    answers : mapping from image to mapping from system to list
        The answers of systems for the images of their pairs.
    version : str
    facts : tuple of Fact
        Notes on the input. Not saved.
    understood : tuple of str
        How each input was read. Not saved.
    """

    systems: tuple[str, ...]
    measure: str
    k: int
    ties: str
    seed: int
    kind: str
    noun: str
    n: int
    left_out: int
    excluded: tuple[str, ...]
    options: Mapping[str, Any]
    models: Mapping[str, str]
    inputs: Mapping[str, Mapping[str, Any]]
    pairs: tuple[PairSelection, ...]
    answers: Mapping[str, Mapping[str, list[Any]]] = field(repr=False)
    version: str = __version__
    facts: tuple[Fact, ...] = field(default=(), repr=False)
    understood: tuple[str, ...] = field(default=(), repr=False)

    @property
    def images(self) -> list[str]:
        """The distinct images of all pairs, which are to be annotated."""
        distinct: dict[str, None] = {}
        for pair in self.pairs:
            distinct.update(dict.fromkeys(pair.images))
        return list(distinct)

    # ---- files -----------------------------------------------------------------------------

    def to_dict(self) -> dict[str, Any]:
        """Return the state for JSON, with None for undefined values."""
        entry: dict[str, Any] = {"schema": _SCHEMA}
        for name, value in asdict(self).items():
            if name not in _NOT_SAVED:
                entry[name] = value
        for pair in entry["pairs"]:
            pair["mean"] = finite_or_none(pair["mean"])
        return entry

    def _entry(self, spell: Spelling = keyword) -> dict[str, Any]:
        """Return the content of the file that ``save`` writes."""
        entry = self.to_dict()
        return {**entry, "digest": _digest_entry(entry)}

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the state as JSON. The file is written atomically.

        Raises
        ------
        InputError
            If the file cannot be written.
        """
        with open_output(path) as out:
            out.write(self.to_json() + "\n")

    @staticmethod
    def load(
        path: str | os.PathLike[str], *, max_bytes: int = DEFAULTS.max_bytes
    ) -> DiscrepancySelection:
        """Read a state that ``save`` wrote.

        Parameters
        ----------
        path : path
        max_bytes : int
            The largest size of the file.

        Raises
        ------
        InputError
            If the file is too large, is not the state of a competition, or was edited.
        """
        source = load(path, max_bytes)
        with enough_memory(source.name):
            entry = parse_source(source)
        if not isinstance(entry, Mapping) or entry.get("schema") != _SCHEMA:
            raise InputError("not-a-state", source.name)
        content = {name: value for name, value in entry.items() if name != "digest"}
        if entry.get("digest") != _digest_entry(content):
            raise InputError("state-edited", source.name)
        del content["schema"]
        content["pairs"] = tuple(map(_read_pair, content["pairs"]))
        content["systems"] = tuple(content["systems"])
        content["excluded"] = tuple(content["excluded"])
        return _rename_default_embedding(DiscrepancySelection(**content))

    # ---- records and tables ----------------------------------------------------------------

    def to_records(self) -> Records:
        """Return one row per pair and selected image: place, value and both answers."""
        rows = []
        for pair in self.pairs:
            values_by_image = zip(pair.images, pair.values, strict=True)
            for place, (image, value) in enumerate(values_by_image, start=1):
                answers = self.answers[image]
                row = {
                    "first": pair.first,
                    "second": pair.second,
                    "place": place,
                    "image_id": image,
                    "value": value,
                    "first_answer": answer_text(answers[pair.first]),
                    "second_answer": answer_text(answers[pair.second]),
                }
                rows.append(row)
        return Records.from_rows(list(rows[0]), rows)

    def pair_records(self) -> Records:
        """Return one row per pair: how alike the systems are, and the ties at the last image."""
        columns: dict[str, Any] = {}
        for name in _PAIR_COLUMNS:
            columns[name] = [getattr(pair, name) for pair in self.pairs]
        columns["mean"] = np.array(columns["mean"])
        columns["last"] = [pair.values[-1] for pair in self.pairs]
        return Records(columns)

    def system_records(self) -> Records:
        """Return one row per system: empty answers and, if counted, duplicated captions."""
        columns = ["system", "fingerprint", "empty", "duplicated", "duplicated_words"]
        rows = [{"system": name, **self.inputs[name]} for name in self.systems]
        return Records.from_rows(columns, rows)

    def _tables(self, digits: int, scale: float) -> list[list[list[str]]]:
        """Return a table of the pairs, and one of the systems."""
        systems = self.system_records().drop("fingerprint")
        if systems.column("duplicated")[0] is None:
            systems = systems.drop("duplicated", "duplicated_words")
        return [cells(self.pair_records(), digits), cells(systems, digits)]

    # ---- sheets to fill --------------------------------------------------------------------

    def sheet(
        self,
        *,
        ratings: bool = False,
        annotators: int = 3,
        since: DiscrepancySelection | None = None,
    ) -> Records:
        """Return an empty sheet for annotators.

        The sheet does not name the systems. Images are ordered by a hash of their id, and the
        answers for an image by a hash of the answer.

        Parameters
        ----------
        ratings : bool
            Whether annotators rate the answers of systems, with each distinct answer for an image
            listed once. Otherwise they write references.
        annotators : int
            The number of rows for each image or answer.
        since : DiscrepancySelection, optional
            An earlier state, whose rows are left out.

        Returns
        -------
        Records
            Columns "image_id", "annotator" and "caption" (or ``noun``), which is empty for
            references. For ratings it is the answer, and a column "rating" is empty.
        """
        earlier_answers: dict[str, list[str]] = {}
        if since is not None:
            earlier_answers = since._answers_to_fill(ratings)
        rows = []
        for image, answers in self._answers_to_fill(ratings).items():
            for answer in answers:
                if answer in earlier_answers.get(image, ()):
                    continue
                for number in range(1, annotators + 1):
                    row = {
                        "image_id": image,
                        "annotator": str(number),
                        self.noun: answer,
                        "rating": "",
                    }
                    rows.append(row)
        columns = ["image_id", "annotator", self.noun]
        if ratings:
            columns.append("rating")
        return Records.from_rows(columns, rows)

    def _answers_to_fill(self, ratings: bool) -> dict[str, list[str]]:
        """Return the distinct answers for each image, or one empty string for its references."""
        answers_by_image = {}
        for image in sorted(self.images, key=_hash_text):
            texts = {""}
            if ratings:
                texts = set(map(answer_text, self.answers[image].values()))
            answers_by_image[image] = sorted(texts, key=_hash_text)
        return answers_by_image


def as_selection(selection: Any, options: Mapping[str, Any]) -> DiscrepancySelection:
    """Return a selection unchanged, or read it from the file it was saved in."""
    if isinstance(selection, DiscrepancySelection):
        return selection
    read = options.get("read") or DEFAULTS
    return DiscrepancySelection.load(selection, max_bytes=read.max_bytes)


def answer_text(answer: Iterable[str | Sequence[str]]) -> str:
    """Write the entries of an answer on one line, as in a sheet.

    Examples
    --------
    >>> answer_text(["cat", ["bin", "ashcan"]])
    'cat; bin, ashcan'
    """
    texts = []
    for entry in answer:
        if isinstance(entry, str):
            texts.append(entry)
        else:
            texts.append(", ".join(entry))
    return "; ".join(texts)


def _read_pair(entry: Mapping[str, Any]) -> PairSelection:
    """Return the images of a pair from their entry in a file."""
    values = dict(entry)
    values["images"] = tuple(values["images"])
    values["values"] = tuple(values["values"])
    if values["mean"] is None:
        values["mean"] = math.nan
    return PairSelection(**values)


def _rename_default_embedding(state: DiscrepancySelection) -> DiscrepancySelection:
    """Return the state of an earlier version with the present key of the default embedding."""
    if DEFAULT_EMBEDDING not in state.models:
        return state
    from semmetrics.scoring.earlier_selections import name_static, translate_models

    measures = parse(state.measure, state.kind)
    models = translate_models(state.models, measures)
    options = state.options
    if "embedding" not in options:
        options = name_static(options, measures)
    return replace(state, models=models, options=options)


def _hash_text(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _digest_entry(entry: Mapping[str, Any]) -> str:
    """Return the digest that detects edits of a state file."""
    return _hash_text(json.dumps(entry, sort_keys=True, ensure_ascii=True))
