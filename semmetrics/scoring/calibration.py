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
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any

import numpy as np

from semmetrics._version import __version__
from semmetrics.core.hashing import Hashes, hash_ids
from semmetrics.core.ragged import Bools
from semmetrics.data.form import DEFAULTS
from semmetrics.data.lists import Ids
from semmetrics.data.source import load
from semmetrics.data.strict_json import parse
from semmetrics.errors import InputError, listing

__all__ = ["SCHEMA", "Calibration", "packed_hashes"]

SCHEMA = "semmetrics.calibration/1"
Curve = Mapping[str, tuple[float, ...]]


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
        Pairs, or items of the part.
    unit : str
        What those are.
    data : str
        A hash of the pairs, or of the ids, references and predictions of the part.
    curve : mapping from column to tuple of float
        "threshold", rising, and what was computed there; nan where undefined.
    auc : float or None
        Of pairs: the probability that a pair that means the same has the larger cosine.
    part : float or None
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
    part: float | None = None
    seed: int | None = None
    settings: Mapping[str, str] = field(default_factory=dict)
    items: str = field(default="", repr=False)
    version: str = __version__
    notes: tuple[str, ...] = field(default=(), repr=False)

    @property
    def digest(self) -> str:
        """Twelve hex digits of a SHA-256 of all that it says."""
        text = json.dumps(self.to_dict(), sort_keys=True, ensure_ascii=True, allow_nan=False)
        return hashlib.sha256(text.encode()).hexdigest()[:12]

    @property
    def note(self) -> str:
        """What a signature says of it."""
        return f"cal:{self.method}-{self.criterion.replace('|', '%7C')}@{self.digest}"

    def used(self, ids: Ids) -> Bools:
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
        del entry["notes"]
        entry["value"] = _number(self.value)
        entry["settings"] = dict(self.settings)
        entry["curve"] = {name: [*map(_number, column)] for name, column in self.curve.items()}
        return entry

    def to_json(self) -> str:
        """What ``save`` writes."""
        return json.dumps(self.to_dict(), indent=1, ensure_ascii=False, allow_nan=False)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write it as JSON; the file appears only when it is complete.

        Raises
        ------
        InputError
            If it cannot be written.
        """
        target = Path(os.path.realpath(path))
        place = target.with_name(f".{target.name}.{os.getpid()}.part")
        try:
            place.write_text(self.to_json() + "\n", encoding="utf-8", newline="\n")
            place.replace(target)
        except OSError as error:
            raise InputError(
                f"it cannot be written: {error.strerror or type(error).__name__}",
                where=str(path),
                remedy="name a file in a folder that exists",
            ) from error
        finally:
            place.unlink(missing_ok=True)

    @staticmethod
    def load(path: str | os.PathLike[str]) -> Calibration:
        """Read what ``save`` wrote.

        Raises
        ------
        InputError
            If the file holds no calibration, or one of another schema.
        """
        source = load(path, DEFAULTS.max_bytes)
        return _of_entry(parse(source.text, source.name), source.name)


def _number(value: float) -> float | None:
    return value if math.isfinite(value) else None


_KINDS: Mapping[str, tuple[type, ...]] = {
    "threshold": (int, float), "method": (str,), "criterion": (str,), "embedding": (str,),
    "lookup": (str,), "oov": (str,), "n": (int,), "unit": (str,), "data": (str,),
    "value": (int, float, type(None)), "curve": (dict,), "auc": (int, float, type(None)),
    "part": (int, float, type(None)), "seed": (int, type(None)), "settings": (dict,),
    "items": (str,), "version": (str,),
}  # fmt: skip


def _of_entry(entry: Any, where: str) -> Calibration:
    remedy = "write one with: semmetrics calibrate -o FILE"
    schema = entry.get("schema") if isinstance(entry, dict) else None
    if schema != SCHEMA:
        said = "" if schema is None else f": its schema is {schema!r}, not {SCHEMA!r}"
        raise InputError(f"this is no calibration{said}", where=where, remedy=remedy)
    wrong = [
        name
        for name, kinds in _KINDS.items()
        if not isinstance(entry.get(name, ...), kinds) or isinstance(entry[name], bool)
    ]
    if not wrong and entry["method"] not in ("pairs", "contrast"):
        wrong = ["method"]
    if not wrong and not _right_curve(entry):
        wrong = ["curve"]
    if not wrong and not -1 <= entry["threshold"] <= 1:
        wrong = ["threshold"]
    if not wrong and not _right_items(entry["items"]):
        wrong = ["items"]
    if wrong:
        raise InputError(
            f"the calibration has no valid {listing(wrong)}", where=where, remedy=remedy
        )
    known = {f.name: entry[f.name] for f in fields(Calibration) if f.name in _KINDS}
    known["value"] = math.nan if entry["value"] is None else float(entry["value"])
    known["threshold"] = float(entry["threshold"])
    known["curve"] = {
        name: tuple(math.nan if v is None else float(v) for v in column)
        for name, column in entry["curve"].items()
    }
    return Calibration(**known)


def _right_curve(entry: Mapping[str, Any]) -> bool:
    """Whether it has columns of numbers of one length, the threshold and the criterion in them."""
    curve = entry["curve"]
    columns = list(curve.values())
    if not all(isinstance(column, list) for column in columns):
        return False
    numbers = all(
        v is None or (isinstance(v, int | float) and not isinstance(v, bool))
        for column in columns
        for v in column
    )
    criterion = "contrast" if entry["method"] == "contrast" else entry["criterion"]
    placed = entry["threshold"] in curve.get("threshold", ())
    return numbers and len({*map(len, columns)}) == 1 and placed and criterion in curve


def _right_items(text: str) -> bool:
    try:
        return len(base64.b64decode(text, validate=True)) % 8 == 0
    except ValueError:
        return False


def packed_hashes(hashes: Hashes) -> str:
    """Hashes of ids as a calibration keeps them."""
    return base64.b64encode(np.sort(hashes).astype("<u8").tobytes()).decode("ascii")
