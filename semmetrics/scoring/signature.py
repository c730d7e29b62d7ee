"""Signatures: what was computed, in one line that can be computed again.

Conventions
-----------
``F1|avg:macro|labels:reference|…|norm:none|missing:error|n:833|data:9f2c…|v:0.2.0.dev0``: the
measure, every option of it by its short key, the conventions that changed the data, the number of
items, the fingerprint of their ids and reference labels, and the version. ``weights:41c0…`` is the
fingerprint of their ids and sample weights, where these are given. ``task:retrieval`` says which
measure is meant where several kinds of data have its name.
"""

from __future__ import annotations

from typing import NamedTuple
from urllib.parse import unquote

from semmetrics.data.tasks import TAXONOMY
from semmetrics.errors import InputError
from semmetrics.metrics.definition import Frame, Measure, model_key
from semmetrics.metrics.registry import find, is_own, kinds_of, own_identity
from semmetrics.options import OPTIONS, join_names
from semmetrics.scoring.intervals import AUTO, Bootstrap
from semmetrics.scoring.statistics import Statistics

_ESCAPES = str.maketrans({"%": "%25", "|": "%7C", "\n": "%0A", "\r": "%0D"})
SETTINGS = tuple(option.key for option in OPTIONS.values() if option.key)
MODELS = ("emb", "lookup", "oov", "taxonomy", "matrix")
_LISTS = ("labels", "candidates")
_OTHERS = (
    *("task", "groups", "k", "lists", "own", "L", "n", "data", "v", "ci", "fit", "cal"),
    "verified",
)
_STUDIES = {"judged": "semmetrics meta", "test": "semmetrics compare"}
_FITS = ("df@", "parser-")  # a measure may have both


def signature(
    measure: Measure,
    statistics: Statistics,
    frame: Frame,
    bootstrap: Bootstrap | None = None,
    note: str = "",
) -> str:
    """The signature of a value.

    Parameters
    ----------
    measure : Measure
    statistics : Statistics
        What it was computed from.
    frame : Frame
        For ``L``, the number of labels that an average runs over or that are ranked.
    bootstrap : Bootstrap, optional
        How its interval was made.
    note : str
        What was fitted or calibrated, as "fit:best-F1-micro" or "cal:contrast-SemF1@0123456789ab",
        escaped; several have | between them.
    """
    if measure["labels"] is not None:
        measure = measure.with_options(labels=frame.universe_name(measure))
    parts = [measure.definition.name, *map(escape, measure.signature())]
    if is_own(measure.definition):
        parts.append(f"own:{own_identity(measure.definition)}")
    settings = dict(statistics.settings)
    if "weights" in settings:
        settings["weights"] = f"{statistics.weighting:016x}"
    parts += [f"{key}:{escape(value)}" for key, value in settings.items()]
    if (
        statistics.groups is not None
        and not {"cand", "groups"} & statistics.settings.keys()
    ):
        parts.append("cand:several")  # of some images; they are resampled together
    parts += _fitted_parts(measure, statistics)
    if note:
        parts.append(note)
    if bootstrap is not None:
        parts.append(f"ci:{bootstrap}")
    if measure["labels"] is not None:
        parts.append(f"L:{frame.universe(measure).sum()}")
    elif measure.definition.dictionary:
        parts.append(f"L:{frame.dictionary}")
    data = f"data:{statistics.fingerprint:016x}"
    return "|".join([*parts, f"n:{len(statistics)}", data, f"v:{statistics.version}"])


def _fitted_parts(measure: Measure, statistics: Statistics) -> list[str]:
    """Return the parts on what a measure uses: embedding, taxonomy, phi and lists of labels."""
    parts = []
    if measure["embedding"] is not None:
        identity, *rules = statistics.models[model_key(measure)].rsplit("|", 2)
        parts += [f"emb:{escape(identity)}", *rules]
    if "taxonomy" in measure.definition.needs:
        parts.append(f"taxonomy:{escape(statistics.models[TAXONOMY])}")
    if "phi" in measure.definition.needs:
        # Of sums, the terms have it.
        matrix = statistics.models.get(f"phi:{measure['phi']}")
        if matrix:
            parts.append(f"matrix:{escape(matrix)}")
    identity_of_list = {}  # lists of options of their own are settings
    for name in _LISTS:
        identity_of_list[str(measure[name])] = statistics.models.get(
            f"#list {measure[name]}"
        )
    named = [f"{name}={found}" for name, found in identity_of_list.items() if found]
    if named:
        parts.append(f"lists:{escape(join_names(named))}")
    return parts


