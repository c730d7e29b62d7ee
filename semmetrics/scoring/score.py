"""Scores from Python objects, arrays or paths, in one call; and scores that a signature says.

Conventions
-----------
``rescore`` computes what a signature says again. What a signature cannot hold, such as a class
list, is given again; what then differs from it is reported, one line each.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import asdict, replace
from functools import partial
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from semmetrics.core.hashing import UNVERSIONED
from semmetrics.data.form import takes_options
from semmetrics.data.lists import gather
from semmetrics.errors import InputError, warn_user
from semmetrics.kinds import each_task
from semmetrics.kinds.common import by_name, read_embedding
from semmetrics.metrics.definition import Measure
from semmetrics.metrics.families import terms_of
from semmetrics.options import (
    OPTIONS,
    Data,
    Options,
    ResolvedOptions,
    is_asked,
    split_names,
)
from semmetrics.scoring.derived import with_derived
from semmetrics.scoring.evaluate import Progress, evaluate
from semmetrics.scoring.fits import Evaluated, fit, naming
from semmetrics.scoring.intervals import Bootstrap
from semmetrics.scoring.plan import CERTAINTY, Prepared, prepare_systems
from semmetrics.scoring.protocols import Plan
from semmetrics.scoring.result import Score, score_statistics
from semmetrics.scoring.signature import (
    Signed,
    current_signature,
    part_key,
    read_signature,
)
from semmetrics.scoring.table import ScoreTable

if TYPE_CHECKING:
    from typing_extensions import Unpack

_SIGNED = tuple(name for name, option in OPTIONS.items() if option.signed)
_DEFAULT = "default"
_NAMES_SHOWN = 5  # labels or captions that an error shows
_WHAT = {
    "own": "the source of the measure differs",
    "n": "the number of items differs",
    "data": "the ground truth differs",
    "classes": "the class list differs",
    "seen": "the seen classes differ",
    "unseen": "the unseen classes differ",
    "lists": "a list of classes differs",
    "gallery": "the gallery differs",
    "emb": "the embedding differs",
    "matrix": "phi differs",
    "lookup": "the rule of lookup differs",
    "oov": "what stands for unknown labels differs",
    "taxonomy": "the taxonomy differs",
    "fit:df": "the document frequencies differ",
    "fit:parser": "the parser of scene graphs differs",
    "weights": "the sample weights differ",
    "L": "the number of labels averaged over differs",
    "v": "the version differs",
}
_FITTED = ("fit", "cal")  # a threshold that was fitted then is now given


@takes_options()
def score(
    preds: Data | None,
    gts: Data,
    *,
    system: str | None = None,
    **options: Unpack[Options],
) -> ScoreTable:
    """Score the predictions of one system against ground truth.

    >>> score([["cat", "dog"], ["cat"]], [["cat"], ["cat"]], measures=["F1", "MacroF1"])
    measure   preds
    F1       0.8333
    MacroF1  0.5000

    Parameters
    ----------
    preds, gts : path, mapping, sequence, Series, matrix, Lists or Matrix
        See ``semmetrics.as_labels``, ``semmetrics.as_captions``, ``semmetrics.as_candidates`` and
        ``semmetrics.as_classes``.
        Predictions are None where embeddings stand in their place (``queries_embeddings``).
    system : str, optional
        What the table calls it. The default is the file's name without its ending, or "preds".
    **options

    Returns
    -------
    ScoreTable

    Raises
    ------
    InputError
        If the input or an option is wrong; the message has the place and the remedy.

    Examples
    --------
    >>> table = score([["cat", "dog"], ["cat"]], [["cat"], ["cat"]], measures=["F1", "MacroF1"])
    >>> [round(s.value, 4) for s in table]
    [0.8333, 0.5]
    """
    return score_systems({system or system_name(preds): preds}, gts, **options)


def system_name(data: Any) -> str:
    """Return what a system is called: its file's name without endings.

    Examples
    --------
    >>> system_name("runs/resnet.json.gz")
    'resnet'
    """
    if not isinstance(data, (str, os.PathLike)):
        return "preds"
    path = os.fspath(data)
    name = decode_path(Path(path).name.removesuffix(".gz"))
    return "preds" if path == "-" else name.rpartition(".")[0] or name


def decode_path(path: str) -> str:
    r"""Return a path as text that can be written: what of it is no UTF-8 as escapes.

    Examples
    --------
    >>> decode_path("caf\udce9")
    'caf\\xe9'
    """
    try:
        raw = path.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:  # halves of surrogate pairs, which Windows allows
        raw = path.encode("utf-8", "backslashreplace")
    return raw.decode("utf-8", "backslashreplace")


@takes_options()
def score_systems(
    systems: Mapping[str, Any], gts: Data, **options: Unpack[Options]
) -> ScoreTable:
    """Score several systems against the same ground truth.

    Parameters
    ----------
    systems : mapping from name to predictions
        Each as ``preds`` of ``score``.
    gts : path, mapping, sequence, Series, matrix, Lists or Matrix
    **options

    Returns
    -------
    ScoreTable

    Raises
    ------
    InputError
        If the input or an option is wrong; the message has the place and the remedy.
    """
    prepared = prepare_systems(systems, gts, options)
    warn_of_scores(prepared)
    return table_of(prepared)


def warn_of_scores(prepared: Prepared) -> bool:
    """Warn of scores that are no probabilities and should be, or are and should be logits.

    Returns
    -------
    bool
        Whether there was a warning. Of several systems, the first such one is named.
    """
    if prepared.kind.name != "labels":
        return False
    from semmetrics.kinds.labels.facts import activation_facts, probability_facts

    scores: dict[str, Any] = {}
    facts = []
    for name, task in each_task(prepared.tasks):
        label_task: Any = task
        scores[name] = label_task.pred.scores
        facts += activation_facts(label_task.odd, name, prepared.options)
    facts += probability_facts(scores, prepared.plan.measures, prepared.options)
    if facts:
        warn_user(facts[0])
    return bool(facts)


def table_of(prepared: Prepared) -> ScoreTable:
    """Score prepared tasks, and return the table with its notes."""
    scores = score_prepared(prepared)
    facts: Any = partial(prepared.facts, tuple(scores))  # made when they are read
    understood: Any = prepared.understood
    return ScoreTable(scores, prepared.plan.not_computed, facts, understood)


@takes_options(_SIGNED)
def rescore(
    signature: str,
    preds: Data,
    gts: Data,
    *,
    system: str | None = None,
    **options: Unpack[Options],
) -> ScoreTable:
    """Compute what a signature says again, on these predictions and this ground truth.

    Parameters
    ----------
    signature : str
    preds, gts
        As for ``score``.
    system : str, optional
    **options

    Returns
    -------
    ScoreTable
        ``differences`` says what differs from the signature; nothing where the same was computed.

    Raises
    ------
    InputError
        If the signature is wrong, an option contradicts it, or a class list, weights or an
        embedding that it was computed with is not given again.

    Examples
    --------
    >>> import semmetrics
    >>> table = semmetrics.score([["cat"]], [["cat", "dog"]], measures=["F1(average=micro)"])
    >>> again = rescore(table["F1(average=micro)"].signature, [["cat"]], [["cat", "dog"]])
    >>> round(again.scores[0].value, 4), again.differences
    (0.6667, [])
    """
    return rescore_systems(
        signature, {system or system_name(preds): preds}, gts, **options
    )


def rescore_systems(
    signature: str, systems: Mapping[str, Any], gts: Any, **options: Unpack[Options]
) -> ScoreTable:
    """Compute what a signature says for several systems; else as ``rescore``."""
    given = _options_of(read_signature(signature), options)
    prepared = prepare_systems(systems, gts, given)
    warn_of_scores(prepared)
    table = table_of(prepared)
    differences = _differences(current_signature(signature), table)
    differences += [
        f"{part} is a function without a version: whether it is the same one is not known"
        for part in _parts(signature).values()
        if UNVERSIONED in part
    ]
    return replace(table, differences=differences)


def _options_of(signed: Signed, given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options that a signature says, with those that are given beside it.

    Options that it says are refused, and a lack of what it cannot say.
    """
    if twice := [name for name in _SIGNED if is_asked(name, given.get(name))]:
        raise InputError("in-signature", name=twice[0])
    for name in ("classes", "seen", "unseen", "weights"):
        if name in signed.settings and given.get(name) is None:
            raise InputError("signed-input", name=name, was=signed.settings[name])
    said: dict[str, Any] = {name: None for name in _SIGNED if OPTIONS[name].key}
    for name in said:
        if (text := signed.settings.get(OPTIONS[name].key)) is not None:
            said[name] = OPTIONS[name].read(text)
    said |= {name: signed.models.get(name) for name in ("lookup", "oov")}
    if given.get("captions") is not None:
        from semmetrics.data.rankings import computed_as  # of retrieval alone

        how = computed_as(signed.models.get("matrix", ""), str(signed.measure["phi"]))
        said |= {name: how[name] for name in how if given.get(name) is None}
    said["ignore"] = split_names(signed.settings.get("ignore", ""))
    # it splits synonyms at commas
    if "kubany2020" in (said["normalize"] or "").split("+"):
        said["ignore"] = [name.replace(" | ", ",") for name in said["ignore"]]
    if signed.settings.get("cand") == "references":
        said["score_references"] = True
    if signed.measure["embedding"] is not None:
        said["embedding"] = _embeddings(signed, given.get("embedding"))
    asked = given.get("ci") is not False  # an interval may be left out
    said |= {"measures": [signed.measure], "ci": (asked and signed.bootstrap) or False}
    said["task"] = given.get("task") or signed.measure.definition.kind
    return {**given, **said}


