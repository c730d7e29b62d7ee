"""Calibrated similarity thresholds, which are saved and used by later scores.

Conventions
-----------
A calibration belongs to one embedding, which it names by its identity. It describes how and
on what data the threshold was found, and is immutable. The signature of a score names the
calibration by a hash of its content.
"""

from __future__ import annotations

import base64
import hashlib
import json
import math
import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

import numpy as np

from semmetrics._version import __version__
from semmetrics.arguments import check_fields
from semmetrics.core.hashing import UNVERSIONED, by_value, hash_ids
from semmetrics.core.ragged import Bools, Ints
from semmetrics.data.json_files import parse_source
from semmetrics.data.read_options import DEFAULTS
from semmetrics.data.source import enough_memory, load
from semmetrics.errors import Fact, InputError, render_facts
from semmetrics.kinds.base import Tasks, each_task
from semmetrics.kinds.descriptions import finite_or_none
from semmetrics.messages import listing
from semmetrics.metrics.definition import Measure, model_key
from semmetrics.store.files import open_output

SCHEMA = "semmetrics.calibration/1"
_UNSAVED_FIELDS = ("facts", "understood")
_BYTES_PER_HASH = 8
Curve = Mapping[str, tuple[float, ...]]


@by_value()
@dataclass(frozen=True, eq=False)
class Calibration:
    """A threshold for one embedding, and how it was found.

    Attributes
    ----------
    threshold : float
        Labels mean the same if their cosine is strictly above the threshold.
    method : str
        "pairs" (labelled pairs) or "contrast" (own references against the references of
        another item).
    criterion : str
        The statistic that is largest at the threshold: "f1", "youden" or "accuracy" of
        pairs, or the measure with the contrast.
    value : float
        The criterion at the threshold.
    embedding : str
        The identity of the embedding.
    lookup, oov : str
        How labels were looked up in the embedding.
    n : int
        The number of pairs, or of items in the holdout.
    unit : str
        What n counts.
    data : str
        A hash of the pairs, or of the ids, references and predictions of the holdout.
    curve : mapping from column to tuple of float
        "threshold", in ascending order, and what was computed at each threshold. nan if
        undefined.
    auc : float or None
        For pairs: the probability that a pair with the same meaning has a larger cosine
        than a pair without.
    holdout : float or None
        The share of items that was held out.
    seed : int or None
        The seed that chose these items.
    settings : mapping
        The conventions of the data.
    items : str
        Hashes of the ids that were used (64 bits each, in base64). Empty for pairs, and if
        items have no ids.
    version : str
    facts : sequence of Fact
        Notes on the data, such as terms that the embedding does not contain. Not saved.
    understood : sequence of str
        How each input was read. Not saved.
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
    facts: tuple[Fact, ...] = field(default=(), repr=False, compare=False)
    understood: tuple[str, ...] = field(default=(), repr=False, compare=False)

    @property
    def notes(self) -> list[str]:
        """The facts as strings."""
        return render_facts(self.facts)

    @property
    def digest(self) -> str:
        """Twelve hex digits of a SHA-256 of the saved content."""
        content = self.to_dict()
        text = json.dumps(content, sort_keys=True, ensure_ascii=True, allow_nan=False)
        return hashlib.sha256(text.encode()).hexdigest()[:12]

    @property
    def note(self) -> str:
        """The entry of a signature."""
        criterion = self.criterion.replace("|", "%7C")
        return f"cal:{self.method}-{criterion}@{self.digest}"

    def used(self, ids: Sequence[str] | range | Ints) -> Bools:
        """Return which items were used to find the threshold.

        Parameters
        ----------
        ids : sequence of str

        Returns
        -------
        bool array, shape (items,)
            False for all if the threshold was found on pairs, or on items without ids.
        """
        hash_bytes = base64.b64decode(self.items)
        used_hashes = np.frombuffer(hash_bytes, "<u8").astype(np.uint64)
        return np.isin(hash_ids(ids), used_hashes)

    def to_dict(self) -> dict[str, Any]:
        """Return the content for JSON. Undefined values are None."""
        content: dict[str, Any] = {"schema": SCHEMA}
        for name, value in asdict(self).items():
            if name not in _UNSAVED_FIELDS:
                content[name] = value
        curve = {}
        for name, column in self.curve.items():
            curve[name] = [finite_or_none(value) for value in column]
        content["value"] = finite_or_none(self.value)
        content["curve"] = curve
        return content

    def to_json(self) -> str:
        """Return the text that ``save`` writes."""
        return json.dumps(self.to_dict(), indent=1, ensure_ascii=False, allow_nan=False)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the calibration as JSON. The file appears when it is complete.

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
    ) -> Calibration:
        """Read a file that ``save`` wrote, of at most this size.

        Raises
        ------
        InputError
            If the file does not contain a calibration, or has another schema.
        """
        source = load(path, max_bytes)
        with enough_memory(source.name):
            content = parse_source(source)
        return _read_calibration(content, source.name)

    @staticmethod
    def from_json(text: str) -> Calibration:
        """Read a string that ``to_json`` returned.

        Raises
        ------
        InputError
            If it is not a calibration.
        """
        return _read_calibration(json.loads(text), "a calibration")


# ---- reading --------------------------------------------------------------------------


def _read_calibration(content: Any, where: str) -> Calibration:
    """Read a calibration from JSON, and check its values."""
    schema = None
    if isinstance(content, dict):
        schema = content.get("schema")
    if schema != SCHEMA:
        why = f"its schema is {schema!r}"
        raise InputError("not-a-calibration", where, why=why)
    fields = {}
    for name, value in content.items():
        if name not in ("schema", *_UNSAVED_FIELDS):
            fields[name] = value
    try:
        curve = {}
        for name, column in fields["curve"].items():
            curve[name] = tuple(map(_read_float, column))
        fields["curve"] = curve
        fields["value"] = _read_float(fields["value"])
        calibration = Calibration(**fields)
        check_fields(calibration)
        wrong_fields = _wrong_fields(calibration)
    except (AttributeError, KeyError, TypeError, ValueError, OverflowError) as error:
        raise InputError("not-a-calibration", where, why=error) from None
    if wrong_fields:
        why = f"wrong {listing(wrong_fields)}"
        raise InputError("not-a-calibration", where, why=why)
    return replace(calibration, threshold=float(calibration.threshold))


def _wrong_fields(calibration: Calibration) -> list[str]:
    """Return the fields with an impossible value."""
    curve = calibration.curve
    criterion = calibration.criterion
    if calibration.method == "contrast":
        criterion = "contrast"
    is_in_curve = criterion in curve and calibration.threshold in curve["threshold"]
    lengths = {len(column) for column in curve.values()}
    settings = calibration.settings.values()
    hash_bytes = base64.b64decode(calibration.items, validate=True)
    is_possible = {
        "threshold": -1 <= calibration.threshold <= 1,
        "method": calibration.method in ("pairs", "contrast"),
        "curve": is_in_curve and len(lengths) == 1,
        "settings": all(isinstance(value, str) for value in settings),
        "items": len(hash_bytes) % _BYTES_PER_HASH == 0,
    }
    return [name for name, possible in is_possible.items() if not possible]


def _read_float(value: float | None) -> float:
    """Return a number of a JSON file, in which None is nan."""
    if value is None:
        return math.nan
    return float(value)


def as_calibrations(
    source: Any, max_bytes: int = DEFAULTS.max_bytes
) -> list[Calibration]:
    """Return the calibrations that an option names.

    Parameters
    ----------
    source : path, Calibration, sequence of them, or None
    max_bytes : int
        The largest file that is read.

    Raises
    ------
    InputError
        If a file does not contain a calibration, or two calibrations are for the same
        embedding.
    """
    if source is None:
        return []
    entries = [source]
    if np.iterable(source) and not isinstance(source, str):
        entries = list(source)
    calibrations = []
    for entry in entries:
        if isinstance(entry, Calibration):
            calibrations.append(entry)
        else:
            calibrations.append(Calibration.load(entry, max_bytes=max_bytes))
    n_by_embedding = Counter(calibration.embedding for calibration in calibrations)
    for embedding, n in n_by_embedding.items():
        if n > 1:
            raise InputError("duplicate", role="the calibration for", value=embedding)
    return calibrations


# ---- notes ----------------------------------------------------------------------------


def calibration_notes(
    tasks: Tasks, measures: Iterable[Measure], calibrations: Sequence[Calibration]
) -> list[Fact]:
    """Return notes on calibrations, such as that scored items were used to calibrate.

    Parameters
    ----------
    tasks : mapping from system and part to LabelTask
    measures : iterable of Measure
        The requested measures, before the threshold is known.
    calibrations : sequence of Calibration
    """
    keys = {model_key(m) for m in measures if m["threshold"] == "auto"}
    systems_by_note: dict[Fact, list[str]] = {}
    task_by_system = dict(each_task(tasks))
    for system, task in task_by_system.items():
        models = {}
        for key in sorted(keys):
            model = task.models[key]
            models[model.embedder.identity] = model
        for calibration in calibrations:
            model = models.get(calibration.embedding)
            for note in _notes_on_task(calibration, task, model):
                systems_by_note.setdefault(note, []).append(system)
    notes = []
    for note, systems in systems_by_note.items():
        if len(systems) == len(task_by_system):
            notes.append(note)
        else:
            notes.append(replace(note, where=", ".join(systems)))
    return notes


def _notes_on_task(calibration: Calibration, task: Any, model: Any) -> Iterator[Fact]:
    """Yield the notes on the use of a calibration for a task.

    Parameters
    ----------
    calibration : Calibration
    task : LabelTask
    model : LabelVectors, or None
        The model with the embedding of the calibration, if a measure uses it.
    """
    embedding = calibration.embedding
    if model is None:
        yield Fact("unused-calibration", values={"embedding": embedding})
        return
    for name in ("lookup", "oov"):
        calibrated_rule = getattr(calibration, name)
        current_rule = getattr(model, name)
        if calibrated_rule != current_rule:
            values = {"name": name, "was": calibrated_rule, "now": current_rule}
            yield Fact("other-calibration", values=values)
    if UNVERSIONED in embedding:
        yield Fact("unversioned-calibration", values={"embedding": embedding})
    if calibration.method != "contrast":
        return
    if isinstance(task.ids, (range, np.ndarray)) or not calibration.items:
        yield Fact("calibration-items-unknown")
        return
    n_used = int(calibration.used(task.ids).sum())
    if n_used:
        yield Fact("calibration-items", n_used, values={"total": len(task)})
