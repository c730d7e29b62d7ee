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
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

import numpy as np

from semmetrics._version import __version__
from semmetrics.arguments import check_choice, check_fields
from semmetrics.core.backend import to_numpy
from semmetrics.core.hashing import UNVERSIONED, Hashes, by_value, hash_ids, mix
from semmetrics.core.ragged import Bools, Floats, Ints
from semmetrics.data.form import DEFAULTS
from semmetrics.data.json_files import parse_source
from semmetrics.data.side_inputs import Pair
from semmetrics.data.source import enough_memory, load
from semmetrics.data.tasks import LabelTask
from semmetrics.errors import Fact, InputError, render_facts
from semmetrics.kinds.base import Options, Tasks, each_task
from semmetrics.kinds.descriptions import finite_or_none
from semmetrics.kinds.labels import as_labels
from semmetrics.kinds.labels.task import label_task
from semmetrics.messages import listing, pluralize
from semmetrics.metrics.definition import Measure, model_key
from semmetrics.metrics.label_similarity import (
    label_vectors_of,
    similarities_of,
    written_codes,
)
from semmetrics.scoring.result import score_values
from semmetrics.store.files import open_output

SCHEMA = "semmetrics.calibration/1"
_UNSAVED = ("facts", "understood")
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
        Which items were held out.
    settings : mapping
        Conventions of the data.
    items : str
        Hashes of the ids that were used (64 bits each, in base64); empty for pairs, and where
        items are known by position.
    version : str
    facts : sequence of Fact
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
    facts: tuple[Fact, ...] = field(default=(), repr=False, compare=False)
    understood: tuple[str, ...] = field(default=(), repr=False, compare=False)

    @property
    def notes(self) -> list[str]:
        """The facts as texts."""
        return render_facts(self.facts)

    @property
    def digest(self) -> str:
        """Twelve hex digits of a SHA-256 of all that it says."""
        text = json.dumps(
            self.to_dict(), sort_keys=True, ensure_ascii=True, allow_nan=False
        )
        return hashlib.sha256(text.encode()).hexdigest()[:12]

    @property
    def note(self) -> str:
        """What a signature says of it."""
        return f"cal:{self.method}-{self.criterion.replace('|', '%7C')}@{self.digest}"

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
        own = {
            name: value for name, value in asdict(self).items() if name not in _UNSAVED
        }
        value = finite_or_none(self.value)
        curve = {
            name: [*map(finite_or_none, column)] for name, column in self.curve.items()
        }
        return {"schema": SCHEMA, **own, "value": value, "curve": curve}

    def to_json(self) -> str:
        """What ``save`` writes."""
        return json.dumps(self.to_dict(), indent=1, ensure_ascii=False, allow_nan=False)

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
    def load(
        path: str | os.PathLike[str], *, max_bytes: int = DEFAULTS.max_bytes
    ) -> Calibration:
        """Read what ``save`` wrote, of at most so many bytes.

        Raises
        ------
        InputError
            If the file holds no calibration, or one of another schema.
        """
        source = load(path, max_bytes)
        with enough_memory(source.name):
            entry = parse_source(source)
        return _read_calibration(entry, source.name)

    @staticmethod
    def from_json(text: str) -> Calibration:
        """Read what ``to_json`` wrote.

        Raises
        ------
        InputError
            If it is not a calibration.
        """
        return _read_calibration(json.loads(text), "a calibration")


def _read_calibration(entry: Any, where: str) -> Calibration:
    """Read a calibration from JSON, and check its values."""
    schema = entry.get("schema") if isinstance(entry, dict) else None
    if schema != SCHEMA:
        why = f"its schema is {schema!r}"
        raise InputError("not-a-calibration", where, why=why)
    known = {n: v for n, v in entry.items() if n not in ("schema", *_UNSAVED)}
    try:
        curve = {}
        for name, column in known["curve"].items():
            curve[name] = tuple(map(_float, column))
        known["curve"] = curve
        known["value"] = _float(known["value"])
        calibration = Calibration(**known)
        check_fields(calibration)
        wrong = _wrong_fields(calibration)
    except (AttributeError, KeyError, TypeError, ValueError, OverflowError) as error:
        raise InputError("not-a-calibration", where, why=error) from None
    if wrong:
        raise InputError("not-a-calibration", where, why=f"wrong {listing(wrong)}")
    return replace(calibration, threshold=float(calibration.threshold))


