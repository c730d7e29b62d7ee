"""What a user should know of label sets: notes on what is odd, and what was read.

`semmetrics.kinds.labels.oddities` finds what is odd.
"""

from __future__ import annotations

import json
import os
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import chain, product
from operator import attrgetter
from typing import Any

import numpy as np

from semmetrics.core.backend import round_to
from semmetrics.core.ragged import Floats, cell_keys, row_numbers
from semmetrics.data.lists import Lists, as_entry
from semmetrics.data.tasks import LabelTask
from semmetrics.errors import Fact, first_of_each
from semmetrics.kinds import Measures, Notes, Options, Tasks, common, each_task
from semmetrics.kinds.labels.joined import (
    ALL_DELIMITERS,
    DELIMITERS,
    WORD_DELIMITERS,
    are_joined,
    are_joined_words,
    are_permuted,
    has_parts,
)
from semmetrics.kinds.labels.normalization import Ignored, class_name, normalization
from semmetrics.kinds.labels.oddities import (
    ALIKE,
    DIFFICULT,
    ENCODED,
    FLAGS,
    HELD,
    IGNORED,
    LEFT_OUT,
    LIST_AS_TEXT,
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
    SENTENCE,
    SHARED,
    STEPS,
    TERMS,
    UNVERIFIED,
    WITH_PARENTS,
    WRITTEN,
    Odd,
)
from semmetrics.messages import pluralize
from semmetrics.metrics.definition import Definition, Measure, model_key
from semmetrics.options import OPTIONS, is_given
from semmetrics.schema import CLASS_NAMES

FILES = "preds.json gt.json"  # of an example
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
# pairs of labels worth counting: in all items, different
_PAIRS, _UNLIKE = (
    1 << 28,
    1 << 22,
)
_OFTEN = 0.95
_FEW = 20  # items below which shares say little
_MOST = 20  # labels of a list that are shown
_MATCH = ("id", "rank", "prediction", "reference", "reason", "similarity", "nearest")


# ---- facts --------------------------------------------------------------------------------------