def _embeddings(signed: Signed, embedding: Any) -> dict[str, Any]:
    """Return embeddings by name, under the name that the measure has for its own.

    Raises
    ------
    InputError
        If the signature was computed with an embedding that is not given again; those that ship
        with the package need not be.
    """
    name, identity = str(signed.measure["embedding"]), signed.models.get("emb")
    given = by_name(read_embedding(embedding))
    if name not in given and list(given) == [_DEFAULT]:
        given = {name: given[_DEFAULT]}
    if name in given:
        return given
    shipped: str | None = signed.measure.definition.own_embedding
    if identity is not None:
        from semmetrics.embed.open import find_shipped

        shipped = find_shipped(identity)
    if shipped is None:
        before = "" if name == _DEFAULT else f"{name}="
        raise InputError("signed-input", name="embedding", was=f"{before}{identity}")
    return {name: shipped, **given}


def _differences(text: str, table: ScoreTable) -> list[str]:
    """Say what differs between a signature and the scores computed from it, one line each."""
    each = (
        (one.system, _compare(_parts(text), _parts(one.signature))) for one in table
    )
    lines = gather((line, system) for system, some in each for line in some)
    return [
        line if len(systems) == len(table.systems) else f"{', '.join(systems)}: {line}"
        for line, systems in lines.items()
    ]