def part_key(part: str) -> str:
    """Return what a part of a signature says: its key, and of what was fitted the kind.

    Examples
    --------
    >>> part_key("avg:macro"), part_key("fit:df@9ec3d16a4b41"), part_key("fit:best-F1-micro")
    ('avg', 'fit:df', 'fit')
    """
    key, _, value = part.partition(":")
    kind = next((kind[:-1] for kind in _FITS if value.startswith(kind)), "")
    return f"{key}:{kind}" if key == "fit" and kind else key


def escape(value: str) -> str:
    """Write a value so that it can stand between the bars of a signature, which is one line.

    Examples
    --------
    >>> escape("mine|2")
    'mine%7C2'
    """
    return value.translate(_ESCAPES)


class Signed(NamedTuple):
    """What a signature says.

    Attributes
    ----------
    measure : Measure
    settings : dict of str
        Conventions by short key.
    models : dict of str
        The embedding, and how labels were looked up, by short key.
    bootstrap : Bootstrap or None
    n : int
    data, version : str
    """

    measure: Measure
    settings: dict[str, str]
    models: dict[str, str]
    bootstrap: Bootstrap | None
    n: int
    data: str
    version: str


def current_signature(text: str) -> str:
    """Return a signature as this version writes it.

    Version 0.1.0 signed C-F1 with ``absent:skip``, although an absent class counted as 1.

    Examples
    --------
    >>> current_signature("C-F1|avg:macro|absent:skip|n:3|data:00ff|v:0.1.0")
    'C-F1|avg:macro|absent:1|n:3|data:00ff|v:0.1.0'
    """
    text = text.strip()
    if text.startswith("C-F1|") and text.endswith("|v:0.1.0"):
        return text.replace("|absent:skip|", "|absent:1|")
    return text


def read_signature(text: str) -> Signed:
    """Read a signature, to compute it again.

    Raises
    ------
    InputError
        If a part is missing, unknown or wrong.

    Examples
    --------
    >>> signed = read_signature("CardinalityError|avg:example|n:3|data:00ff|v:0.2.0.dev0")
    >>> str(signed.measure), signed.n
    ('CardinalityError', 3)
    """
    name, *parts = current_signature(text).split("|")
    task = next((part[5:] for part in parts if part.startswith("task:")), None)
    if task is None:  # of the kinds that share a name, the one whose settings are there
        keys = {part.partition(":")[0] for part in parts}
        said = [
            option.kinds
            for option in OPTIONS.values()
            if option.key in keys and option.kinds
        ]
        task = next(
            (kind for kind in kinds_of(name) if all(kind in some for some in said)),
            None,
        )
    definition, options = find(name, task)
    shorts = {option.short: option.name for option in definition.options}
    known: dict[str, str] = {}
    for part in parts:
        key, colon, value = part.partition(":")
        if not colon:
            raise InputError("bad-signature", why=f"{part!r} has no value")
        if shorts.get(key, part_key(part)) in {*options, *known}:
            raise InputError("bad-signature", why=f"{key!r} appears twice")
        if key in shorts:
            options[shorts[key]] = unquote(value)
        elif key in {*SETTINGS, *MODELS, *_OTHERS}:
            known[part_key(part)] = unquote(value)
        elif key in _STUDIES:
            raise InputError("signature-of-study", what=_STUDIES[key])
        else:
            raise InputError("bad-signature", why=f"{name} has no {part!r}")
    lacking = [key for key in ("n", "data", "v") if key not in known]
    numbers = {key: known.get(key, "1") for key in ("n", "k")}
    wrong = [
        f"{key}:{n[:60]}"
        for key, n in numbers.items()
        if not n.isdecimal() or len(n) > 19
    ]
    if lacking or wrong:
        why = f"without {', '.join(lacking)}" if lacking else wrong[0]
        raise InputError("bad-signature", why=why)
    return Signed(
        definition(k=int(known["k"]) if "k" in known else None, **options),
        {key: known[key] for key in SETTINGS if key in known},
        {key: known[key] for key in MODELS if key in known},
        _bootstrap(known["ci"]) if "ci" in known else None,
        int(known["n"]),
        known["data"],
        known["v"],
    )


def _bootstrap(text: str) -> Bootstrap:
    parts = text.split(",")
    try:
        method, level, resamples, seed = parts
        if method == AUTO:  # a signature says what was done
            raise ValueError(method)
        return Bootstrap(float(level), int(resamples), int(seed), method)
    except ValueError:
        why = f"ci:{text} is not like ci:percentile,0.95,1000,12345"
        raise InputError("bad-signature", why=why) from None
