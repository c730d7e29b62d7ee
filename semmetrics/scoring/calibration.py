"""A calibrated threshold: found once, saved, and used by later scores.

Conventions
-----------
A calibration belongs to one embedding, by its identity. It is frozen: it says how it was found and
on what data, and the signature of a score that uses it names it by a hash of all it says.
"""

from __future__ import annotations

import base64
import hashlib
import json
import math
import os
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, field
from itertools import chain
from typing import Any

import numpy as np

from semmetrics._version import __version__
from semmetrics.arguments import check_type, checked
from semmetrics.core.hashing import UNVERSIONED, Hashes, hash_ids
from semmetrics.core.ragged import Bools, Ints
from semmetrics.data.form import DEFAULTS
from semmetrics.data.json_files import parse_source
from semmetrics.data.source import enough_memory, load
from semmetrics.errors import InputError
from semmetrics.frozen import by_value, dataclass
from semmetrics.kinds import Tasks, each_task
from semmetrics.kinds.describe import finite_or_none
from semmetrics.messages import agreeing, listing, pluralize
from semmetrics.metrics.definition import Measure
from semmetrics.store.outputs import open_output

__all__ = [
    "as_calibrations",
    "best_place",
    "calibrated",
    "calibration_notes",
    "SCHEMA",
    "Calibration",
    "packed_hashes",
]

SCHEMA = "semmetrics.calibration/1"
_LARGEST = sys.float_info.max
Curve = Mapping[str, tuple[float, ...]]


@by_value()
@dataclass(frozen=True, eq=False)
class Calibration:
    """A threshold for one embedding, and how it was found.

    Attributes
    ----------
    threshold : float
        Labels whose cosine is above it, strictly, mean the same.
    method : str
        "pairs" (labelled pairs) or "contrast" (own references against those of another item).
    criterion : str
        What is largest at the threshold: "f1", "youden" or "accuracy" of pairs, or the measure
        whose contrast it is.
    value : float
        The criterion at the threshold.
    embedding, lookup, oov : str
        The identity of the embedding, and how labels were looked up.
    n : int
        Pairs, or items of the holdout.
    unit : str
        What those are.
    data : str
        A hash of the pairs, or of the ids, references and predictions of the holdout.
    curve : mapping from column to tuple of float
        "threshold", rising, and what was computed there; nan where undefined.
    auc : float or None
        Of pairs: the probability that a pair that means the same has the larger cosine.
    holdout : float or None
    seed : int or None
        Which items were held.
    settings : mapping
        Conventions of the data.
    items : str
        Hashes of the ids that were used (64 bits each, in base64); empty for pairs, and where
        items are known by position.
    version : str
    notes : sequence of str
        What a user is told of the data, as terms that the embedding does not know; not saved.
    understood : sequence of str
        How each input was read; not saved.
    """

    threshold: float
    method: str
    criterion: str
    value: float
    embedding: str
    lookup: str
    oov: str
    n: int
    unit: str
    data: str
    curve: Curve = field(repr=False)
    auc: float | None = None
    holdout: float | None = None
    seed: int | None = None
    settings: Mapping[str, str] = field(default_factory=dict)
    items: str = field(default="", repr=False)
    version: str = __version__
    notes: tuple[str, ...] = field(default=(), repr=False, compare=False)
    understood: tuple[str, ...] = field(default=(), repr=False, compare=False)

    @property
    def digest(self) -> str:
        """Twelve hex digits of a SHA-256 of all that it says."""
        text = json.dumps(self.to_dict(), sort_keys=True, ensure_ascii=True, allow_nan=False)
        return hashlib.sha256(text.encode()).hexdigest()[:12]

    @property
    def note(self) -> str:
        """What a signature says of it."""
        return f"cal:{self.method}-{self.criterion.replace('|', '%7C')}@{self.digest}"

    @checked
    def used(self, ids: Sequence[str] | range | Ints) -> Bools:
        """Which items were used to find the threshold, by their ids.

        Parameters
        ----------
        ids : sequence of str

        Returns
        -------
        bool array, shape (items,)
            False for all where it was found on pairs, or on items known by position.
        """
        mine = np.frombuffer(base64.b64decode(self.items), "<u8").astype(np.uint64)
        return np.isin(hash_ids(ids), mine)

    def to_dict(self) -> dict[str, Any]:
        """As JSON has it: null for what is undefined."""
        entry = {"schema": SCHEMA, **asdict(self)}
        del entry["notes"], entry["understood"]
        entry["value"] = finite_or_none(self.value)
        entry["settings"] = dict(self.settings)
        entry["curve"] = {
            name: [*map(finite_or_none, column)] for name, column in self.curve.items()
        }
        return entry

    def to_json(self) -> str:
        """What ``save`` writes."""
        return json.dumps(self.to_dict(), indent=1, ensure_ascii=False, allow_nan=False)

    @checked
    def save(self, path: str | os.PathLike[str]) -> None:
        """Write it as JSON; a file appears only when it is complete.

        Raises
        ------
        InputError
            If it cannot be written.
        """
        with open_output(path) as out:
            out.write(self.to_json() + "\n")

    @staticmethod
    @checked
    def load(path: str | os.PathLike[str], *, max_bytes: int = DEFAULTS.max_bytes) -> Calibration:
        """Read what ``save`` wrote, of at most so many bytes.

        Raises
        ------
        InputError
            If the file holds no calibration, or one of another schema.
        """
        source = load(path, max_bytes)
        with enough_memory(source.name, max_bytes):
            return _of_entry(parse_source(source), source.name)