def _wrong_fields(calibration: Calibration) -> list[str]:
    """Return the fields with a value that no calibration has."""
    curve = calibration.curve
    criterion = calibration.criterion
    if calibration.method == "contrast":
        criterion = "contrast"
    is_in_curve = criterion in curve and calibration.threshold in curve["threshold"]
    lengths = {len(column) for column in curve.values()}
    settings = calibration.settings.values()
    hashes = base64.b64decode(calibration.items, validate=True)
    is_right = {
        "threshold": -1 <= calibration.threshold <= 1,
        "method": calibration.method in ("pairs", "contrast"),
        "curve": is_in_curve and len(lengths) == 1,
        "settings": all(isinstance(value, str) for value in settings),
        "items": len(hashes) % 8 == 0,
    }
    return [name for name, right in is_right.items() if not right]


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


def as_calibrations(
    given: Any, max_bytes: int = DEFAULTS.max_bytes
) -> list[Calibration]:
    """Calibrations from what a user gives: None, a path, a Calibration, or several of those.

    Raises
    ------
    InputError
        If one is none, or two are for the same embedding.
    """
    if given is None:
        return []
    several = given if np.iterable(given) and not isinstance(given, str) else [given]
    found = [
        one
        if isinstance(one, Calibration)
        else Calibration.load(one, max_bytes=max_bytes)
        for one in several
    ]
    names = [one.embedding for one in found]
    if twice := [name for name in dict.fromkeys(names) if names.count(name) > 1]:
        raise InputError("duplicate", role="the calibration for", value=twice[0])
    return found


def calibration_notes(
    tasks: Tasks, measures: Iterable[Measure], calibrations: Sequence[Calibration]
) -> list[Fact]:
    """Return what to know of calibrations: items that are scored and were used to calibrate.

    Parameters
    ----------
    tasks : mapping from system and part to LabelTask
    measures : iterable of Measure
        As they were asked for, before the threshold is known.
    calibrations : sequence of Calibration
    """
    keys = sorted({model_key(m) for m in measures if m["threshold"] == "auto"})
    found: dict[Fact, list[str]] = {}
    every = dict(each_task(tasks))
    for system, task in every.items():
        models = {task.models[key].embedder.identity: task.models[key] for key in keys}
        for one in calibrations:
            for fact in _facts_of(one, task, models.get(one.embedding)):
                found.setdefault(fact, []).append(system)
    return [
        fact if len(systems) == len(every) else replace(fact, where=", ".join(systems))
        for fact, systems in found.items()
    ]


def _facts_of(one: Calibration, task: Any, model: Any) -> Iterator[Fact]:
    """Yield what to know of the calibration of a model."""
    if model is None:
        yield Fact("unused-calibration", values={"embedding": one.embedding})
        return
    for name in ("lookup", "oov"):
        was, now = getattr(one, name), getattr(model, name)
        if was != now:
            yield Fact(
                "other-calibration", values={"name": name, "was": was, "now": now}
            )
    if UNVERSIONED in one.embedding:
        yield Fact("unversioned-calibration", values={"embedding": one.embedding})
    if one.method == "contrast":
        if isinstance(task.ids, range | np.ndarray) or not one.items:
            yield Fact("calibration-items-unknown")
        elif used := int(one.used(task.ids).sum()):
            yield Fact("calibration-items", used, values={"total": len(task)})


CRITERIA = ("f1", "youden", "accuracy")
# Of fewer, a share has a standard error of up to sqrt(0.25 / 30) = 0.09, and neighbouring
# thresholds differ by less.
_FEW = 30
_DECIMALS = 10  # cosines have nine


def pairs_task(pairs: Sequence[Pair], options: Options | None = None) -> LabelTask:
    """A task in which an item is a pair: one label predicted, the other true."""
    sides = [
        as_labels([[getattr(pair, name)] for pair in pairs], source=f"pairs, {name}")
        for name in ("a", "b")
    ]
    return label_task(sides[0], sides[1], options)


