"""Signatures: how a value was computed, in one line from which it can be computed again.

Conventions
-----------
``F1|avg:macro|labels:reference|…|norm:none|missing:error|n:833|data:9f2c…|v:0.2.0.dev0``
has the measure, all its options by their short keys, the conventions that changed the
data, the number of items, the fingerprint of their ids and reference labels, and the
version. ``weights:41c0…`` is the fingerprint of the ids and sample weights, if there are
weights. ``task:retrieval`` tells apart measures of different kinds of data with the same
name.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple
from urllib.parse import unquote

from semmetrics.data.tasks.labels import TAXONOMY
from semmetrics.errors import InputError
from semmetrics.metrics.definition import Definition, Frame, Measure, model_key
from semmetrics.metrics.registry import find, is_own, kinds_of, own_identity
from semmetrics.options import OPTIONS, join_names
from semmetrics.scoring.intervals import AUTO, Bootstrap
from semmetrics.scoring.statistics import Statistics

SETTINGS = tuple(option.key for option in OPTIONS.values() if option.key)
"""The keys of conventions that changed the data."""
MODELS = ("emb", "lookup", "oov", "taxonomy", "matrix")
"""The keys of embeddings and other models."""
_OTHER_KEYS = (
    "task",
    "groups",
    "k",
    "lists",
    "own",
    "L",
    "n",
    "data",
    "v",
    "ci",
    "fit",
    "cal",
    "verified",
)
_KNOWN_KEYS = frozenset({*SETTINGS, *MODELS, *_OTHER_KEYS})
_REQUIRED_KEYS = ("n", "data", "v")
_COMMANDS_OF_STUDIES = {"judged": "semmetrics meta", "test": "semmetrics compare"}
"""Keys of signatures that only the command of a study can compute again."""
_LIST_OPTIONS = ("labels", "candidates")
_KINDS_OF_FITS = ("df@", "parser-")
"""The beginnings of fits that a measure may have together with others."""
_MAX_DIGITS = 19
_MAX_SHOWN_LETTERS = 60
_ESCAPES = str.maketrans({"%": "%25", "|": "%7C", "\n": "%0A", "\r": "%0D"})


# ---- writing --------------------------------------------------------------------------


def signature(
    measure: Measure,
    statistics: Statistics,
    frame: Frame,
    bootstrap: Bootstrap | None = None,
    note: str = "",
) -> str:
    """Return the signature of a value.

    Parameters
    ----------
    measure : Measure
    statistics : Statistics
        The statistics from which the value was computed.
    frame : Frame
        For ``L``, the number of labels that are averaged over or ranked.
    bootstrap : Bootstrap, optional
        How the interval was computed.
    note : str
        What was fitted or calibrated, such as "fit:best-F1-micro" or
        "cal:contrast-SemF1@0123456789ab". Escaped, with | between several.
    """
    if measure["labels"] is not None:
        measure = measure.with_options(labels=frame.universe_name(measure))
    parts = [measure.definition.name, *map(escape, measure.signature())]
    if is_own(measure.definition):
        parts.append(f"own:{own_identity(measure.definition)}")
    parts += _setting_parts(statistics)
    parts += _model_parts(measure, statistics)
    if note:
        parts.append(note)
    if bootstrap is not None:
        parts.append(f"ci:{bootstrap}")
    if measure["labels"] is not None:
        parts.append(f"L:{frame.universe(measure).sum()}")
    elif measure.definition.needs_dictionary_size:
        parts.append(f"L:{frame.dictionary_size}")
    parts.append(f"n:{len(statistics)}")
    parts.append(f"data:{statistics.fingerprint:016x}")
    parts.append(f"v:{statistics.version}")
    return "|".join(parts)


def _setting_parts(statistics: Statistics) -> list[str]:
    """Return the parts on conventions that changed the data."""
    settings = dict(statistics.settings)
    if "weights" in settings:
        settings["weights"] = f"{statistics.weighting:016x}"
    parts = [f"{key}:{escape(value)}" for key, value in settings.items()]
    names_groups = "cand" in settings or "groups" in settings
    if statistics.groups is not None and not names_groups:
        # Some images have several captions, which are resampled together.
        parts.append("cand:several")
    return parts


def _model_parts(measure: Measure, statistics: Statistics) -> list[str]:
    """Return the parts on the embedding, taxonomy, phi and lists of labels of a measure."""
    models = statistics.models
    parts = []
    if measure["embedding"] is not None:
        identity, *rules = models[model_key(measure)].rsplit("|", 2)
        parts.append(f"emb:{escape(identity)}")
        parts += rules
    if "taxonomy" in measure.definition.needs:
        parts.append(f"taxonomy:{escape(models[TAXONOMY])}")
    if "phi" in measure.definition.needs:
        # A sum of several measures has no matrix. Its terms have one.
        matrix = models.get(f"phi:{measure['phi']}")
        if matrix:
            parts.append(f"matrix:{escape(matrix)}")
    lists = _identify_lists(measure, models)
    if lists:
        parts.append(f"lists:{escape(join_names(lists))}")
    return parts


def _identify_lists(measure: Measure, models: Mapping[str, str]) -> list[str]:
    """Return name=identity of each named list of labels that a measure uses.

    Lists that are options of the data are settings instead.
    """
    identities: dict[str, str] = {}
    for option in _LIST_OPTIONS:
        name = str(measure[option])
        identity = models.get(f"#list {name}")
        if identity:
            identities[name] = identity
    return [f"{name}={identity}" for name, identity in identities.items()]


def escape(value: str) -> str:
    """Escape a value for a signature, which is one line with | between its parts.

    Examples
    --------
    >>> escape("mine|2")
    'mine%7C2'
    """
    return value.translate(_ESCAPES)


# ---- reading --------------------------------------------------------------------------


def part_key(part: str) -> str:
    """Return the key of a part of a signature. The key of a fit includes its kind.

    Examples
    --------
    >>> part_key("avg:macro"), part_key("fit:df@9ec3d16a4b41"), part_key("fit:best-F1-micro")
    ('avg', 'fit:df', 'fit')
    """
    key, _, value = part.partition(":")
    if key == "fit":
        for beginning in _KINDS_OF_FITS:
            if value.startswith(beginning):
                return f"fit:{beginning[:-1]}"
    return key


class Signed(NamedTuple):
    """The content of a signature.

    Attributes
    ----------
    measure : Measure
    settings : dict of str
        Conventions that changed the data, by short key.
    models : dict of str
        The embedding and its rules, and other models, by short key.
    bootstrap : Bootstrap or None
    n : int
        The number of items.
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

    Version 0.1.0 wrote C-F1 with ``absent:skip``, although an absent class counted as 1.

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
    """Read a signature, so that its value can be computed again.

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
    definition, options = find(name, _find_task(name, parts))
    values = _read_parts(name, definition, options, parts)
    _check_values(values)
    k = None
    if "k" in values:
        k = int(values["k"])
    measure = definition(k=k, **options)
    settings = {key: values[key] for key in SETTINGS if key in values}
    models = {key: values[key] for key in MODELS if key in values}
    bootstrap = None
    if "ci" in values:
        bootstrap = _read_bootstrap(values["ci"])
    return Signed(
        measure,
        settings,
        models,
        bootstrap,
        int(values["n"]),
        values["data"],
        values["v"],
    )


def _find_task(name: str, parts: Sequence[str]) -> str | None:
    """Return the kind of data: the one in the signature, or the first with its settings.

    Return None if no kind with this measure has all the settings.
    """
    for part in parts:
        if part.startswith("task:"):
            return part.removeprefix("task:")
    keys = {part.partition(":")[0] for part in parts}
    kinds_of_settings = []
    for option in OPTIONS.values():
        if option.key in keys and option.kinds:
            kinds_of_settings.append(option.kinds)
    for kind in kinds_of(name):
        if all(kind in kinds for kinds in kinds_of_settings):
            return kind
    return None


def _read_parts(
    name: str, definition: Definition, options: dict[str, str], parts: Sequence[str]
) -> dict[str, str]:
    """Return the values of the parts that are not options of the measure, by key.

    The values of options are added to ``options``.
    """
    names_of_options = {option.short: option.name for option in definition.options}
    values: dict[str, str] = {}
    for part in parts:
        key, colon, value = part.partition(":")
        if not colon:
            raise InputError("bad-signature", why=f"{part!r} has no value")
        full_key = names_of_options.get(key, part_key(part))
        if full_key in options or full_key in values:
            raise InputError("bad-signature", why=f"{key!r} appears twice")
        if key in names_of_options:
            options[full_key] = unquote(value)
        elif key in _KNOWN_KEYS:
            values[full_key] = unquote(value)
        elif key in _COMMANDS_OF_STUDIES:
            raise InputError("signature-of-study", what=_COMMANDS_OF_STUDIES[key])
        else:
            raise InputError("bad-signature", why=f"{name} has no {part!r}")
    return values


def _check_values(values: Mapping[str, str]) -> None:
    """Check that required values are present, and that numbers are numbers."""
    missing_keys = [key for key in _REQUIRED_KEYS if key not in values]
    if missing_keys:
        raise InputError("bad-signature", why=f"no {', '.join(missing_keys)}")
    for key in ("n", "k"):
        number = values.get(key, "1")
        if not number.isdecimal() or len(number) > _MAX_DIGITS:
            why = f"{key}:{number[:_MAX_SHOWN_LETTERS]}"
            raise InputError("bad-signature", why=why)


def _read_bootstrap(text: str) -> Bootstrap:
    """Read how an interval was computed, such as "percentile,0.95,1000,12345"."""
    parts = text.split(",")
    try:
        method, level, resamples, seed = parts
        if method == AUTO:  # a signature contains the method that was used
            raise ValueError(method)
        return Bootstrap(float(level), int(resamples), int(seed), method)
    except ValueError:
        why = f"ci:{text} is not like ci:percentile,0.95,1000,12345"
        raise InputError("bad-signature", why=why) from None