def _is_number(value: Any) -> bool:
    """Whether it is a number that a float can hold."""
    if not isinstance(value, int | float) or isinstance(value, bool):
        return False
    return -_LARGEST <= value <= _LARGEST


def _is_number_or_none(value: Any) -> bool:
    return value is None or _is_number(value)


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _are_hashes(value: Any) -> bool:
    try:
        return _is_text(value) and len(base64.b64decode(value, validate=True)) % 8 == 0
    except ValueError:
        return False


def _is_curve(value: Any) -> bool:
    """Whether it has columns of numbers, all of one length."""
    if not isinstance(value, dict) or not all(isinstance(c, list) for c in value.values()):
        return False
    numbers = all(map(_is_number_or_none, chain.from_iterable(value.values())))
    return numbers and len({*map(len, value.values())}) == 1


_CHECKS: Mapping[str, Callable[[Any], bool]] = {
    "threshold": lambda value: _is_number(value) and -1 <= value <= 1,
    "method": lambda value: value in ("pairs", "contrast"),
    **dict.fromkeys(("criterion", "embedding", "lookup", "oov", "unit", "data"), _is_text),
    "n": lambda value: _is_number(value) and isinstance(value, int),
    "value": _is_number_or_none,
    "curve": _is_curve,
    "auc": _is_number_or_none,
    "holdout": _is_number_or_none,
    "seed": lambda value: _is_number_or_none(value) and not isinstance(value, float),
    "settings": lambda value: isinstance(value, dict),
    "items": _are_hashes,
    "version": _is_text,
}


def _of_entry(entry: Any, where: str) -> Calibration:
    remedy = "write one with Calibration.save, or: semmetrics calibrate -o FILE"
    schema = entry.get("schema") if isinstance(entry, dict) else None
    if schema != SCHEMA:
        said = "" if schema is None else f": its schema is {schema!r}, not {SCHEMA!r}"
        raise InputError(f"this is no calibration{said}", where=where, remedy=remedy)
    extra = [name for name in entry if name not in ("schema", *_CHECKS)]
    if extra:
        raise InputError(
            f"the calibration has {listing(extra)}, which {agreeing(len(extra), 'mean')} nothing",
            where=where,
            remedy=remedy,
        )
    known = {name: entry.get(name, ...) for name in _CHECKS}
    wrong = [name for name, is_right in _CHECKS.items() if not is_right(known[name])]
    if not wrong:
        criterion = "contrast" if known["method"] == "contrast" else known["criterion"]
        placed = known["threshold"] in known["curve"].get("threshold", ())
        wrong = [] if placed and criterion in known["curve"] else ["curve"]
    if wrong:
        raise InputError(
            f"the calibration has no valid {listing(wrong)}", where=where, remedy=remedy
        )
    curve = {name: tuple(map(_float, column)) for name, column in known["curve"].items()}
    numbers = {name: _float(known[name]) for name in ("threshold", "value")}
    return Calibration(**{**known, **numbers, "curve": curve})


def _float(value: float | None) -> float:
    return math.nan if value is None else float(value)


