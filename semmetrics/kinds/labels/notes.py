"""What a user should know of label sets besides the scores.

`semmetrics.kinds.labels.oddities` finds what is odd.
"""

from __future__ import annotations

import json
import os
import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import chain
from typing import Any, NamedTuple

import numpy as np

from semmetrics.core.backend import round_to
from semmetrics.core.ragged import (
    Floats,
    row_numbers,
)
from semmetrics.data.lists import Lists
from semmetrics.data.observations import Observations
from semmetrics.data.tasks import LabelTask
from semmetrics.errors import Fact, first_of_each
from semmetrics.kinds import (
    embedding_notes,
    embeddings,
    item_notes,
    note_builders,
    sample_weights,
    side_input_checks,
    side_observations,
)
from semmetrics.kinds.base import (
    Measures,
    Notes,
    Options,
    Tasks,
    each_task,
)
from semmetrics.kinds.labels.joined import (
    ALL_DELIMITERS,
)
from semmetrics.kinds.labels.normalization import (
    Ignored,
    normalization,
)
from semmetrics.kinds.labels.oddities import (
    ALIKE,
    DIFFICULT,
    ENCODED,
    FLAGS,
    HELD,
    IGNORED,
    LEFT_OUT,
    LONE,
    MINUS,
    MISSING,
    NAMED,
    ORDER,
    PLACED,
    PROBABLE,
    ROUNDING,
    SCORED,
    SCORES,
    SHARED,
    STEPS,
    TERMS,
    UNVERIFIED,
    WITH_PARENTS,
    WRITTEN,
)
from semmetrics.metrics.definition import (
    Measure,
    model_key,
)
from semmetrics.options import is_given
from semmetrics.schema import CLASS_NAMES

SIDES = {"pred": "predicted", "ref": "reference"}
_OTHERS = {"pred": "ground truth", "ref": "predictions"}
_THRESHOLD_RULES = ("threshold", "at-least")
_ORDERS = {"sorted": "sorted sets", "columns": "the columns", "keys": "the keys"}
_SHOWN = 3  # measures or thresholds that are named
_HEADERS = (*CLASS_NAMES, "categories", "names")  # of a column of classes
_ITEM_FLAG = re.compile(
    r"(is_)?(valid|test|train|val|validation|training)|(cv_?)?fold|split|iscrowd|is_(crowd|deleted)",
    re.IGNORECASE,
)
"""Columns that tables of labels often have for items. They may also be labels."""
_WORD2VEC = re.compile(r"word2vec|google-?news", re.IGNORECASE)


def label_notes(
    tasks: Tasks,
    measures: Measures,
    options: Options,
    noted: Notes,
    inputs: Sequence[Any] = (),
) -> list[Fact]:
    """Note what was odd, left out or not known, and which options have no effect.

    Parameters
    ----------
    tasks : mapping from system and part to LabelTask
    measures : sequence of Measure
    options : ResolvedOptions
    noted : mapping from name of a task to mapping
        What steps noted, where tasks were evaluated.
    inputs : sequence of Lists
        The predictions of each system, then the ground truth.
    """
    facts: list[Fact] = []
    of_truth: list[Fact] = []
    truth = inputs[-1].source if inputs else ""
    every = [task for _, task in each_task(tasks)]
    ignored = Ignored.of(options.ignore, normalization(options.normalize)).names
    for name, task in each_task(tasks):
        odd = noted.get(name, task.observations)
        facts += note_builders.counted(
            "shared-terms", len(odd.names_of(SHARED)), (), name
        )
        lost = len(ignored) - len(odd.names_of(IGNORED))
        facts += note_builders.counted("ignored-labels-not-found", lost, (), name)
        if lost:
            facts += _ignored_files(options.ignore)
        facts += _taxonomy_facts(odd, name)
        facts += item_notes.count_facts(name, task) + oddity_facts(
            odd, "pred", name, options
        )
        facts += _score_facts(odd, name, task, measures, options)
        facts += activation_facts(odd, name, options)
        facts += dict.fromkeys(_model_facts(name, task, odd))
        n_left_out = odd.number(LEFT_OUT)
        if n_left_out:
            facts.append(
                Fact(
                    "unverified-labels", n_left_out, where=name, values={"other": truth}
                )
            )
        of_truth += _truth_facts(odd, truth, options)
    for one in inputs:
        facts += unlike_scores(one)
    if options.classes is None:
        facts += _nested_facts(inputs) + _column_facts(inputs, options)
    facts += _header_facts(options.classes, inputs)
    facts += first_of_each(of_truth) + item_notes.different_items(tasks)
    facts += embedding_notes.unused_embeddings(measures, options.embedding)
    models = chain.from_iterable(task.models.values() for task in every)
    facts += embedding_notes.cache_facts(
        (model.embedder for model in models), options.cache
    )
    facts += sample_weights.unused_weights(options.weights, inputs)
    if options.taxonomy is not None:
        facts += options.taxonomy.notes
    if noted:  # a calibration evaluates nothing
        facts += uncalibrated_facts(every[0].models, measures, options)
    facts += embedding_notes.unused_rules(measures, options, "SemF1")
    return facts + _unused_options(every, measures, options)