def of_pairs(
    task: LabelTask, pairs: Sequence[Pair], measure: Measure, *, criterion: str = "f1"
) -> Calibration:
    """The threshold that parts pairs that mean the same from those that do not.

    Parameters
    ----------
    task : LabelTask
        That of ``pairs_task``, with the label vectors of the measure.
    pairs : sequence of Pair
    measure : Measure
        The measure that the threshold is for.
    criterion : {"f1", "youden", "accuracy"}
        What is largest at the threshold; "youden" is the true positive rate less the false one.

    Returns
    -------
    Calibration

    Raises
    ------
    InputError
        If the criterion is unknown, or all pairs have the same answer or the same cosine.
    """
    check_choice("criterion", criterion, CRITERIA)
    same = np.array([pair.same for pair in pairs], np.bool_)
    if same.all() or not same.any():
        what = "the same" if same.all() else "something else"
        raise InputError("pairs-of-one-kind", n=len(same), what=what)
    key = model_key(measure)
    curve, auc = _pairs_curve(_similarities(task, key), same)
    place, model = best_place(curve[criterion]), label_vectors_of(task, key)
    if place is None or len(curve["threshold"]) < 3:
        raise InputError("equal-pairs", unknown=_unknown(model))
    n_same = int(same.sum())
    few = Fact(
        "few-pairs",
        values={"same": n_same, "others": len(same) - n_same, "least": _FEW},
    )
    facts = [few] * (min(few.values["same"], few.values["others"]) < _FEW)
    facts += [Fact("all-pairs-alike")] * (place in (0, len(curve["threshold"]) - 1))
    # in whatever order they came
    text = json.dumps(sorted(map(list, pairs)), ensure_ascii=True)
    return Calibration(
        threshold=curve["threshold"][place],
        method="pairs",
        criterion=criterion,
        value=curve[criterion][place],
        **_facts(model),
        n=len(pairs),
        unit="pair",
        data=hashlib.sha256(text.encode()).hexdigest()[:16],
        curve=curve,
        auc=auc,
        settings={"norm": task.settings["norm"]},
        facts=tuple(facts),
    )


def _facts(model: Any) -> dict[str, Any]:
    """Say what labels were compared by."""
    return {
        "embedding": model.embedder.identity,
        "lookup": model.lookup,
        "oov": model.oov,
    }


def _unknown(model: Any) -> str:
    """How many terms are not known, where a reader of an error should know."""
    n, of = model.counts["unknown"], pluralize(len(model.terms), "term")
    return f" ({n:,} of {of} unknown to {model.embedder.identity})" if n else ""


def _similarities(task: LabelTask, key: str) -> Floats:
    """The cosine of each pair, as the measures compute it; -inf where a label takes no part."""
    parts: list[Floats] = []
    for block in task.blocks():
        sides = (side.rows(block.start, block.stop) for side in (task.pred, task.ref))
        mine, theirs = map(written_codes, sides)
        source = similarities_of(block, key)
        table = source.gather(mine[:, None], theirs[:, None], by_term=False)[:, 0, 0]
        parts.append(to_numpy(table))
    return np.concatenate(parts)


def _pairs_curve(
    similarity: Floats, same: Bools
) -> tuple[dict[str, tuple[float, ...]], float]:
    """Precision and the like at every cut, thresholds rising; and the area under the ROC curve."""
    distinct, place = np.unique(similarity, return_inverse=True)
    yes = np.bincount(place, same, minlength=len(distinct))
    no = np.bincount(place, ~same, minlength=len(distinct))
    # between the cosines, below and above them; and the first cosine above each
    outer = np.concatenate([[-1.0], distinct[np.isfinite(distinct)], [1.0]])
    thresholds = np.unique(np.round((outer[:-1] + outer[1:]) / 2, _DECIMALS))
    above = np.searchsorted(distinct, thresholds, side="right")
    # how many of both kinds are above each cut
    tp, fp = (np.append(np.cumsum(n[::-1])[::-1], 0.0)[above] for n in (yes, no))
    n_yes, n_no = yes.sum(), no.sum()
    with np.errstate(invalid="ignore"):
        precision = tp / (tp + fp)
    columns = {
        "threshold": thresholds,
        "precision": precision,
        "recall": tp / n_yes,
        "f1": 2 * tp / (tp + fp + n_yes),
        "accuracy": (tp + n_no - fp) / (n_yes + n_no),
        "youden": tp / n_yes - fp / n_no,
    }
    below = np.cumsum(no) - no  # different pairs with a smaller cosine
    auc = float((yes * (below + no / 2)).sum() / (n_yes * n_no))
    return {name: tuple(column.tolist()) for name, column in columns.items()}, auc