def best_place(values: Sequence[float]) -> int | None:
    """Where the largest value stands, of equal ones the last; None where all are undefined.

    Examples
    --------
    >>> best_place([float("nan"), 0.5, 0.5, 0.2]), best_place([float("nan")])
    (2, None)
    """
    known = [place for place, value in enumerate(values) if not math.isnan(value)]
    return max(known, key=lambda place: (values[place], place), default=None)


def packed_hashes(hashes: Hashes) -> str:
    """Hashes of ids as a calibration keeps them."""
    return base64.b64encode(np.sort(hashes).astype("<u8").tobytes()).decode("ascii")


def as_calibrations(given: Any, max_bytes: int = DEFAULTS.max_bytes) -> list[Calibration]:
    """Calibrations from what a user gives: None, a path, a Calibration, or several of those.

    Raises
    ------
    InputError
        If one is none, or two are for the same embedding.
    """
    if given is None:
        return []
    one = str | os.PathLike[str] | Calibration
    check_type("calibration", given, one | Sequence[one])
    several = [given] if isinstance(given, str | os.PathLike | Calibration) else given
    found = [
        one if isinstance(one, Calibration) else Calibration.load(one, max_bytes=max_bytes)
        for one in several
    ]
    names = [one.embedding for one in found]
    twice = [name for name in dict.fromkeys(names) if names.count(name) > 1]
    if twice:
        raise InputError(f"two calibrations are for {listing(twice)}", remedy="give one of them")
    return found


def calibrated(
    measure: Measure, task: Any, calibrations: Sequence[Calibration]
) -> tuple[Measure, str]:
    """The measure with the threshold calibrated for its embedding; and a note for the signature.

    Raises
    ------
    InputError
        If no calibration is for that embedding.
    """
    from semmetrics.metrics.label_similarity import label_vectors_of

    identity = label_vectors_of(task, str(measure["embedding"])).embedder.identity
    for one in calibrations:
        if one.embedding == identity:
            return measure.with_options(threshold=repr(one.threshold)), one.note
    raise InputError(
        f"{measure} compares by {identity}, and the calibration is for "
        f"{listing(one.embedding for one in calibrations)}",
        remedy="calibrate this embedding, name the calibrated one as embedding= (--embedding), "
        f"or write the threshold: {measure.definition.name}(threshold=0.5)",
    )


def calibration_notes(
    tasks: Tasks, measures: Iterable[Measure], calibrations: Sequence[Calibration]
) -> list[str]:
    """What a user is told of calibrations: items that are scored and were used to calibrate.

    Parameters
    ----------
    tasks : mapping from system and part to LabelTask
    measures : iterable of Measure
        As they were asked for, before the threshold is known.
    calibrations : sequence of Calibration

    Returns
    -------
    list of str
    """
    if not calibrations:
        return []
    names = {str(m["embedding"]) for m in measures if m["threshold"] == "auto"}
    found: dict[str, list[str]] = {}
    every = dict(each_task(tasks))
    for system, task in every.items():
        models = {task.models[name].embedder.identity: task.models[name] for name in sorted(names)}
        for one in calibrations:
            model = models.get(one.embedding)
            lines = [_IDLE.format(one.embedding)] if model is None else _notes(one, task, model)
            for line in lines:
                found.setdefault(line, []).append(system)
    return [
        line if len(systems) == len(every) else f"{', '.join(systems)}: {line}"
        for line, systems in found.items()
    ]


_IDLE = "the calibration for {} has no effect: no measure here with threshold=auto uses it"


def _notes(one: Calibration, task: Any, model: Any) -> list[str]:
    lines = [
        f"the threshold was calibrated with {name}:{getattr(one, name)}, and is used with "
        f"{name}:{getattr(model, name)}"
        for name in ("lookup", "oov")
        if getattr(one, name) != getattr(model, name)
    ]
    if UNVERSIONED in one.embedding:
        lines.append(
            f"{one.embedding} is a function without a version: whether the threshold was "
            "calibrated for this one is not known"
        )
    if one.method != "contrast":
        return lines
    if isinstance(task.ids, range | np.ndarray) or not one.items:
        return [
            *lines,
            "items are known by position: whether some of them were used to calibrate the "
            "threshold is not known",
        ]
    used = int(one.used(task.ids).sum())
    if used:
        of, were = pluralize(len(task), "scored item"), agreeing(used, "were")
        lines.append(f"{used:,} of {of} {were} used to calibrate the threshold")
    return lines
