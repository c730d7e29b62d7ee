"""What a user should know of label sets: probable mistakes, idle scores, and what was read.

Conventions
-----------
Everything is found by vocabulary, and counted by occurrence with one look at the codes. Findings
are counts, which parts of the data add up, and sets of examples, which they unite (``Task.odd``);
facts are made of these alone.

Labels are *alike* if they differ only by case, by white space, ``_`` or ``-``, or by an English
plural. A predicted label is looked at only if it is not itself a reference label or a class.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from itertools import combinations, compress, repeat
from typing import Any

import numpy as np

from semmetrics.core.ragged import Bools, cell_keys, lengths, row_numbers, sum_rows
from semmetrics.data.lists import Lists, Side, as_entry
from semmetrics.data.tasks import BESIDE, UNUSED, LabelTask
from semmetrics.errors import Fact, InputError, first_of_each
from semmetrics.kinds import (
    Facts,
    Options,
    Tasks,
    count_facts,
    different_items,
    each_task,
    no_effect,
    unused_weights,
)
from semmetrics.kinds.describe import (
    WORDS,
    Odd,
    describe_input,
    describe_sizes,
    find_gaps,
    find_odd_ids,
    find_odd_texts,
    finite_or_none,
    format_counts,
    format_known,
    format_spread,
    items_fact,
    mean_words,
    on_one_line,
    some_of,
    swapped_facts,
    swapped_sides,
)
from semmetrics.kinds.embeddings import cache_facts, model_facts, unused_embeddings, unused_rules
from semmetrics.kinds.labels.normalization import class_name, normalization, singular
from semmetrics.messages import pluralize
from semmetrics.metrics.definition import Definition, Measure
from semmetrics.options import OPTIONS, is_given

FILES = "preds.json gt.json"  # of an example
STEPS = {"lower": "case or surrounding blanks", "separators": "blanks, _ or -", "plural": "plural"}
"""Normalisations that join labels that are alike, and what they make equal."""
SIDES = {"pred": "predicted", "ref": "reference"}
_OTHERS = {"pred": "ground truth", "ref": "predictions"}
_DELIMITERS = (";", "|", "\t", ",")
_LIST = re.compile(r"""^\s*\[\s*['"]|['"]\s*\]\s*$|^\s*\[\s*\]\s*$""")  # a list as text, or an end
_ALIKE, _HELD, _LONE = (f"{BESIDE}{name}" for name in ("alike", "delimiter", "lone labels"))
_WRITTEN, _SCORES, _ORDER = "lists as text", "scores", "order"
_SENTENCE = 5.0  # mean words of a label above which labels look like captions
_DISTINCT = 10  # distinct labels and items below which a share says little
_HARDLY = {"pred": 0.05, "ref": 0.01}  # shares of occurrences
_LOW = 0.5  # lists of what a tagger is sure of have no lower scores
_ORDERS = {
    "sorted": "that of sorted sets",
    "columns": "that of the columns",
    "keys": "that of the keys",
}
_SHOWN = 3  # measures or thresholds that are named
_WORD2VEC = re.compile(r"word2vec|google-?news", re.IGNORECASE)
_PAIRS = 1 << 28  # ordered pairs that are worth counting
_OFTEN = 0.95
_FEW = 20  # items below which shares say little
_MOST = 20  # labels of a list that are shown


# ---- what is found in a task --------------------------------------------------------------------


def find_oddities(task: LabelTask, pred: Lists, ref: Lists) -> Odd:
    """Find what is probably a mistake in a task.

    Parameters
    ----------
    task : LabelTask
    pred, ref : Lists
        What it was made of, normalised.
    """
    present = {"pred": task.axis.n_prediction > 0, "ref": task.axis.n_reference > 0}
    known = present["ref"].copy()
    known[: task.given or 0] = True
    found: dict[Hashable, int | frozenset[str]] = swapped_sides(pred, ref)
    found |= _find_scores(pred, task.pred, task.ref)
    if task.ranked:  # every class has a score in every item
        return found
    names = {side: _names(task, chosen) for side, chosen in present.items()}
    joined = _find_delimiters(task, names)
    found |= joined | _find_sentences(task, present, names)
    lone = present["pred"] & ~known
    if lone.any():
        similar = _find_alike(task, lone, known)
        found |= similar or ({} if joined else _find_strangers(task, present, lone))
    return found | _find_doubles(task, names["ref"])


def _find_scores(pred: Lists, predicted: Side, true: Side) -> dict[Hashable, Any]:
    """Find scores and the order of labels, of the items that are evaluated."""
    found: dict[Hashable, Any] = {}
    if pred.order and pred.side.scores is None:
        found[_ORDER, pred.order] = 1
        if pred.order in ("columns", "keys") and len(predicted.codes):  # 0/1: the highest is 1
            found[_SCORES, "pred", "highest"] = frozenset(["1.0"])
    unused = [str(fact) for fact in pred.notes if fact.code == "unused-columns"]
    if unused and pred.side.scores is None:
        found[UNUSED] = frozenset(unused)
    both = pred.side.scores is not None  # the ground truth alone: the sides look swapped
    if both and true.scores is not None and (true.scores != 1).any():
        found[_SCORES, "ref"] = 1
    if predicted.scores is not None and len(predicted.scores):
        found[_SCORES, "pred", "low"] = int((predicted.scores < _LOW).sum())
        found[_SCORES, "pred", "all"] = len(predicted.scores)
        found[_SCORES, "pred", "highest"] = frozenset([repr(float(predicted.scores.max()))])
    return found


def _terms(task: LabelTask, chosen: Bools) -> list[tuple[str, ...]]:
    codes = np.flatnonzero(chosen).tolist()
    if task.terms is None:
        return [(task.classes[code],) for code in codes]
    return [task.terms[code] for code in codes]


def _names(task: LabelTask, chosen: Bools) -> list[str]:
    """Return all terms of the classes chosen."""
    if task.terms is None:
        return list(compress(task.classes, chosen.tolist()))
    return [term for terms in _terms(task, chosen) for term in terms]


def _find_alike(task: LabelTask, lone: Bools, known: Bools) -> dict[Hashable, Any]:
    """Find predicted labels that a normalisation makes reference labels."""
    names, others = _names(task, known), _names(task, lone)
    targets = dict(zip(reversed(_folded(names)), reversed(names), strict=True))  # the first stays
    widths = [len(terms) for terms in _terms(task, lone)]
    codes = np.repeat(np.flatnonzero(lone), widths).tolist()
    pairs: dict[int, tuple[str, str]] = {}
    for code, term, fold in zip(codes, others, _folded(others), strict=True):
        if fold and fold in targets:
            pairs.setdefault(code, (term, targets[fold]))
    return _count_alike(task, "pred", pairs)


def _find_doubles(task: LabelTask, names: Sequence[str]) -> dict[Hashable, Any]:
    """Find reference labels that are written in several ways; a class list means its classes."""
    if task.given is not None or len(set(_lower_lines(names))) == len(names):  # as a rule
        return {}
    fold = normalization("lower+separators")
    written: dict[str, dict[int, str]] = {}
    for code in np.flatnonzero(task.axis.n_reference).tolist():
        for term in (task.classes[code],) if task.terms is None else task.terms[code]:
            if folded := fold(term):  # nothing is left of separators alone
                written.setdefault(folded[0], {}).setdefault(code, term)
    pairs: dict[int, tuple[str, str]] = {}
    for several in written.values():
        first, *others = dict.fromkeys(several.values())  # labels may share a synonym
        for code, term in several.items() if others else ():
            pairs.setdefault(code, (others[0] if term == first else term, first))
    return _count_alike(task, "ref", pairs)


def _count_alike(
    task: LabelTask, side: str, pairs: Mapping[int, tuple[str, str]]
) -> dict[Hashable, Any]:
    """Count the labels of a side that have another that is alike."""
    if not pairs:
        return {}
    mine: Side = getattr(task, side)
    chosen = np.zeros(len(task.classes), np.bool_)
    chosen[list(pairs)] = True
    touched = chosen[mine.codes]
    one, other = pairs[min(pairs)]
    return {
        (_ALIKE, side, "labels"): int(touched.sum()),
        (_ALIKE, side, "items"): int((sum_rows(touched, mine.indptr) > 0).sum()),
        (_ALIKE, side, "examples"): frozenset([f"{one!r} and {other!r}"]),
        **{(_ALIKE, side, step): 1 for step in _needed_steps(pairs.values())},
    }


def _folded(terms: Sequence[str]) -> list[str]:
    """Return what labels that are alike have in common: what all normalisations of STEPS make."""
    return [singular(" ".join(line.split())) for line in _lower_lines(terms)]


def _lower_lines(terms: Sequence[str]) -> list[str]:
    """Return labels in lower case with blanks for separators: in one text, which is faster."""
    lines = "\n".join(terms).lower().replace("_", " ").replace("-", " ").split("\n")
    if len(lines) == len(terms):
        return lines
    return [line for term in terms for line in _lower_lines([term.replace("\n", " ")])]


def _needed_steps(pairs: Iterable[tuple[str, str]]) -> set[str]:
    """Return the normalisations that join all pairs of labels, the fewest for each pair."""
    needed: set[str] = set()
    left = set(pairs)
    for size in range(1, len(STEPS) + 1):
        for steps in combinations(STEPS, size):
            clean = normalization("+".join(steps))
            joined = {pair for pair in left if clean(pair[0]) == clean(pair[1])}
            if joined:
                needed.update(steps)
                left -= joined
    return needed


def _find_delimiters(task: LabelTask, names: Mapping[str, Sequence[str]]) -> dict[Hashable, Any]:
    """Find labels of a side that look like several labels in one."""
    whole = {side: "\n".join(some) for side, some in names.items()}
    found: dict[Hashable, Any] = {}

    def add(key: tuple[str, ...], side: str, joined: Callable[[str], Any], example: str) -> None:
        chosen = np.array([bool(joined(name)) for name in task.classes], np.bool_)
        found[key] = int(chosen[getattr(task, side).codes].sum())
        example_key = ("example", *key)
        found[example_key] = frozenset([example])

    for side, other in (("pred", "ref"), ("ref", "pred")):
        mine = names[side]
        lists = list(filter(_LIST.search, mine)) if "[" in whole[side] else []
        if lists:
            add((_WRITTEN, side), side, _LIST.search, lists[0])
            continue
        for delimiter in _DELIMITERS:
            if delimiter not in whole[side]:
                continue
            joined = [name for name in mine if delimiter in name]
            if delimiter in whole[other]:
                suspicious = _are_joined(joined, mine, delimiter)
            else:  # labels of the other side with a delimiter between them
                known = {name.casefold() for name in names[other]}
                suspicious = 2 * len(joined) >= len(mine) or _are_most(joined, delimiter, known)
            if suspicious:
                add((_HELD, side, delimiter), side, lambda n, d=delimiter: d in n, joined[0])  # type: ignore[misc]
    return found


def _are_joined(joined: Sequence[str], names: Sequence[str], delimiter: str) -> bool:
    """Tell from one side whether its labels are labels with a delimiter between them.

    Most of them share a part with others; or, where nobody writes the delimiter in a name, half of
    all labels hold it.
    """
    if delimiter != "," and 2 * len(joined) >= len(names):
        return True
    parts = Counter(part for name in names for part in set(_parts(name, delimiter)))
    return _are_most(joined, delimiter, {part for part, n in parts.items() if n > 1})


def _are_most(joined: Sequence[str], delimiter: str, known: set[str]) -> bool:
    """Tell whether most texts have a part that is known."""
    return 2 * sum(not known.isdisjoint(_parts(name, delimiter)) for name in joined) >= len(joined)


def _parts(name: str, delimiter: str) -> list[str]:
    return [part.strip().casefold() for part in name.split(delimiter) if part.strip()]


def _find_sentences(
    task: LabelTask, present: Mapping[str, Bools], names: Mapping[str, Sequence[str]]
) -> dict[Hashable, Any]:
    """Find sides whose labels look like captions."""
    found: dict[Hashable, Any] = {}
    for side, chosen in present.items():
        if max(map(str.count, names[side], repeat(" ")), default=0) + 1 < _SENTENCE:
            continue
        words = np.zeros(len(task.classes), np.int64)
        words[chosen] = [1 + terms[0].count(" ") for terms in _terms(task, chosen)]
        each: Side = getattr(task, side)
        total = int(words[each.codes].sum())
        if total and total >= _SENTENCE * len(each.codes):
            found[WORDS, side, "words"], found[WORDS, side, "entries"] = total, len(each.codes)
    return found


def _find_strangers(
    task: LabelTask, present: Mapping[str, Bools], lone: Bools
) -> dict[Hashable, Any]:
    """Find out whether hardly any label of a side occurs on the other."""
    missing = {"pred": lone, "ref": present["ref"] & ~present["pred"]}
    if min(len(task), *(int(chosen.sum()) for chosen in present.values())) < _DISTINCT:
        return {}
    found: dict[Hashable, Any] = {}
    for side, chosen in missing.items():
        codes = getattr(task, side).codes
        alone = int(chosen[codes].sum())
        if alone > (1 - _HARDLY[side]) * len(codes):
            found |= {(_LONE, side, "alone"): alone, (_LONE, side, "all"): len(codes)}
            found[_LONE, side, "examples"] = frozenset([_terms(task, chosen)[0][0]])
    return found


# ---- facts --------------------------------------------------------------------------------------


def label_facts(
    tasks: Tasks,
    measures: Sequence[Measure],
    options: Options,
    noted: Mapping[str, Any],
    inputs: Sequence[Any] = (),
) -> Facts:
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
    facts: Facts = []
    of_truth: Facts = []
    truth = inputs[-1].source if inputs else ""
    for name, task in each_task(tasks):
        odd = noted.get(name, task.odd)
        facts += count_facts(name, task) + oddity_facts(odd, "pred", name, options)
        facts += _score_facts(odd, name, task, measures, options)
        facts += dict.fromkeys(_model_facts(name, task, noted.get(name, {})))
        of_truth += oddity_facts(odd, "ref", truth, options)
        of_truth += [Fact("true-scores", where=truth)] * ((_SCORES, "ref") in odd)
        of_truth += swapped_facts(odd)
    facts += [fact for one in inputs for fact in unlike_scores(one)]
    facts += first_of_each(of_truth) + different_items(tasks)
    facts += unused_embeddings(measures, options["embedding"])
    models = [model.embedder for _, task in each_task(tasks) for model in task.models.values()]
    facts += cache_facts(models, options["cache"])
    facts += unused_weights(options["weights"], inputs)
    facts += () if options["taxonomy"] is None else options["taxonomy"].notes
    if noted:  # a calibration evaluates nothing
        facts += uncalibrated_facts(tasks, measures, options)
    facts += unused_rules(measures, options, "SemF1")
    by_size = any(str(m["decode"]).startswith("cardinality") for m in measures)
    for option in ("set_size_probs", "first_set_size"):
        if is_given(options[option]) and not by_size:
            facts.append(no_effect(option, "only decode=cardinality uses it"))
    if options["taxonomy"] is not None and not any(
        "taxonomy" in m.definition.needs for m in measures
    ):
        facts.append(no_effect("taxonomy", "no measure here counts ancestors (hF does)"))
    return facts


def oddity_facts(odd: Odd, side: str, where: str, options: Mapping[str, Any]) -> Facts:
    """Return what was found on a side of a task, as ``Task.odd`` or ``Statistics.noted`` has it."""
    numbers: Any = odd
    shared: dict[str, Any] = {"side": SIDES[side]}
    facts: Facts = []

    def add(code: str, n: int, examples: Hashable, **values: Any) -> None:
        example = (min(numbers[examples]),) if examples in odd else ()  # the same in any order
        facts.append(Fact(code, n, example, where, {**shared, **values}))

    if (_WRITTEN, side) in odd:
        add("lists-as-text", numbers[_WRITTEN, side], ("example", _WRITTEN, side))
    for delimiter in _DELIMITERS:
        if (key := (_HELD, side, delimiter)) in odd:
            add("joined-labels", numbers[key], ("example", *key), delimiter=delimiter)
    if (_ALIKE, side, "labels") in odd:
        steps = [step for step in STEPS if any((_ALIKE, one, step) in odd for one in SIDES)]
        kept = [one for one in options["normalize"].split("+") if one not in ("none", *steps)]
        protocol = options["protocol"]
        add(
            "spelling" if protocol is None else "spelling-kept",
            numbers[_ALIKE, side, "labels"], (_ALIKE, side, "examples"),
            items=numbers[_ALIKE, side, "items"],
            ways=" or ".join(STEPS[step] for step in steps if (_ALIKE, side, step) in odd),
            **({"protocol": protocol} if protocol else {"rules": "+".join([*kept, *steps])}),
        )  # fmt: skip
    lone = [one for one in SIDES if (_LONE, one, "alone") in odd]
    if lone and lone[0] == side:  # the other side says the same
        total = numbers[_LONE, side, "all"]
        example = (_LONE, side, "examples")
        add("one-sided-labels", numbers[_LONE, side, "alone"], example, total=total,
            other=_OTHERS[side])  # fmt: skip
    mean = mean_words(odd, side)
    if mean is not None:
        add("sentences", 0, "", mean=mean)
    return facts


def _score_facts(
    odd: Odd, where: str, task: LabelTask, measures: Sequence[Measure], options: Options
) -> Facts:
    """Note scores without effect, and measures that take an order that nobody gave."""
    numbers: Any = odd
    facts: Facts = []

    def counts_all(measure: Measure) -> bool:
        ranking = "scores" in measure.definition.needs or measure.definition.name == "AP"
        return not ranking and measure.k is None and measure["decode"] in (None, "all")

    def ranks(measure: Measure) -> bool:
        invariant = measure.definition.order_invariant or measure["match"] in ("optimal", "any")
        return measure.k is not None or not invariant

    low = numbers.get((_SCORES, "pred", "low"), 0)
    free = options["protocol"] is None and not task.ranked
    if low and free and any(map(counts_all, measures)):
        facts.append(Fact("scores-unused", low, (), where, {"total": odd[_SCORES, "pred", "all"]}))
    highest = odd.get((_SCORES, "pred", "highest"))
    if isinstance(highest, frozenset):
        top = max(map(float, highest))
        rules = [str(m["decode"]).partition(":") for m in measures if not m["keep_at_least"]]
        facts += [
            Fact("nothing-predicted", where=where, values={"threshold": number, "highest": top})
            for number in dict.fromkeys(number for rule, _, number in rules if rule == "threshold")
            if number[:1].isdigit() and float(number) >= top
        ]
    orders = [text for order, text in _ORDERS.items() if (_ORDER, order) in odd]
    which = list(dict.fromkeys(map(str, filter(ranks, measures))))
    if orders and which:
        shown = ", ".join(which[:_SHOWN]) + " and others" * (len(which) > _SHOWN)
        values = {"order": ", ".join(orders), "measures": shown}
        facts.append(Fact("order-of-labels", where=where, values=values))
    return facts


def _model_facts(where: str, task: LabelTask, noted: Mapping[Any, Any]) -> Facts:
    """Note what models did not know or read, and what the steps of semantic measures noted."""
    if not task.models:
        return []
    from semmetrics.metrics.bags import list_counts
    from semmetrics.metrics.semantic import pairs_near

    facts: Facts = [Fact("numbers-as-labels", where=where)] if task.numbered else []
    for model in task.models.values():
        flags = {"unknown": ~model.known, "composed": model.composed}
        which = {key: [model.terms[i] for i in np.flatnonzero(some)] for key, some in flags.items()}
        facts += model_facts(where, model, model.counts, "distinct term", which)
    for name, counts in list_counts(noted).items():
        facts += model_facts(where, task.models[name], counts, "label list")
    near = {threshold: n for (_, threshold), n in pairs_near(noted).items() if n}
    if len(near) > _SHOWN:
        return [*facts, Fact("near-thresholds", max(near.values()), (), where,
                             {"thresholds": len(near)})]  # fmt: skip
    return facts + [Fact("near-threshold", n, (), where, {"threshold": t}) for t, n in near.items()]


def unlike_scores(labels: Lists) -> Facts:
    """Note labels that an item has several times with different scores.

    Examples
    --------
    >>> from semmetrics.kinds.labels import as_labels
    >>> print(*unlike_scores(as_labels({"a": [("cat", 1), ("cat", 0)]})))
    input: 1 label in 1 item listed with different scores, such as 'cat' of 'a': 1 and 0; the
    highest counts, or each with duplicates=each
    """
    number, items, example = labels.unlike
    values = {"items": items}
    return [Fact("unlike-scores", number, (example,), labels.source, values)] if number else []


def uncalibrated_facts(tasks: Tasks, measures: Sequence[Measure], options: Options) -> Facts:
    """Note embeddings that are used with the threshold of another one.

    Parameters
    ----------
    tasks : mapping from system and part to LabelTask
    measures : sequence of Measure
        As they were asked for, before the threshold is known.
    options : ResolvedOptions
    """
    names = dict.fromkeys(str(m["embedding"]) for m in measures if m["threshold"] == "auto")
    if not names or options["calibration"] is not None:
        return []
    models, given = next(task for _, task in each_task(tasks)).models, options["embedding"]
    found: dict[str, Fact] = {}
    for name in names:
        model, spec = models[name], given.get(name) if isinstance(given, Mapping) else given
        named = isinstance(spec, str) and spec.startswith("word2vec:")
        known = hasattr(model.embedder, "threshold") or named  # or word2vec's, which is known
        identity = model.embedder.identity
        if not known and not _WORD2VEC.search(identity):
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

    labels = labels.renamed([as_entry(tuple(dict.fromkeys(terms))) for terms in labels.terms])
    side, scores = labels.side, labels.side.scores
    counts = label_frequencies(side.codes, len(labels.vocabulary))
    names = [class_name(terms) for terms in labels.terms]
    sizes = lengths(side.indptr).astype(np.float64)
    order: dict[str, Any] = {"mean": None, "pairs": int((sizes * (sizes - 1) / 2).sum())}
    if order["pairs"] <= _PAIRS and not labels.ranked:  # more would take minutes
        found = label_order(side.indptr, side.codes)
        order = {"mean": finite_or_none(found.mean), "pairs": len(found.order)}
    span = None
    if scores is not None and len(scores):
        span = {"min": float(scores.min()), "max": float(scores.max())}
    return describe_input(
        labels,
        _find_odd(labels),
        labels=len(side.codes),
        vocabulary=len(names),
        synonyms=sum(len(terms) > 1 for terms in labels.terms),
        ranked=labels.ranked,
        scores=span,
        cardinality=describe_sizes(side.indptr),
        frequencies=[
            {"label": names[code], "count": times}
            for code, times in zip(counts.labels.tolist(), counts.counts.tolist(), strict=True)
        ],
        order=None if labels.ranked else order,
    )


def _find_odd(labels: Lists) -> Facts:
    """Note what is accepted and yet probably not meant."""
    side, width = labels.side, max(1, len(labels.vocabulary))
    names = [term for terms in labels.terms for term in terms]
    facts = find_gaps(labels) + unlike_scores(labels)
    if not labels.ranked and len(labels) >= _FEW:
        cells = np.unique(cell_keys(side.indptr, side.codes, width))
        present = np.bincount(cells % width)
        common = np.flatnonzero(present > _OFTEN * len(labels)).tolist()
        once = int((present == 1).sum())
        often = some_of(class_name(labels.terms[code]) for code in common)
        facts += [Fact("common-labels", *often)] if common else []
        facts += [Fact("rare-labels", once, values={"total": width})] if once else []
    facts += find_odd_texts(list(dict.fromkeys(names)), "label")
    lists = list(filter(_LIST.search, names))
    distinct: dict[str, Any] = {"side": "distinct"}
    facts += [Fact("lists-as-text", *some_of(lists, **distinct))] if lists else []
    for delimiter in () if lists else _DELIMITERS:
        joined = [name for name in names if delimiter in name]
        if joined and _are_joined(joined, names, delimiter):
            values = {**distinct, "delimiter": delimiter}
            facts.append(Fact("joined-labels", len(joined), (joined[0],), "", values))
    words = sum(name.count(" ") + 1 for name in names)
    if not labels.ranked and words and words >= _SENTENCE * len(names):
        values = {**distinct, "mean": words / len(names)}
        facts.append(Fact("sentences", values=values))
    facts += find_odd_ids(labels.ids)
    scores = side.scores
    if scores is None or not len(scores):
        return facts
    outside, rows = int(((scores < 0) | (scores > 1)).sum()), row_numbers(side.indptr)
    facts += [Fact("outside-0-1", outside, values={"total": len(scores)})] if outside else []
    if len(scores) > 1 and scores.min() == scores.max():
        facts.append(Fact("equal-scores", values={"score": float(scores[0])}))
    rising = np.unique(rows[1:][(np.diff(scores) > 0) & (np.diff(rows) == 0)])
    return facts if labels.ranked else facts + items_fact("rising-scores", labels, rising)


def report(record: Mapping[str, Any]) -> dict[str, str]:
    """Return the facts of a description as texts by name; an empty text is not worth a line."""
    number, scores, order = "score" if record["ranked"] else "label", "none", ""
    if record["scores"] is not None:
        rule = "; a decoding rule or a cutoff makes sets of them" if record["ranked"] else ""
        scores = "from {min:g} to {max:g}".format(**record["scores"]) + rule
    if record["order"] is not None and record["order"]["pairs"]:
        mean, pairs = record["order"]["mean"], pluralize(record["order"]["pairs"], "pair")
        order = f"not computed: {pairs} of labels are too many"
        if mean is not None:
            order = f"{mean:.3f} over {pairs} (0.5: none, 1: always the same)"
    frequencies = [(entry["label"], entry["count"]) for entry in record["frequencies"]]
    several = record["synonyms"]
    return {
        "items": format_known(record),
        "labels": f"{pluralize(record['labels'], number)}, {record['vocabulary']:,} distinct",
        "synonyms": f"{pluralize(several, 'label')} with several names" if several else "",
        "scores": scores,
        "labels an item": format_spread(record["cardinality"]),
        "most frequent": "" if record["ranked"] else format_counts(frequencies),
        "label order": order,
    }


def show_item(task: LabelTask, row: int, measure: Measure) -> dict[str, Any]:
    """Show one item as a measure sees it.

    Returns
    -------
    dict
        "predicted": the labels that the measure's cutoff or decoding rule keeps, in its order, and
        "true".
    """
    from semmetrics.metrics.matching import Ranked, Reference, cut_of

    (block,) = task.take(np.array([row])).blocks()
    pred, ref = block.get(Ranked()), block.get(Reference())
    kept = len(pred.codes)
    if measure["decode"] is not None:
        kept = int(block.get(cut_of(measure))[0])
    elif measure.k is not None:
        kept = min(kept, measure.k)
    sides = {"predicted": pred.codes[:kept], "true": ref.codes}
    return {name: [task.classes[code] for code in codes.tolist()] for name, codes in sides.items()}


def report_item(record: Mapping[str, Any]) -> list[str]:
    """Return the lines of an item: the predicted labels, and the true ones."""
    lines = []
    for side in ("predicted", "true"):
        names = record[side]
        more = f" and {len(names) - _MOST:,} more" if len(names) > _MOST else ""
        shown = ", ".join(map(on_one_line, names[:_MOST])) or "nothing"
        lines.append(f"{side:<9}  {shown}{more}")
    return lines


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
        "reference" (None without a match), "similarity" (of the pair, else of the prediction and
        its nearest reference; None where the item has no reference).

    Raises
    ------
    InputError
        If the measure matches nothing.
    """
    from semmetrics.metrics.label_similarity import written_codes
    from semmetrics.metrics.matching import Ranked, Reference, cut_of
    from semmetrics.metrics.semantic import MatchedPairs, SemanticFamily, SemanticMatches

    if not isinstance(measure.definition.family, SemanticFamily):
        raise InputError("out-of-range", role="the measure", value=str(measure),
                         wanted="one that matches labels, such as SemF1")  # fmt: skip
    step = SemanticMatches(
        float(str(measure["threshold"])),
        str(measure["match"]),
        str(measure["duplicates"]),
        str(measure["embedding"]),
        cut_of(measure),
    )
    names = task.classes
    if task.synonyms is not None:
        names = tuple(map(class_name, task.synonyms.terms))
    for block in task.blocks():
        ranked, ref = block.get(Ranked()), block.get(Reference())
        matched, kept = block.get(step), block.get(cut_of(measure))
        partner, similarity = block.get(MatchedPairs(step))
        predicted, true = written_codes(ranked), written_codes(ref)
        counted = np.ones(len(ranked.codes), np.bool_)
        if matched.counted is not None:
            counted = matched.counted
        once = np.ones(len(ref.codes), np.bool_) if matched.once is None else matched.once
        for item in range(len(block)):
            first, end = int(ranked.indptr[item]), int(ranked.indptr[item]) + int(kept[item])
            base = {"id": str(task.ids[block.start + item])}
            for place in range(first, end):
                if counted[place]:
                    other, value = partner[place].item(), similarity[place].item()
                    yield {
                        **base,
                        "rank": place - first + 1,
                        "prediction": names[predicted[place]],
                        "reference": None if other < 0 else names[true[other]],
                        "similarity": value if np.isfinite(value) else None,
                    }
            for place in range(int(ref.indptr[item]), int(ref.indptr[item + 1])):
                if once[place] and matched.first[place] >= end:
                    yield {
                        **base,
                        "rank": None,
                        "prediction": None,
                        "reference": names[true[place]],
                        "similarity": None,
                    }


def explain_definition(definition: Definition) -> dict[str, str]:
    """Return what a definition makes of cutoffs, and which orders and sides matter to it."""
    exchange = "does not matter" if definition.symmetric else "matters"
    order = "does not matter" if definition.order_invariant else "matters"
    cutoff = f"{definition.name}@5 takes the first 5 predictions" if definition.cutoff else "none"
    return {
        "cutoff": cutoff,
        "traits": f"which side predicts {exchange}; the order of labels in a list {order}",
    }


def explain_protocol(protocol: Any) -> dict[str, str]:
    """Return the cutoffs of a protocol, and what predictions it takes."""
    cutoffs = ", ".join(f"@{k}" for k in protocol.top_k)
    return {
        "cutoffs": f"{cutoffs or 'none'} unless {OPTIONS['top_k'].both} says otherwise",
        "predictions": f"label lists, or scores that {OPTIONS['threshold'].both} or "
        f"{OPTIONS['decode'].both} make sets of"
        if protocol.decode
        else "label lists, ranked by their scores where they have them",
    }