def _parts(text: str) -> dict[str, str]:
    """Return the parts of a signature by what they say, without a threshold that was fitted.

    Such a threshold is given when a signature is computed again.
    """
    parts = {part_key(part): part for part in text.split("|")[1:]}
    return {key: part for key, part in parts.items() if key not in _FITTED}


def _compare(then: dict[str, str], now: dict[str, str]) -> list[str]:
    said = {key: f"{text} from the signature's" for key, text in _WHAT.items()}
    lines = [
        f"{said.get(key, f'{key} differs from the signature')}: {now[key]} instead of {then[key]}"
        for key in dict.fromkeys((*_WHAT, *then))
        if key in then and key in now and then[key] != now[key]
    ]
    if unsaid := [key for key in now if key not in then]:
        computed = "|".join(now[key] for key in unsaid)
        lines.append(
            f"the signature does not say {', '.join(unsaid)}; computed with {computed}"
        )
    if lost := [part for key, part in then.items() if key not in now]:
        lines.append(f"the signature says {'|'.join(lost)}, which was not computed so")
    return lines


def score_prepared(prepared: Prepared) -> list[Score]:
    """Score prepared tasks.

    Returns
    -------
    list of Score
        Part by part, system by system, measures in the order given.

    Raises
    ------
    InputError
        If nothing in an input such as document frequencies occurs in the data.
    """
    options, plan = prepared.options, prepared.plan
    ci, progress = interval_options(options), options["progress"]
    keep_rows = options["keep_rows"] or ci is not None  # intervals need them
    found: dict[str, dict[str, Evaluated]] = {}
    for part in dict.fromkeys(
        part for parts in prepared.tasks.values() for part in parts
    ):
        tasks = {
            name: parts[part] for name, parts in prepared.tasks.items() if part in parts
        }
        wanted, fitted = wanted_measures(plan, part), {}
        for name, task in tasks.items():
            with naming(name * (len(tasks) > 1)):
                fitted[name] = [
                    fit(measure, task, prepared.calibrations) for measure in wanted
                ]
        for name, task in tasks.items():
            with naming(name * (len(tasks) > 1)):
                measures = [measure for measure, _ in fitted[name]]
                made = evaluate(task, measures, keep_rows=keep_rows, progress=progress)
                found.setdefault(part, {})[name] = fitted[name], made
    noted = [made.noted for systems in found.values() for _, made in systems.values()]
    names = [str(name) for name in islice(prepared.inputs[-1].vocabulary, _NAMES_SHOWN)]
    prepared.kind.check_shared(noted, options, names)
    scores = score_evaluated(found, plan, ci, progress)
    tasks_of: Any = prepared.tasks
    return [
        score
        if score.terms
        else replace(score, task=tasks_of[score.system][score.part])
        for score in scores
    ]