def _header_facts(classes: Any, inputs: Sequence[Any]) -> list[Fact]:
    """Note a class list whose first class is the header of a column, and is in no item."""
    sides = [side for side in inputs if isinstance(side, Lists)]
    if not classes or not sides or len(sides) < len(inputs):
        return []
    first = classes[0]
    if not isinstance(first, str) or first.strip().casefold() not in _HEADERS:
        return []
    for side in sides:
        for code in np.unique(side.side.codes).tolist():
            if first in side.terms[code]:
                return []
    return [Fact("header-as-class", values={"name": first})]


def _ignored_files(names: Any) -> list[Fact]:
    """Note labels to ignore that are the names of files."""
    texts = [name for name in names or () if isinstance(name, str)]
    files = [name for name in texts if os.path.isfile(name)]  # noqa: PTH113 - also long names
    return [Fact("ignored-file", values={"name": name}) for name in files]


def _taxonomy_facts(odd: Observations, where: str) -> list[Fact]:
    """Note a taxonomy in which no label of the data has a parent, as if it was upside down."""
    if odd.number(WITH_PARENTS):
        return []
    return note_builders.counted("no-parents", odd.number(PLACED), (), where)


def _truth_facts(odd: Observations, truth: str, options: Options) -> list[Fact]:
    """Note what was odd in the ground truth."""
    facts = oddity_facts(odd, "ref", truth, options)
    if odd.has(MINUS, "ref"):
        facts.append(Fact("true-minus", where=truth))
    elif odd.has(SCORES, "ref"):
        facts.append(Fact("true-scores", where=truth))
    facts += side_observations.swapped_facts(odd)
    facts += note_builders.counted("difficult-labels", odd.number(DIFFICULT), (), truth)
    facts += note_builders.counted(
        "unverified-cells", odd.number(UNVERIFIED), (), truth
    )
    return facts


def _unused_options(
    tasks: Sequence[LabelTask], measures: Measures, options: Options
) -> list[Fact]:
    """Note the options that have no effect on these tasks and measures."""
    reasons: dict[str, str] = {}
    if not any(map(_uses_set_sizes, measures)):
        reasons["set_size_probs"] = "only decode=cardinality uses it"
        reasons["first_set_size"] = "only decode=cardinality uses it"
    if all(task.unverified is None for task in tasks):
        reasons["unknown_value"] = "the ground truth has no 0/1 cells"
    if all(task.pred.scores is None for task in tasks):
        reasons["activation"] = "the predictions have no scores"
    if not any("taxonomy" in measure.definition.needs for measure in measures):
        reasons["taxonomy"] = "no measure here counts ancestors (hF does)"
    facts = []
    for name, reason in reasons.items():
        if is_given(options.value(name)):
            facts.append(note_builders.no_effect(name, reason))
    return facts


def _uses_set_sizes(measure: Measure) -> bool:
    return str(measure["decode"]).startswith(("cardinality", "dirichlet"))