def label_facts(
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
    ignored = Ignored.of(options["ignore"], normalization(options["normalize"])).names
    for name, task in each_task(tasks):
        odd = noted.get(name, task.odd)
        facts += common.counted("shared-terms", len(odd.get(SHARED, ())), (), name)
        lost = len(ignored) - len(odd.get(IGNORED, ()))
        facts += common.counted("ignored-labels-not-found", lost, (), name)
        if lost:
            facts += _ignored_files(options["ignore"])
        facts += _taxonomy_facts(odd, name)
        facts += common.count_facts(name, task) + oddity_facts(
            odd, "pred", name, options
        )
        facts += _score_facts(odd, name, task, measures, options)
        facts += activation_facts(odd, name, options)
        facts += dict.fromkeys(_model_facts(name, task, odd))
        n_left_out = odd.get(LEFT_OUT, 0)
        if n_left_out:
            facts.append(
                Fact(
                    "unverified-labels", n_left_out, where=name, values={"other": truth}
                )
            )
        of_truth += _truth_facts(odd, truth, options)
    for one in inputs:
        facts += unlike_scores(one)
    if options["classes"] is None:
        facts += _nested_facts(inputs) + _column_facts(inputs, options)
    facts += _header_facts(options["classes"], inputs)
    facts += first_of_each(of_truth) + common.different_items(tasks)
    facts += common.unused_embeddings(measures, options["embedding"])
    models = chain.from_iterable(task.models.values() for task in every)
    facts += common.cache_facts((model.embedder for model in models), options["cache"])
    facts += common.unused_weights(options["weights"], inputs)
    if options["taxonomy"] is not None:
        facts += options["taxonomy"].notes
    if noted:  # a calibration evaluates nothing
        facts += uncalibrated_facts(every[0].models, measures, options)
    facts += common.unused_rules(measures, options, "SemF1")
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


def _taxonomy_facts(odd: Odd, where: str) -> list[Fact]:
    """Note a taxonomy in which no label of the data has a parent, as if it was upside down."""
    n = odd.get(PLACED, 0)
    return common.counted("no-parents", 0 if odd.get(WITH_PARENTS, 0) else n, (), where)


def _truth_facts(odd: Odd, truth: str, options: Options) -> list[Fact]:
    """Note what was odd in the ground truth."""
    facts = oddity_facts(odd, "ref", truth, options)
    if (MINUS, "ref") in odd:
        facts.append(Fact("true-minus", where=truth))
    elif (SCORES, "ref") in odd:
        facts.append(Fact("true-scores", where=truth))
    facts += common.swapped_facts(odd)
    facts += common.counted("difficult-labels", odd.get(DIFFICULT, 0), (), truth)
    facts += common.counted("unverified-cells", odd.get(UNVERIFIED, 0), (), truth)
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
        if is_given(options[name]):
            facts.append(common.no_effect(name, reason))
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
    clean = normalization(options["normalize"])
    ignored = {
        name for names in Ignored.of(options["ignore"], clean).names for name in names
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


def check_shared(noted: Iterable[Odd], options: Options, names: Sequence[str]) -> None:
    """Raise if no label is in the taxonomy or in the embedding.

    A single true label may be unknown to the right embedding, and a note counts it. Labels to
    ignore need not occur, because the same list is used for many files.
    """
    counts: Counter[str] = Counter()
    for odd in noted:
        for key, found in odd.items():
            if key == PLACED:
                counts["taxonomy"] += found
            elif isinstance(key, tuple) and key[:2] == (TERMS, "known"):
                counts["embedding"] += found
    if len(names) < 2:
        del counts["embedding"]
    common.check_shared(counts, options, "label", names)


def oddity_facts(
    odd: Odd, side: str, where: str, options: Mapping[str, Any]
) -> list[Fact]:
    """Return what was found on a side of a task, as ``Task.odd`` or ``Statistics.noted`` has it."""
    facts: list[Fact] = []

    def add(code: str, *key: str, **values: Any) -> None:
        if key in odd:
            examples = odd.get(("example", *key))
            example = (min(examples),) if examples else ()  # the same in any order
            facts.append(
                Fact(code, odd[key], example, where, {"side": SIDES[side], **values})
            )

    add("lists-as-text", WRITTEN, side)
    add("missing-labels", MISSING, side)
    add("other-encoding", ENCODED, side)
    for delimiter in ALL_DELIMITERS:
        add("joined-labels", HELD, side, delimiter, delimiter=delimiter)
    steps = [step for step in STEPS if any((ALIKE, one, step) in odd for one in SIDES)]
    kept = [
        one for one in options["normalize"].split("+") if one not in ("none", *steps)
    ]
    ways = " or ".join(STEPS[step] for step in steps if (ALIKE, side, step) in odd)
    values = {"items": odd.get((ALIKE, side, "items")), "ways": ways}
    if options["protocol"] is None:
        add(
            "spelling", ALIKE, side, "labels", **values, rules="+".join([*kept, *steps])
        )
    else:
        add(
            "spelling-kept",
            ALIKE,
            side,
            "labels",
            **values,
            protocol=options["protocol"],
        )
    # the other side says the same
    if side == "pred" or (LONE, "pred", "alone") not in odd:
        values = {"total": odd.get((LONE, side, "all")), "other": _OTHERS[side]}
        add("one-sided-labels", LONE, side, "alone", **values)
    return facts + common.word_facts("sentences", odd, side, SIDES[side], where)


def _score_facts(
    odd: Odd, where: str, task: LabelTask, measures: Measures, options: Options
) -> list[Fact]:
    """Note scores without effect, and measures that take an order that nobody gave."""
    facts: list[Fact] = []
    all_ = [m for m in measures if m.k is None and m["decode"] in (None, "all")]
    all_ = [
        m
        for m in all_
        if "scores" not in m.definition.needs and m.definition.name != "AP"
    ]
    if all_ and options["protocol"] is None and not task.ranked:
        low, total = (odd.get((SCORES, "pred", name), 0) for name in ("low", "all"))
        facts += common.counted("scores-unused", low, (), where, total=total)
    if (SCORES, "pred", "highest") in odd:
        top = max(map(float, odd[SCORES, "pred", "highest"]))
        lowest = min(map(float, odd.get((SCORES, "pred", "lowest"), ["0.0"])))
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
    if options["protocol"] is None:
        facts += _short_list_facts(odd, where, measures)
    orders = [
        f"that of {text}" for order, text in _ORDERS.items() if (ORDER, order) in odd
    ]
    which = [measure for measure in measures if not measure.order_invariant]
    names = list(dict.fromkeys(map(str, which)))
    shown = ", ".join(names[:_SHOWN]) + " and others" * (len(names) > _SHOWN)
    if orders and which:
        values = {"order": ", ".join(orders), "measures": shown}
        facts.append(Fact("order-of-labels", where=where, values=values))
    columns = sorted(odd.get((ORDER, "file"), ()))
    if columns and which:
        values = {"measures": shown, "column": columns[0]}
        facts.append(Fact("order-of-file", 0, tuple(columns), where, values))
    return facts


def _short_list_facts(odd: Odd, where: str, measures: Measures) -> list[Fact]:
    """Note lists that are shorter than a cutoff, if a measure divides by their length."""
    from semmetrics.metrics.matching import SHORT

    facts: list[Fact] = []
    for k in sorted({m.k for m in measures if m.k is not None}):
        divided = [
            m for m in measures if m.k == k and m["denominator"] == "predictions"
        ]
        divided = [m for m in divided if m["decode"] == "all"]
        short = odd.get((SHORT, k), 0)
        if divided and short:
            names = [str(measure) for measure in divided]
            values = {
                "total": odd[SHORT, k, "items"],
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
    if not thresholds or options["activation"] is not None:
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


def activation_facts(odd: Odd, where: str, options: Mapping[str, Any]) -> list[Fact]:
    """Note an activation of scores that are all probabilities already.

    Parameters
    ----------
    odd : mapping
        With the counts of `oddities.find_probabilities`.
    where : str
    options : Options
    """
    n_items = odd.get(SCORED, 0)
    if not n_items or odd[PROBABLE] < n_items:
        return []
    activation = str(options["activation"])
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


def _model_facts(where: str, task: LabelTask, odd: Odd) -> list[Fact]:
    """Note what models did not know or read, and what the steps of semantic measures noted."""
    if not task.models:
        return []
    from semmetrics.metrics.semantic import NEAR

    facts = [] if NAMED in odd else [Fact("numbers-as-labels", where=where)]
    policies = _list_policies(task.models)
    for name, model in task.models.items():
        which = {what: sorted(odd.get((TERMS, what, name), ())) for what in FLAGS}
        counts = {what: len(terms) for what, terms in which.items()}
        oov = policies[model.embedder.identity]
        facts += common.model_facts(where, model, counts, "distinct term", which, oov)
        cut = odd.get((TERMS, "truncated", name), 0)
        facts += common.model_facts(where, model, {"truncated": cut}, "term")
    lists = {key: _most_noted(odd, key, "model") for key in ("unknown", "truncated")}
    for name in lists["unknown"]:
        counts = {key: of_model[name] for key, of_model in lists.items()}
        facts += common.model_facts(where, task.models[name], counts, "label list")
    pairs = _most_noted(odd, NEAR, "model", "threshold")
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


def _most_noted(noted: Mapping[Any, Any], what: str, *fields: str) -> dict[Any, int]:
    """Return the largest count that steps noted of something, by fields of the steps."""
    found: dict[Any, int] = {}
    for key, n in noted.items():
        if isinstance(key, tuple) and key[0] == what:
            by = attrgetter(*fields)(key[1])
            found[by] = max(n, found.get(by, 0))
    return found


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
    return common.counted(
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
    if options["calibration"] is not None:
        return []
    given = common.by_name(options["embedding"])
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


# ---- what is shown of labels --------------------------------------------------------------------


def describe(labels: Lists) -> dict[str, Any]:
    """Describe label lists.

    Returns
    -------
    dict
        Plain values, None for what is undefined: how the input was understood, numbers of items and
        labels, labels an item, the frequency of each label, the order statistic, and what is odd.

    Examples
    --------
    >>> from semmetrics.kinds.labels import as_labels
    >>> found = describe(as_labels({"a": ["cat", "dog"], "b": ["cat"]}))
    >>> found["items"], found["labels"], found["vocabulary"], found["frequencies"][0]
    (2, 3, 2, {'label': 'cat', 'count': 2})
    """
    from semmetrics.metrics.arrays import label_frequencies, label_order

    labels = labels.renamed(
        [as_entry(tuple(dict.fromkeys(terms))) for terms in labels.terms]
    )
    side, scores = labels.side, labels.side.scores
    counts = label_frequencies(side.codes, len(labels.vocabulary))
    names = [class_name(terms) for terms in labels.terms]
    sizes = side.sizes.astype(np.float64)
    pairs, mean = int((sizes * (sizes - 1) / 2).sum()), None
    distinct = min(pairs, len(names) * (len(names) - 1) // 2)
    if pairs <= _PAIRS and distinct <= _UNLIKE and not labels.ranked:  # else minutes
        found = label_order(side.indptr, side.codes)
        mean, pairs = common.finite_or_none(found.mean), len(found.order)
    span = None
    if scores is not None and len(scores):
        span = {"min": float(scores.min()), "max": float(scores.max())}
    return common.describe_input(
        labels,
        _find_odd(labels),
        labels=len(side.codes),
        vocabulary=len(names),
        synonyms=sum(len(terms) > 1 for terms in labels.terms),
        ranked=labels.ranked,
        scores=span,
        cardinality=common.describe_sizes(side.indptr),
        frequencies=[
            {"label": names[code], "count": times}
            for code, times in zip(
                counts.labels.tolist(), counts.counts.tolist(), strict=True
            )
        ],
        order=None if labels.ranked else {"mean": mean, "pairs": pairs},
    )


def _find_odd(labels: Lists) -> list[Fact]:
    """Note what is accepted and yet probably not meant."""
    side, width, scores = (
        labels.side,
        max(1, len(labels.vocabulary)),
        labels.side.scores,
    )
    names = [term for terms in labels.terms for term in terms]
    facts = common.find_gaps(labels) + unlike_scores(labels)
    if not labels.ranked and len(labels) >= _FEW:
        present = np.bincount(
            np.unique(cell_keys(side.indptr, side.codes, width)) % width
        )
        often = np.flatnonzero(present > _OFTEN * len(labels)).tolist()
        facts += common.named(
            "common-labels", (class_name(labels.terms[code]) for code in often)
        )
        facts += common.counted("rare-labels", int((present == 1).sum()), total=width)
    facts += common.find_odd_texts(list(dict.fromkeys(names)), "label")
    lists = list(filter(LIST_AS_TEXT.search, names))
    facts += common.named("lists-as-text", lists, side="distinct")
    if not lists:
        is_single = len(side.indptr) > 1 and np.diff(side.indptr).max() <= 1
        facts += _find_joined(names, is_single=is_single)
    words = sum(name.count(" ") + 1 for name in names)
    if not labels.ranked and words and words >= SENTENCE * len(names):
        facts.append(
            Fact("sentences", values={"side": "distinct", "mean": words / len(names)})
        )
    facts += common.find_odd_ids(labels.ids)
    if scores is None or not len(scores):
        return facts
    outside = int(((scores < 0) | (scores > 1)).sum())
    facts += common.counted("outside-0-1", outside, total=len(scores))
    if len(scores) > 1 and scores.min() == scores.max():
        facts.append(Fact("equal-scores", values={"score": float(scores[0])}))
    rows = row_numbers(side.indptr)
    rising = np.unique(rows[1:][(np.diff(scores) > 0) & (np.diff(rows) == 0)])
    return (
        facts
        if labels.ranked
        else facts + common.of_items("rising-scores", labels, rising)
    )


def _find_joined(names: Sequence[str], *, is_single: bool) -> list[Fact]:
    """Note labels of one input that are several labels, if items have one label at most."""
    facts: list[Fact] = []
    delimiters = ALL_DELIMITERS if is_single else DELIMITERS
    for delimiter in delimiters:
        joined = [name for name in names if has_parts(name, delimiter)]
        if delimiter in WORD_DELIMITERS:
            are_several = are_joined_words(names, (), delimiter)
        elif delimiter in DELIMITERS:
            are_several = are_joined(joined, names, delimiter)
        else:
            are_several = False
        if is_single and not are_several:
            are_several = are_permuted(names, (), delimiter)
        if joined and are_several:
            values = {"side": "distinct", "delimiter": delimiter}
            facts += common.counted("joined-labels", len(joined), joined[:1], **values)
    return facts


def report(record: Mapping[str, Any]) -> dict[str, str]:
    """Return the facts of a description as texts by name; an empty text is not worth a line."""
    number, scores, order = "score" if record["ranked"] else "label", "none", ""
    if record["scores"] is not None:
        rule = (
            "; a decoding rule or a cutoff makes sets of them"
            if record["ranked"]
            else ""
        )
        scores = "from {min:g} to {max:g}".format(**record["scores"]) + rule
    if record["order"] is not None and record["order"]["pairs"]:
        mean, pairs = (
            record["order"]["mean"],
            pluralize(record["order"]["pairs"], "pair"),
        )
        order = f"not computed: {pairs} of labels are too many"
        if mean is not None:
            order = f"{mean:.3f} over {pairs} (0.5: none, 1: always the same)"
    frequencies = [(entry["label"], entry["count"]) for entry in record["frequencies"]]
    several = record["synonyms"]
    return {
        "items": common.format_known(record),
        "labels": f"{pluralize(record['labels'], number)}, {record['vocabulary']:,} distinct",
        "synonyms": f"{pluralize(several, 'label')} with several names"
        if several
        else "",
        "scores": scores,
        "labels an item": common.format_spread(record["cardinality"]),
        "most frequent": "" if record["ranked"] else common.format_counts(frequencies),
        "label order": order,
    }


def show_item(task: LabelTask, row: int, measure: Measure) -> dict[str, Any]:
    """Show one item as a measure sees it.

    Returns
    -------
    dict
        "predicted": the labels that the measure's cutoff or decoding rule keeps, in its order,
        "true", and by a measure that matches by meaning "matches": pairs with their similarity.
    """
    from semmetrics.metrics.matching import cut_of, sides_of

    (block,) = task.take(np.array([row])).blocks()
    pred, ref = sides_of(block)
    kept = (
        measure.k if measure["decode"] is None else int(block.get(cut_of(measure))[0])
    )
    sides = {"predicted": pred.codes[:kept], "true": ref.codes}
    names: dict[str, list[Any]] = {
        name: [task.classes[code] for code in codes.tolist()]
        for name, codes in sides.items()
    }
    if measure["match"] is not None and measure["threshold"] is not None:
        rows = match_rows(task.take(np.array([row])), measure)
        names["matches"] = [
            [one["prediction"], one["reference"], one["similarity"]]
            for one in rows
            if one["rank"] and one["reference"] is not None
        ]
    return names


def report_item(record: Mapping[str, Any]) -> list[str]:
    """Return the lines of an item: the predicted labels, the true ones, and those of one side.

    By a measure that matches by meaning, labels without a match are missed or wrong. If the value
    is by names (``by_name``), labels of one side only are.
    """
    lines = []
    sides = {"predicted": record["predicted"], "true": record["true"]}
    hits = {"true": sides["predicted"], "predicted": sides["true"]}
    if "matches" in record:
        hits["predicted"] = [match[0] for match in record["matches"]]
        hits["true"] = [match[1] for match in record["matches"]]
    if "matches" in record or record.get("by_name"):
        sides["missed"] = [name for name in sides["true"] if name not in hits["true"]]
        sides["wrong"] = [
            name for name in sides["predicted"] if name not in hits["predicted"]
        ]
    for side, names in sides.items():
        if not names and side in ("missed", "wrong"):
            continue
        more = f" and {len(names) - _MOST:,} more" if len(names) > _MOST else ""
        shown = ", ".join(map(common.on_one_line, names[:_MOST])) or "nothing"
        lines.append(f"{side:<9}  {shown}{more}")
    return lines


def count_confused(
    task: LabelTask, measure: Measure
) -> Counter[tuple[str | None, str | None]]:
    """Count which predicted label stands for which true one.

    By a measure of meaning a prediction stands for the reference that it matches. By any other,
    each wrong prediction of an item may stand for each label that the item misses.

    Returns
    -------
    Counter of pairs of a true and a predicted label
        None for a label that nothing stands for, and for one that stands for nothing.
    """
    from semmetrics.metrics.matching import cut_of, sides_of

    if measure["match"] is not None:
        return Counter(
            (row["reference"], row["prediction"]) for row in match_rows(task, measure)
        )
    found: Counter[tuple[str | None, str | None]] = Counter()
    for block in task.blocks():
        ranked, ref = sides_of(block)
        kept = block.get(cut_of(measure))
        for item in range(len(block)):
            start = int(ranked.indptr[item])
            mine = dict.fromkeys(ranked.codes[start : start + int(kept[item])].tolist())
            own = dict.fromkeys(
                ref.codes[ref.indptr[item] : ref.indptr[item + 1]].tolist()
            )
            missed = [task.classes[code] for code in own if code not in mine]
            wrong = [task.classes[code] for code in mine if code not in own]
            found.update(
                (name, name) for name in (task.classes[c] for c in own if c in mine)
            )
            found.update(
                product(missed or [None], wrong or [None]) if missed or wrong else ()
            )
    return found


def match_rows(task: LabelTask, measure: Measure) -> Iterator[dict[str, Any]]:
    """Yield what each predicted label matched, and the references that nothing matched.

    Parameters
    ----------
    task : LabelTask
        With the label vectors of the measure's embedding.
    measure : Measure
        A semantic set measure, its threshold and rule fixed.

    Yields
    ------
    dict
        "id"; "rank" (from 1; None for a reference that nothing matched), "prediction",
        "reference" (None without a match), "reason" ("equal", "same name", "same
        synset" or "similar"; None without a match), "similarity" (of the pair, else of the
        prediction and its nearest reference; None where the item has no reference), "nearest" (the
        reference that the similarity is of).
    """
    from semmetrics.metrics.label_pairs import match_pairs
    from semmetrics.metrics.label_similarity import written_codes
    from semmetrics.metrics.matching import cut_of, sides_of
    from semmetrics.metrics.semantic import matches_of

    step = matches_of(measure, cut_of(measure))
    names = task.classes
    if task.synonyms is not None:
        names = tuple(map(class_name, task.synonyms.terms))
    for block in task.blocks():
        ranked, ref = sides_of(block)
        matched, kept = block.get(step), block.get(cut_of(measure))
        partner, similarity, served, nearest, reasons = match_pairs(block, step)
        predicted, true = written_codes(ranked), written_codes(ref)
        counted, once = (
            np.ones(len(side.codes), np.bool_) if flags is None else flags
            for side, flags in ((ranked, matched.counted), (ref, matched.once))
        )
        for item in range(len(block)):
            first, end = (
                int(ranked.indptr[item]),
                int(ranked.indptr[item]) + int(kept[item]),
            )
            rows: list[tuple[Any, ...]] = []
            for place in range(first, end):
                if counted[place]:
                    other, value = partner[place].item(), similarity[place].item()
                    reference = None if other < 0 else names[true[other]]
                    value = common.finite_or_none(value)
                    near = None if value is None else names[true[nearest[place]]]
                    label, rank = names[predicted[place]], place - first + 1
                    rows.append((rank, label, reference, reasons[place], value, near))
            own = range(int(ref.indptr[item]), int(ref.indptr[item + 1]))
            left = [place for place in own if once[place] and not served[place]]
            rows += [
                (None, None, names[true[place]], None, None, None) for place in left
            ]
            for row in rows:
                yield dict(
                    zip(_MATCH, (str(task.ids[block.start + item]), *row), strict=True)
                )


def explain_definition(definition: Definition) -> dict[str, str]:
    """Return what a definition makes of cutoffs, and which orders and sides matter to it."""
    free = (definition.symmetric, definition.order_invariant)
    sides, order = ("does not matter" if one else "matters" for one in free)
    cutoff = (
        f"{definition.name}@5 takes the first 5 predictions"
        if definition.cutoff
        else "none"
    )
    traits = f"which side predicts {sides}; the order of labels in a list {order}"
    return {"cutoff": cutoff, "traits": traits}


def explain_protocol(protocol: Any) -> dict[str, str]:
    """Return the cutoffs of a protocol, and what predictions it takes."""
    cutoffs = ", ".join(f"@{k}" for k in protocol.top_k)
    return {
        "cutoffs": f"{cutoffs or 'none'} unless {OPTIONS['top_k'].both} says otherwise",
        "predictions": f"label lists, or scores that {OPTIONS['threshold'].both} or "
        f"{OPTIONS['decode'].both} make sets of"
        if protocol.decode and "{logits}" not in str(protocol.entries)
        else f"logits, which predict a label from 0, or scores from {OPTIONS['threshold'].both}"
        if protocol.decode
        else "label lists, ranked by their scores where they have them",
    }