def wanted_measures(plan: Plan, part: str) -> list[Measure]:
    """Return what is evaluated of a part: the measures, and the terms of derived ones."""
    found = [measure for measure in plan.measures if not terms_of(measure)]
    terms = [
        term for measure in plan.measures for term in terms_of(measure).get(part, ())
    ]
    return list(dict.fromkeys([*found, *terms]))


def score_evaluated(
    found: Mapping[str, Mapping[str, Evaluated]],
    plan: Plan,
    ci: Bootstrap | None = None,
    progress: Progress = None,
) -> list[Score]:
    """Score what was evaluated, by part and system."""
    named, scores = dict(zip(plan.measures, plan.headings, strict=True)), list[Score]()
    for part, systems in found.items():
        headings = [
            f"{part} {named.get(m, str(m))}".lstrip()
            for m in wanted_measures(plan, part)
        ]
        fitted = {name: measures for name, (measures, _) in systems.items()}
        statistics = {name: made for name, (_, made) in systems.items()}
        made = score_statistics(
            statistics, fitted, headings=headings, ci=ci, progress=progress
        )
        scores += [replace(score, part=part) for score in made]
    return with_derived(scores, named, ci) if any(map(terms_of, named)) else scores


def interval_options(options: ResolvedOptions) -> Bootstrap | None:
    """Return how intervals are made; None without."""
    ci, given = options["ci"], {name: options[name] for name in CERTAINTY}
    if isinstance(ci, Bootstrap):
        own = {**asdict(ci), "ci_method": ci.method}
        for name, value in given.items():
            if name in options.given and value != own[name]:
                raise InputError(
                    "conflicting-options", names=f"ci={ci!r} and {name}={value!r}"
                )
        return ci
    if not isinstance(ci, (bool, np.bool_)):
        wanted = "True, with the level as level=0.9"
        raise InputError("bad-option", name="ci", value=ci, wanted=wanted)
    made = Bootstrap.of(options)
    return made if ci else None
