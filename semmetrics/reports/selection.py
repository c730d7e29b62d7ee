"""What a maximum discrepancy competition selected: its state in a file, and the sheets to fill.

Conventions
-----------
The state of a competition is one JSON file: systems, options, a fingerprint of what each system
answers for all images, the images of each pair, and what both answer for those. It ends with a hash
of all this. A file that was changed by hand is refused.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict, field
from itertools import combinations
from typing import Any

from semmetrics._version import __version__
from semmetrics.arguments import check_fields, checked
from semmetrics.comparison.discrepant_images import TIES, PairSelection
from semmetrics.data.form import DEFAULTS
from semmetrics.data.json_files import parse_source
from semmetrics.data.source import enough_memory, load
from semmetrics.errors import InputError
from semmetrics.frozen import by_value, dataclass
from semmetrics.kinds.describe import finite_or_none
from semmetrics.options import KINDS, OPTIONS
from semmetrics.reports.records import Records
from semmetrics.reports.report import Report, cells
from semmetrics.store.files import open_output

__all__ = ["SCHEMA", "DiscrepancySelection", "answer_text"]

SCHEMA = "semmetrics.mad/1"
_ANNOTATORS = 100  # at most
_UNSAVED = ("notes", "understood")


@by_value()
@dataclass(frozen=True, eq=False, kw_only=True)
class DiscrepancySelection(Report):
    """The most discrepant images of each pair of systems: the state of a competition.

    Attributes
    ----------
    systems : tuple of str
    measure : str
        What tells how alike two answers are.
    k : int
        Images of each pair.
    ties : str
        How images of equal values are told apart: "id", "position" or "random".
    seed : int
        Of "random".
    kind, noun : str
        What is evaluated, and what an entry of an answer is: "captions", "caption".
    n : int
        Images compared.
    left_out : int
        Images that some system lacks.
    excluded : tuple of str
        Images that were not to be selected.
    options : mapping
        Options of the data and of the measure.
    models : mapping
        What answers were compared with, by identity: "tok", embeddings.
    inputs : mapping from system to mapping
        "fingerprint" of what it answers, "empty" answers, and with NGSM the "duplicated" captions,
        in which a word stands three or more times in a row, and how many "duplicated_words".
    pairs : tuple of PairSelection
    answers : mapping from image to mapping from system to list
        What systems answer for the images of their pairs.
    version : str
    notes : tuple of str
        What is odd; not saved.
    understood : tuple of str
        How each input was read; not saved.
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
    notes: tuple[str, ...] = field(default=(), repr=False)
    understood: tuple[str, ...] = field(default=(), repr=False)

    @property
    def images(self) -> list[str]:
        """The images of all pairs, each once: what is to be annotated."""
        return list(dict.fromkeys(image for pair in self.pairs for image in pair.images))

    def to_dict(self) -> dict[str, Any]:
        """As JSON has it: null for what is undefined."""
        entry: dict[str, Any] = {"schema": SCHEMA, **asdict(self)}
        for name in _UNSAVED:
            del entry[name]
        for pair in entry["pairs"]:
            pair["mean"] = finite_or_none(pair["mean"])
        return entry

    def to_json(self) -> str:
        """What ``save`` writes."""
        entry = self.to_dict()
        entry["digest"] = _digest(entry)
        return json.dumps(entry, indent=1, ensure_ascii=False, allow_nan=False)

    @checked
    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the state as JSON; a file appears only when it is complete.

        Raises
        ------
        InputError
            If it cannot be written.
        """
        with open_output(path) as out:
            out.write(self.to_json() + "\n")

    @staticmethod
    @checked
    def load(
        path: str | os.PathLike[str], *, max_bytes: int = DEFAULTS.max_bytes
    ) -> DiscrepancySelection:
        """Read what ``save`` wrote, of at most so many bytes.

        Raises
        ------
        InputError
            If the file holds no state of a competition, or was changed.
        """
        source = load(path, max_bytes)
        with enough_memory(source.name, max_bytes):
            return _selection_of(parse_source(source), source.name)

    def to_records(self) -> Records:
        """Return one row for each pair and image: place, value, and what both systems answer."""
        rows = [
            {
                "first": pair.first, "second": pair.second, "place": place, "image_id": image,
                "value": value,
                "first_answer": answer_text(self.answers[image][pair.first]),
                "second_answer": answer_text(self.answers[image][pair.second]),
            }
            for pair in self.pairs
            for place, (image, value) in enumerate(zip(pair.images, pair.values, strict=True), 1)
        ]  # fmt: skip
        columns = ["first", "second", "place", "image_id", "value", "first_answer", "second_answer"]
        return Records.from_rows(columns, rows)

    def pair_records(self) -> Records:
        """Return one row for each pair: how alike the systems are, and how the images were cut."""
        last = [pair.values[-1] for pair in self.pairs]
        names = ("first", "second", "n", "undefined", "identical", "mean", "tied", "taken")
        columns = {name: [getattr(pair, name) for pair in self.pairs] for name in names}
        columns["mean"] = [finite_or_none(value) for value in columns["mean"]]
        return Records({**columns, "last": last})

    def system_records(self) -> Records:
        """Return one row for each system: empty answers, and duplicated captions where counted."""
        columns = ["system", "fingerprint", "empty", "duplicated", "duplicated_words"]
        rows = [{"system": name, **self.inputs[name]} for name in self.systems]
        return Records.from_rows(columns, rows)

    def _tables(self, digits: int, scale: float) -> list[list[list[str]]]:
        """Return a table of the pairs, and one of the systems."""
        systems = self.system_records().drop("fingerprint")
        if systems.column("duplicated")[0] is None:
            systems = systems.drop("duplicated", "duplicated_words")
        return [cells(self.pair_records(), digits), cells(systems, digits)]

    def _repr_html_(self) -> str:
        return self.pair_records()._repr_html_()

    # ---- sheets to fill ---------------------------------------------------------------------

    @checked
    def sheet(
        self,
        *,
        ratings: bool = False,
        annotators: int = 3,
        since: DiscrepancySelection | None = None,
    ) -> Records:
        """Return the sheet that annotators fill.

        It names no system. Rows of references are in the order of a hash of the image, rows of
        ratings of one image in that of a hash of the answer.

        Parameters
        ----------
        ratings : bool
            Whether what systems answer is to be rated, each distinct answer to an image once;
            otherwise references are to be written.
        annotators : int
            Rows for each image or answer, at most 100.
        since : DiscrepancySelection, optional
            An earlier state: its rows are left out.

        Returns
        -------
        Records
            Columns "image_id", "annotator" and "caption" (what an entry is called), which is
            empty; of ratings the answer stands there, and "rating" is empty.

        Raises
        ------
        InputError
            If ``annotators`` is not 1 to 100.
        """
        if not 1 <= annotators <= _ANNOTATORS:
            raise InputError(f"annotators={annotators}", remedy=f"give 1 to {_ANNOTATORS}")
        known = {} if since is None else since._answers_to_fill(ratings)
        rows: list[dict[str, Any]] = []
        for image, answers in self._answers_to_fill(ratings).items():
            new = [answer for answer in answers if answer not in known.get(image, ())]
            for answer, number in ((a, n) for a in new for n in range(1, annotators + 1)):
                row = {"image_id": image, "annotator": str(number), self.noun: answer}
                rows.append({**row, "rating": ""} if ratings else row)
        return Records.from_rows(
            ["image_id", "annotator", self.noun, *(["rating"] if ratings else [])], rows
        )

    def _answers_to_fill(self, ratings: bool) -> dict[str, list[str]]:
        """Return the distinct answers of each image, or one empty text for its references."""
        images = sorted(self.images, key=_hashed)
        if not ratings:
            return {image: [""] for image in images}
        return {
            image: sorted({answer_text(a) for a in self.answers[image].values()}, key=_hashed)
            for image in images
        }


def answer_text(answer: Sequence[Any]) -> str:
    """Return an answer as a sheet has it: its entries on one line.

    Examples
    --------
    >>> answer_text(["cat", ["bin", "ashcan"]])
    'cat; bin, ashcan'
    """
    return "; ".join(entry if isinstance(entry, str) else ", ".join(entry) for entry in answer)


def _hashed(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _digest(entry: Mapping[str, Any]) -> str:
    text = json.dumps(entry, sort_keys=True, ensure_ascii=True, allow_nan=False)
    return hashlib.sha256(text.encode()).hexdigest()


def _selection_of(entry: Any, where: str) -> DiscrepancySelection:
    """Make a selection of what a file holds."""
    if not isinstance(entry, Mapping) or entry.get("schema") != SCHEMA:
        raise InputError(
            "this is no state of a competition",
            where=where,
            remedy="name a file that this wrote: semmetrics mad select -o FILE",
        )
    held = {name: value for name, value in entry.items() if name != "digest"}
    try:
        if entry.get("digest") != _digest(held):
            raise ValueError
        del held["schema"]
        pairs = [
            PairSelection(**{**pair, "images": tuple(pair["images"]),
                             "values": tuple(pair["values"]),
                             "mean": math.nan if pair["mean"] is None else pair["mean"]})
            for pair in held.pop("pairs")
        ]  # fmt: skip
        systems, excluded = tuple(held.pop("systems")), tuple(held.pop("excluded"))
        made = DiscrepancySelection(systems=systems, excluded=excluded, pairs=tuple(pairs), **held)
        _check_state(made)
        return made
    except (TypeError, ValueError, LookupError, AttributeError):
        raise InputError(
            "the state was changed after it was written",
            where=where,
            remedy="select again: semmetrics mad select",
        ) from None


def _check_state(state: DiscrepancySelection) -> None:
    """Raise ValueError, as wrong types do, where parts of a state do not fit each other."""
    check_fields(state)
    every = {frozenset(pair) for pair in combinations(state.systems, 2)}
    sound = sorted(map(len, every)) == [2] * len(state.pairs) and len(every) > 0
    sound = sound and state.kind in KINDS and state.ties in TIES
    sound = sound and state.options.keys() <= OPTIONS.keys()
    for value in state.options.values():  # of an object its type alone is there
        sound = sound and (not isinstance(value, dict) or isinstance(value["object"], str))
    for name in state.systems:
        own = state.inputs[name]
        sound = sound and isinstance(own["fingerprint"], str) and isinstance(own["empty"], int)
    for pair in state.pairs:
        check_fields(pair)
        sound = sound and {pair.first, pair.second} in every
        sound = sound and len({*pair.images}) == len(pair.values) == state.k > 0
        every.discard(frozenset((pair.first, pair.second)))
    for image, name in ((i, s) for p in state.pairs for i in p.images for s in (p.first, p.second)):
        answer = state.answers[image][name]
        sound = sound and isinstance(answer, list) and all(map(_is_entry, answer))
    if not sound:
        raise ValueError


def _is_entry(entry: Any) -> bool:
    return isinstance(entry, str) or (
        isinstance(entry, list) and all(isinstance(one, str) for one in entry)
    )