def _column_facts(inputs: Sequence[Any], options: Options) -> list[Fact]:
    """Note columns of matrices that are probably no labels.

    They are in one of the two files only, although these share nearly all columns, or they have the
    name of a flag of items and the same cells in both files.
    """
    facts: list[Fact] = []
    if not inputs or not _is_named_matrix(inputs[-1]):
        return facts
    *systems, truth = inputs
    clean = normalization(options.normalize)
    ignored = {
        name for names in Ignored.of(options.ignore, clean).names for name in names
    }
    names_of_truth = {clean(name): name for name in truth.vocabulary}
    for pred in systems:
        if not _is_named_matrix(pred):
            continue
        names = {clean(name): name for name in pred.vocabulary}
        one_sided = _one_sided_columns(names, names_of_truth)
        flags = [name for name in pred.vocabulary if _is_flag_column(name, pred, truth)]
        for code, columns in (
            ("one-sided-columns", one_sided),
            ("flag-columns", flags),
        ):
            shown = [column for column in columns if column not in ignored]
            if shown:
                values = {"column": shown[0]}
                facts.append(Fact(code, len(shown), tuple(shown), pred.source, values))
    return facts


def _one_sided_columns(
    names: Mapping[Any, str], names_of_truth: Mapping[Any, str]
) -> list[str]:
    """Return the columns of one side only, if both sides share nearly all other columns."""
    n_shared = len(names.keys() & names_of_truth.keys())
    one_sided = names.keys() ^ names_of_truth.keys()
    if n_shared < 2 or len(one_sided) > max(1, n_shared // 10):
        return []
    every = {**names, **names_of_truth}
    return sorted(every[name] for name in one_sided)


def _is_flag_column(name: str, pred: Lists, truth: Lists) -> bool:
    """Tell whether a column is named as a flag of items, and has the same cells on both sides."""
    if not _ITEM_FLAG.fullmatch(name) or name not in truth.vocabulary:
        return False
    return _items_with(pred, name) == _items_with(truth, name)


def _is_named_matrix(found: Any) -> bool:
    """Tell whether an input was a matrix with a name for each column; batches are not."""
    if (
        not isinstance(found, Lists)
        or not found.was_matrix
        or found.columns is not None
    ):
        return False
    return all(isinstance(name, str) for name in found.vocabulary)


def _items_with(found: Lists, name: str) -> dict[str, float]:
    """Return the ids of the items that have a label, with its scores."""
    chosen = found.side.codes == found.vocabulary.index(name)
    rows = row_numbers(found.side.indptr)[chosen].tolist()
    scores = (
        np.ones(len(rows)) if found.side.scores is None else found.side.scores[chosen]
    )
    scored = zip(rows, scores.tolist(), strict=True)
    return {str(found.ids[row]): score for row, score in scored if score}


def check_shared(
    noted: Iterable[Observations], options: Options, names: Sequence[str]
) -> None:
    """Raise if no label is in the taxonomy or in the embedding.

    A single true label may be unknown to the right embedding, and a note counts it. Labels to
    ignore need not occur, because the same list is used for many files.
    """
    counts: Counter[str] = Counter()
    for observed in noted:
        if observed.has(PLACED):
            counts["taxonomy"] += observed.number(PLACED)
        for (what, _), n in observed.counts_of(TERMS).items():
            if what == "known":
                counts["embedding"] += n
    if len(names) < 2:
        del counts["embedding"]
    side_input_checks.check_shared(counts, options, "label", names)


def oddity_facts(
    observed: Observations, side: str, where: str, options: Options
) -> list[Fact]:
    """Return notes on what was found on a side of a task by `oddities.find_oddities`."""
    make = _SideNotes(observed, side, where)
    notes = make("lists-as-text", WRITTEN)
    notes += make("missing-labels", MISSING)
    notes += make("other-encoding", ENCODED)
    for delimiter in ALL_DELIMITERS:
        notes += make("joined-labels", HELD, delimiter, delimiter=delimiter)
    notes += _spelling_notes(make, options)
    # If the predictions have such labels, the ground truth has the same note.
    if side == "pred" or not observed.has(LONE, "pred", "alone"):
        total = observed.number(LONE, side, "all")
        other = _OTHERS[side]
        notes += make("one-sided-labels", LONE, "alone", total=total, other=other)
    return notes + side_observations.word_facts(
        "sentences", observed, side, SIDES[side], where
    )


class _SideNotes(NamedTuple):
    """Makes the notes of one side from its observations."""

    observed: Observations
    side: str
    where: str

    def __call__(
        self, code: str, observation: str, *details: str, **values: Any
    ) -> list[Fact]:
        """Return the note on an observation, with an example; nothing without the observation."""
        if not self.observed.has(observation, self.side, *details):
            return []
        n = self.observed.number(observation, self.side, *details)
        examples = self.observed.names_of(observation, self.side, *details)
        # The smallest example is the same in any order of the items.
        shown = (min(examples),) if examples else ()
        values = {"side": SIDES[self.side], **values}
        return [Fact(code, n, shown, self.where, values)]


def _spelling_notes(make: _SideNotes, options: Options) -> list[Fact]:
    """Note labels that a normalisation makes equal to others."""
    observed = make.observed
    steps = []
    ways = []
    for step, way in STEPS.items():
        if any(observed.has(ALIKE, side, step) for side in SIDES):
            steps.append(step)
            if observed.has(ALIKE, make.side, step):
                ways.append(way)
    values: dict[str, Any] = {
        "items": observed.number(ALIKE, make.side, "items"),
        "ways": " or ".join(ways),
    }
    if options.protocol is not None:
        values["protocol"] = options.protocol
        return make("spelling-kept", ALIKE, "labels", **values)
    other_rules = [
        rule
        for rule in options.normalize.split("+")
        if rule != "none" and rule not in steps
    ]
    values["rules"] = "+".join([*other_rules, *steps])
    return make("spelling", ALIKE, "labels", **values)


def _score_facts(
    odd: Observations, where: str, task: LabelTask, measures: Measures, options: Options
) -> list[Fact]:
    """Note scores without effect, and measures that take an order that nobody gave."""
    facts: list[Fact] = []
    all_ = [m for m in measures if m.k is None and m["decode"] in (None, "all")]
    all_ = [
        m
        for m in all_
        if "scores" not in m.definition.needs and m.definition.name != "AP"
    ]
    if all_ and options.protocol is None and not task.ranked:
        low = odd.number(SCORES, "pred", "low")
        total = odd.number(SCORES, "pred", "all")
        facts += note_builders.counted("scores-unused", low, (), where, total=total)
    highest_scores = odd.names_of(SCORES, "pred", "highest")
    if highest_scores:
        top = max(map(float, highest_scores))
        lowest_scores = odd.names_of(SCORES, "pred", "lowest") or ["0.0"]
        lowest = min(map(float, lowest_scores))
        for number in score_thresholds(measures):
            values = {"threshold": number, "lowest": lowest, "highest": top}
            if is_threshold_of_probabilities(number) and are_no_probabilities(
                lowest, top
            ):
                facts.append(Fact("no-probabilities", where=where, values=values))
        cutting = (m for m in measures if not m["keep_at_least"])
        for number in score_thresholds(cutting, ("threshold",)):
            if round_to(float(number), task.precision) >= top:
                values = {"threshold": number, "highest": top}
                facts.append(Fact("nothing-predicted", where=where, values=values))
    if options.protocol is None:
        facts += _short_list_facts(odd, where, measures)
    orders = [
        f"that of {text}" for order, text in _ORDERS.items() if odd.has(ORDER, order)
    ]
    which = [measure for measure in measures if not measure.order_invariant]
    names = list(dict.fromkeys(map(str, which)))
    shown = ", ".join(names[:_SHOWN]) + " and others" * (len(names) > _SHOWN)
    if orders and which:
        values = {"order": ", ".join(orders), "measures": shown}
        facts.append(Fact("order-of-labels", where=where, values=values))
    columns = sorted(odd.names_of(ORDER, "file"))
    if columns and which:
        values = {"measures": shown, "column": columns[0]}
        facts.append(Fact("order-of-file", 0, tuple(columns), where, values))
    return facts


def _short_list_facts(odd: Observations, where: str, measures: Measures) -> list[Fact]:
    """Note lists that are shorter than a cutoff, if a measure divides by their length."""
    from semmetrics.metrics.matching import SHORT

    facts: list[Fact] = []
    for k in sorted({m.k for m in measures if m.k is not None}):
        divided = [
            m for m in measures if m.k == k and m["denominator"] == "predictions"
        ]
        divided = [m for m in divided if m["decode"] == "all"]
        short = odd.number(SHORT, k)
        if divided and short:
            names = [str(measure) for measure in divided]
            values = {
                "total": odd.number(SHORT, k, "items"),
                "cutoff": str(k),
                "measures": ", ".join(names[:_SHOWN])
                + " and others" * (len(names) > _SHOWN),
                "example": str(divided[0].with_options(denominator="cutoff")),
            }
            facts.append(Fact("short-lists", short, (), where, values))
    return facts


def probability_facts(
    scores: Mapping[str, Floats | None], measures: Iterable[Measure], options: Options
) -> list[Fact]:
    """Return the scores that are no probabilities under a threshold of probabilities.

    Parameters
    ----------
    scores : mapping from name to array or None
        Predicted scores of each system, as they were given.
    measures : iterable of Measure
    options : Options
        With an ``activation`` there is nothing to say.
    """
    thresholds = [
        n for n in score_thresholds(measures) if is_threshold_of_probabilities(n)
    ]
    if not thresholds or options.activation is not None:
        return []
    facts = []
    for name, values in scores.items():
        if values is None or not len(values):
            continue
        lowest, highest = float(values.min()), float(values.max())
        if are_no_probabilities(lowest, highest):
            shown = {"threshold": thresholds[0], "lowest": lowest, "highest": highest}
            facts.append(Fact("no-probabilities", where=name, values=shown))
    return facts


def activation_facts(odd: Observations, where: str, options: Options) -> list[Fact]:
    """Note an activation of scores that are all probabilities already.

    Parameters
    ----------
    odd : Observations
        With the counts of `oddities.find_probabilities`.
    where : str
    options : Options
    """
    n_items = odd.number(SCORED)
    if not n_items or odd.number(PROBABLE) < n_items:
        return []
    activation = str(options.activation)
    scores = "all scores are in [0, 1]"
    if activation == "softmax":
        scores = "the scores of every item sum to 1"
    return [Fact("activated-probabilities", where=where, values={"scores": scores})]


def score_thresholds(
    measures: Iterable[Measure], names: Collection[str] = _THRESHOLD_RULES
) -> list[str]:
    """Return the numbers of the decoding rules threshold:T of measures, as they are written."""
    rules = [str(measure["decode"]).partition(":") for measure in measures]
    numbers = [text for rule, _, text in rules if rule in names and text != "best"]
    return list(dict.fromkeys(numbers))


def is_threshold_of_probabilities(number: str) -> bool:
    """Return whether a threshold is inside (0, 1). At 0, logits are probabilities of 0.5."""
    return 0 < float(number) < 1


def are_no_probabilities(lowest: float, highest: float) -> bool:
    """Return whether scores leave [0, 1] by more than rounding does."""
    return lowest < -ROUNDING or highest > 1 + ROUNDING


def _model_facts(where: str, task: LabelTask, odd: Observations) -> list[Fact]:
    """Note what models did not know or read, and what the steps of semantic measures noted."""
    if not task.models:
        return []
    from semmetrics.metrics.semantic import NEAR

    facts = [] if odd.has(NAMED) else [Fact("numbers-as-labels", where=where)]
    policies = _list_policies(task.models)
    for name, model in task.models.items():
        which = {what: sorted(odd.names_of(TERMS, what, name)) for what in FLAGS}
        counts = {what: len(terms) for what, terms in which.items()}
        oov = policies[model.embedder.identity]
        facts += embedding_notes.model_facts(
            where, model, counts, "distinct term", which, oov
        )
        cut = odd.number(TERMS, "truncated", name)
        facts += embedding_notes.model_facts(where, model, {"truncated": cut}, "term")
    lists = {key: _largest_counts(odd, key) for key in ("unknown", "truncated")}
    for (name,) in lists["unknown"]:
        counts = {key: of_model[name,] for key, of_model in lists.items()}
        facts += embedding_notes.model_facts(
            where, task.models[name], counts, "label list"
        )
    pairs = _largest_counts(odd, NEAR)
    near = {threshold: n for (_, threshold), n in pairs.items() if n}
    if len(near) > _SHOWN:
        n, values = max(near.values()), {"thresholds": len(near)}
        return [*facts, Fact("near-thresholds", n, (), where, values)]
    return facts + [
        Fact("near-threshold", n, (), where, {"threshold": t}) for t, n in near.items()
    ]


def _list_policies(models: Mapping[str, Any]) -> dict[str, str]:
    """Return the policies for unknown terms by embedding, that of distances named as such."""
    found: dict[str, str] = {}
    for model in models.values():
        other = found.setdefault(model.embedder.identity, model.oov)
        # without a policy of the user distances skip unknown terms
        if other != model.oov:
            usual = other if model.oov == "skip" else model.oov
            found[model.embedder.identity] = f"{usual}, skip for distances"
    return found


def _largest_counts(observed: Observations, code: str) -> dict[Any, int]:
    """Return the largest count with a code, by its details without the last.

    The last detail is the step that counted. Several steps count the same pairs or labels.
    """
    largest: dict[Any, int] = {}
    for (*details, _), n in observed.counts_of(code).items():
        key = tuple(details)
        largest[key] = max(n, largest.get(key, 0))
    return largest


def unlike_scores(labels: Lists) -> list[Fact]:
    """Note labels that an item has several times with different scores.

    Examples
    --------
    >>> from semmetrics.kinds.labels import as_labels
    >>> print(*unlike_scores(as_labels({"a": [("cat", 1), ("cat", 0)]})))
    input: 1 label in 1 item listed with different scores, such as 'cat' of 'a': 1 and 0; the
    highest counts, or each with duplicates=each
    """
    number, items, example = labels.unlike
    return note_builders.counted(
        "unlike-scores", number, [example], labels.source, items=items
    )


def _nested_facts(inputs: Sequence[Lists]) -> list[Fact]:
    """Note sides on which every item is one list in a list, and the inner list is not synonyms."""
    # batches have one layout
    sides = [side for side in inputs if isinstance(side, Lists)]
    if not any(side.synonyms for side in sides) or len(sides) < len(inputs):
        return []
    facts = []
    true = set(inputs[-1].terms)
    for side in inputs:
        entries = [side.terms[code] for code in np.unique(side.side.codes).tolist()]
        n_with_synonyms = sum(len(entry) > 1 for entry in entries)
        is_nested = bool(entries) and n_with_synonyms >= len(entries) / 2
        if not is_nested or (np.diff(side.side.indptr) > 1).any():
            continue
        names = list(chain.from_iterable(entries))
        is_odd = len(set(names)) < len(names)  # synonyms belong to one label
        if side is not inputs[-1]:
            is_odd = is_odd or len(entries) == 1 or not true.issuperset(entries)
        if is_odd:
            longest = max(entries, key=len)
            values = {"example": json.dumps(longest, ensure_ascii=False)}
            facts.append(
                Fact("nested-labels", len(side), where=side.source, values=values)
            )
    return facts


def uncalibrated_facts(
    models: Mapping[str, Any], measures: Measures, options: Options
) -> list[Fact]:
    """Note embeddings that are used with the threshold of another one.

    Parameters
    ----------
    models : mapping from key to label vectors
    measures : sequence of Measure
        As they were asked for, before the threshold is known.
    options : ResolvedOptions
    """
    if options.calibration is not None:
        return []
    given = embeddings.by_name(options.embedding)
    found: dict[str, Fact] = {}
    for measure in measures:
        if measure["threshold"] != "auto":
            continue
        model, spec = models[model_key(measure)], given.get(str(measure["embedding"]))
        identity = model.embedder.identity
        known = hasattr(model.embedder, "threshold") or _WORD2VEC.search(identity)
        if not known and not (isinstance(spec, str) and spec.startswith("word2vec:")):
            values = {"threshold": model.threshold, "model": identity}
            found.setdefault(identity, Fact("uncalibrated", values=values))
    return list(found.values())