def _hold_out(
    task: LabelTask, holdout: float, seed: int
) -> tuple[LabelTask, LabelTask]:
    """Return some items of a task, and the same items with the references of others.

    They are those whose hash with the seed is among the lowest share of all; each gets the
    references of another one, and gives its own to one.
    """

    def keyed(hashes: Hashes, stream: int) -> Hashes:
        """Return hashes that depend on the seed, and are others for each stream."""
        return mix(hashes ^ mix(mix(np.array([seed % 2**63])) + np.uint64(stream)))

    # the upper 53 bits are a float in [0, 1) exactly
    share = (keyed(task.hashes, 0) >> np.uint64(11)).astype(np.float64) * 2.0**-53
    chosen = task.take(np.flatnonzero(share < holdout))
    if len(chosen) < 2:
        raise InputError("small-holdout", n=len(chosen), of=len(task))
    order = np.lexsort((chosen.hashes, keyed(chosen.hashes, 1)))
    other = np.empty(len(order), np.int64)
    other[order] = np.roll(order, -1)
    return chosen, replace(chosen, ref=chosen.ref.take(other))


def of_contrast(
    task: LabelTask,
    measure: Measure,
    *,
    points: Sequence[float],
    holdout: float,
    seed: int,
) -> Calibration:
    """The threshold at which own and other references differ most.

    Parameters
    ----------
    task : LabelTask
        With the label vectors of the measure's embedding.
    measure : Measure
        With a threshold, still to be found.
    points : sequence of float
        The thresholds to choose from, rising.
    holdout : float, above 0 and at most 1
        The share of items that are held out to calibrate.
    seed : int
        Chooses them, and the other item of each.

    Returns
    -------
    Calibration

    Raises
    ------
    InputError
        If the holdout has fewer than two items, or the measure is undefined on it or nowhere higher
        with the own references.
    """
    if not 0 < holdout <= 1:
        raise InputError(
            "bad-option", name="holdout", value=holdout, wanted="a share such as 0.2"
        )
    if seed < 0:
        raise InputError(
            "bad-option", name="seed", value=seed, wanted="a whole number from 0"
        )
    chosen, others = _hold_out(task, holdout, int(seed))
    measures = [measure.with_options(threshold=point) for point in points]
    own, other = (score_values(some, measures) for some in (chosen, others))
    contrast = [a - b for a, b in zip(own, other, strict=True)]
    place = best_place(contrast)
    if place is None:
        raise InputError("undefined-on-holdout", measure=measure)
    model = label_vectors_of(task, model_key(measure))
    if contrast[place] <= 0:
        raise InputError("no-contrast", measure=measure, unknown=_unknown(model))
    few = Fact("few-items", len(chosen), values={"total": len(task), "least": _FEW})
    named = isinstance(task.ids, Sequence) and not isinstance(task.ids, range)
    hashes = np.sort(chosen.hashes).astype("<u8").tobytes()
    return Calibration(
        threshold=points[place],
        method="contrast",
        criterion=str(measure),
        value=contrast[place],
        **_facts(model),
        n=len(chosen),
        unit=task.unit,
        # of ids and references, and of ids and predictions
        data=f"{chosen.fingerprint:016x}{replace(chosen, ref=chosen.pred).fingerprint:016x}",
        curve={
            "threshold": tuple(points),
            "own": own,
            "other": other,
            "contrast": tuple(contrast),
        },
        holdout=float(holdout),
        seed=int(seed),
        settings=dict(task.settings),
        items=base64.b64encode(hashes).decode("ascii") if named else "",
        facts=(few,) if len(chosen) < _FEW else (),
    )
