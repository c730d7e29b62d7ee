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
from collections.abc import Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from itertools import chain, combinations, compress, product, repeat
from operator import attrgetter
from typing import Any

import numpy as np

from semmetrics.core.backend import round_to
from semmetrics.core.ragged import Bools, Floats, cell_keys, lengths, row_numbers, sum_rows
from semmetrics.data.lists import Lists, Side, as_entry
from semmetrics.data.tasks import BESIDE, UNUSED, LabelTask
from semmetrics.errors import Fact, first_of_each
from semmetrics.kinds import Measures, Notes, Options, Tasks, common, each_task
from semmetrics.kinds.labels.joined import (
    RARE_DELIMITERS,
    WORD_DELIMITERS,
    are_joined_words,
    are_permuted,
    are_split_by_other,
)
from semmetrics.kinds.labels.normalization import (
    Ignored,
    class_name,
    differently_encoded,
    normalization,
    singular,
)
from semmetrics.messages import pluralize
from semmetrics.metrics.definition import Definition, Measure
from semmetrics.options import OPTIONS, is_given

Odd = dict[Hashable, Any]
"""What was found in a task: counts, which parts add up, and sets, which they unite."""
FILES = "preds.json gt.json"  # of an example
STEPS = {"lower": "case or surrounding blanks", "separators": "blanks, _ or -", "plural": "plural"}
"""Normalisations that join labels that are alike, and what they make equal."""
SIDES = {"pred": "predicted", "ref": "reference"}
_OTHERS = {"pred": "ground truth", "ref": "predictions"}
_DELIMITERS = (";", "|", "\t", "+", "\n", ",")
_ALL_DELIMITERS = (*_DELIMITERS, *WORD_DELIMITERS, *RARE_DELIMITERS)
_LIST = re.compile(r"""^\s*\[\s*['"]|['"]\s*\]\s*$|^\s*\[\s*\]\s*$""")  # a list as text, or an end
_ALIKE, _HELD, _LONE = (f"{BESIDE}{name}" for name in ("alike", "delimiter", "lone labels"))
_ENCODED = f"{BESIDE}encoding"
_MINUS = "scores of -1"
_WRITTEN, _SCORES, _ORDER = "lists as text", "scores", "order"
UNVERIFIED = "unverified cells"
_OF_NEGATIVES = ("ROC-AUC", "CR")
"""Measures of curves that also count the items without a label."""
SHARED, IGNORED, DIFFICULT = "terms of several classes", "labels to ignore", "difficult labels"
PLACED = "labels in the taxonomy"
_NAMED, _TERMS = "labels that are no numbers", "terms"
_FLAGS = ("unknown", "composed", "zero_vectors")  # of terms in an embedding
_NO = np.zeros(1, np.bool_)
_SENTENCE = 5.0  # mean words of a label above which labels look like captions
_DISTINCT = 10  # distinct labels and items below which a share says little
_HARDLY = {"pred": 0.05, "ref": 0.01}  # shares of occurrences
_THRESHOLD_RULES = ("threshold", "at-least")
_ROUNDING = 1e-3  # by which a probability may be outside [0, 1]
_LOW = 0.5  # lists of what a tagger is sure of have no lower scores
_ORDERS = {"sorted": "sorted sets", "columns": "the columns", "keys": "the keys"}
_SHOWN = 3  # measures or thresholds that are named
_SCORE_NAME = re.compile(
    r"score|prob(?!lem)|conf(?!irm)|logit|softmax|sigmoid|certain|likelihood|similar|rank|distance",
    re.IGNORECASE,
)
_WORD2VEC = re.compile(r"word2vec|google-?news", re.IGNORECASE)
_PAIRS, _UNLIKE = 1 << 28, 1 << 22  # pairs of labels worth counting: in all items, different
_OFTEN = 0.95
_FEW = 20  # items below which shares say little
_MOST = 20  # labels of a list that are shown
_MATCH = ("id", "rank", "prediction", "reference", "similarity")


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
    found: Odd = {**common.swapped_sides(pred, ref), **_find_scores(pred, task.pred, task.ref)}
    found |= {} if task.numbered else {_NAMED: 1}
    found |= _find_encodings(task, present, known)
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


def _find_scores(pred: Lists, predicted: Side, true: Side) -> Odd:
    """Find scores and the order of labels, of the items that are evaluated."""
    found: Odd = {}
    if pred.side.scores is None:
        if pred.order:
            found[_ORDER, pred.order] = 1
        if pred.order in ("columns", "keys") and len(predicted.codes):  # 0/1: the highest is 1
            found[_SCORES, "pred", "highest"] = frozenset(["1.0"])
        if unused := frozenset(str(one) for one in pred.notes if one.code == "unused-columns"):
            found[UNUSED] = unused
        if columns := _columns_like_scores(pred):
            found[_ORDER, "file"] = columns
    elif true.scores is not None and (true.scores != 1).any():
        found[_SCORES, "ref"] = 1  # of the ground truth alone: the sides look swapped
        if (true.scores == -1).any():
            found[_MINUS, "ref"] = 1
    if predicted.scores is not None and len(predicted.scores):
        found[_SCORES, "pred", "low"] = int((predicted.scores < _LOW).sum())
        found[_SCORES, "pred", "all"] = len(predicted.scores)
        found[_SCORES, "pred", "highest"] = frozenset([repr(float(predicted.scores.max()))])
        found[_SCORES, "pred", "lowest"] = frozenset([repr(float(predicted.scores.min()))])
    return found


def _columns_like_scores(pred: Lists) -> frozenset[str]:
    """Return the columns that are not used and, by their names, may have the scores of labels."""
    columns = []
    for note in pred.notes:
        if note.code == "unused-columns":
            columns += [name for name in note.examples if _SCORE_NAME.search(name)]
    return frozenset(columns)


def _terms(task: LabelTask, chosen: Bools) -> list[tuple[str, ...]]:
    codes = np.flatnonzero(chosen).tolist()
    return [(task.classes[code],) if task.terms is None else task.terms[code] for code in codes]


def _names(task: LabelTask, chosen: Bools) -> list[str]:
    """Return all terms of the classes chosen."""
    if task.terms is None:
        return list(compress(task.classes, chosen.tolist()))
    return [term for terms in _terms(task, chosen) for term in terms]


def _find_alike(task: LabelTask, lone: Bools, known: Bools) -> Odd:
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


def _find_encodings(task: LabelTask, present: Mapping[str, Bools], known: Bools) -> Odd:
    """Find labels of a side that look the same as others of the other side, and are not equal."""
    sides = {"pred": (present["pred"], known), "ref": (present["ref"], present["pred"])}
    for side, (chosen, of_other) in sides.items():
        pairs = differently_encoded(_names(task, chosen & ~of_other), _names(task, of_other))
        if pairs:
            label, other = min(pairs.items())
            held = [not pairs.keys().isdisjoint(terms) for terms in _terms(task, chosen)]
            touched = np.zeros(len(task.classes), np.bool_)
            touched[np.flatnonzero(chosen)[held]] = True
            number = int(touched[getattr(task, side).codes].sum())
            example = frozenset([f"{label!a} and {other!a}"])
            return {(_ENCODED, side): number, ("example", _ENCODED, side): example}
    return {}


def _find_doubles(task: LabelTask, names: Sequence[str]) -> Odd:
    """Find reference labels that are written in several ways; a class list means its classes."""
    if task.given is not None or len(set(_lower_lines(names))) == len(names):  # as a rule
        return {}
    fold, true = normalization("lower+separators"), task.axis.n_reference > 0
    written: dict[str, dict[int, str]] = {}
    for code, terms in zip(np.flatnonzero(true).tolist(), _terms(task, true), strict=True):
        for term in terms:
            if folded := fold(term):  # nothing is left of separators alone
                written.setdefault(folded[0], {}).setdefault(code, term)
    pairs: dict[int, tuple[str, str]] = {}
    for several in written.values():
        first, *others = dict.fromkeys(several.values())  # labels may share a synonym
        for code, term in several.items() if others else ():
            pairs.setdefault(code, (others[0] if term == first else term, first))
    return _count_alike(task, "ref", pairs)


def _count_alike(task: LabelTask, side: str, pairs: Mapping[int, tuple[str, str]]) -> Odd:
    """Count the labels of a side that have another that is alike, and name what makes them equal.

    Of the normalisations the fewest are named that join the two of a pair.
    """
    if not pairs:
        return {}
    mine: Side = getattr(task, side)
    chosen = np.zeros(len(task.classes), np.bool_)
    chosen[list(pairs)] = True
    touched = chosen[mine.codes]
    one, other = pairs[min(pairs)]
    found: Odd = {
        (_ALIKE, side, "labels"): int(touched.sum()),
        (_ALIKE, side, "items"): int((sum_rows(touched, mine.indptr) > 0).sum()),
        ("example", _ALIKE, side, "labels"): frozenset([f"{one!r} and {other!r}"]),
    }
    left, sizes = set(pairs.values()), range(1, len(STEPS) + 1)
    for steps in chain.from_iterable(combinations(STEPS, size) for size in sizes):
        clean = normalization("+".join(steps))
        joined = {pair for pair in left if clean(pair[0]) == clean(pair[1])}
        found |= {(_ALIKE, side, step): 1 for step in steps} if joined else {}
        left -= joined
    return found


def _folded(terms: Sequence[str]) -> list[str]:
    """Return what labels that are alike have in common: what all normalisations of STEPS make."""
    return [singular(" ".join(line.split())) for line in _lower_lines(terms)]


def _lower_lines(terms: Sequence[str]) -> list[str]:
    """Return labels in lower case with blanks for separators: in one text, which is faster."""
    lines = "\n".join(terms).lower().replace("_", " ").replace("-", " ").split("\n")
    if len(lines) == len(terms):
        return lines
    return [line for term in terms for line in _lower_lines([term.replace("\n", " ")])]


def _find_delimiters(task: LabelTask, names: Mapping[str, Sequence[str]]) -> Odd:
    """Find labels of a side that look like several labels in one."""
    found: Odd = {}
    for side, mine in names.items():
        lists = [name for name in mine if "[" in name and _LIST.search(name)]
        holders: dict[tuple[str, ...], tuple[str, set[str]]] = {}
        if lists:
            holders[_WRITTEN, side] = lists[0], set(filter(_LIST.search, task.classes))
        else:
            for delimiter in _joining_delimiters(task, side, names):
                joined = [name for name in mine if _has_parts(name, delimiter)]
                held = {name for name in task.classes if _has_parts(name, delimiter)}
                holders[_HELD, side, delimiter] = joined[0], held
        for key, (example, some) in holders.items():
            chosen = np.array([name in some for name in task.classes], np.bool_)
            n = int(chosen[getattr(task, side).codes].sum())
            found |= {key: n, ("example", *key): frozenset([example])}
    return found


def _joining_delimiters(
    task: LabelTask, side: str, names: Mapping[str, Sequence[str]]
) -> list[str]:
    """Return the delimiters that separate several labels in one label of a side."""
    other_side = "ref" if side == "pred" else "pred"
    mine, others = names[side], names[other_side]
    own, other = getattr(task, side), getattr(task, other_side)
    text = "".join(mine)
    occurring = [delimiter for delimiter in _ALL_DELIMITERS if delimiter in text]
    found = [one for one in occurring if one in _DELIMITERS and _separates(one, mine, others)]
    if lengths(own.indptr).max(initial=0) > 1:
        return found
    for delimiter in occurring:
        if delimiter in found:
            continue
        if _separates_words(delimiter, mine, others) or are_split_by_other(
            task.classes, own, other, delimiter
        ):
            found.append(delimiter)
    return found


def _separates(delimiter: str, mine: Sequence[str], others: Sequence[str]) -> bool:
    """Tell whether a delimiter that is hardly ever in a name separates labels of a side."""
    joined = [name for name in mine if _has_parts(name, delimiter)]
    is_elsewhere = any(delimiter in name for name in others)
    return bool(joined) and _are_joined(joined, mine, delimiter, None if is_elsewhere else others)


def _separates_words(delimiter: str, mine: Sequence[str], others: Sequence[str]) -> bool:
    """Tell by the labels whether a delimiter separates words of a side with one label per item."""
    is_joined = delimiter in WORD_DELIMITERS and are_joined_words(mine, others, delimiter)
    return is_joined or are_permuted(mine, others, delimiter)


def _has_parts(name: str, delimiter: str) -> bool:
    """Tell whether a name contains a delimiter; "C++" does not contain "+" between two parts."""
    if delimiter not in name:
        return False
    return delimiter != "+" or all(name.split(delimiter))


def _are_joined(
    joined: Sequence[str], names: Sequence[str], delimiter: str, others: Sequence[str] | None = None
) -> bool:
    """Tell whether the labels of a side that hold a delimiter are labels with it between them.

    Most of them share a part with labels of the side, or with ``others``, those of the other side
    if none of these holds the delimiter; or, where nobody writes the delimiter in a name, half of
    all labels hold it.
    """

    def parts(name: str) -> set[str]:
        return {part.strip().casefold() for part in name.split(delimiter) if part.strip()}

    if (delimiter != "," or others is not None) and 2 * len(joined) >= len(names):
        return True
    if others is not None:
        known = {name.casefold() for name in others}
    else:
        times = Counter(part for name in names for part in parts(name))
        known = {part for part, n in times.items() if n > 1}
    return 2 * sum(not known.isdisjoint(parts(name)) for name in joined) >= len(joined)


def _find_sentences(
    task: LabelTask, present: Mapping[str, Bools], names: Mapping[str, Sequence[str]]
) -> Odd:
    """Find sides whose labels look like captions."""
    found: Odd = {}
    for side, chosen in present.items():
        if max(map(str.count, names[side], repeat(" ")), default=0) + 1 < _SENTENCE:
            continue
        words = np.zeros(len(task.classes), np.int64)
        words[chosen] = [1 + terms[0].count(" ") for terms in _terms(task, chosen)]
        codes = getattr(task, side).codes
        total = int(words[codes].sum())
        if total and total >= _SENTENCE * len(codes):
            found |= common.note_words(side, total, len(codes))
    return found


def _find_strangers(task: LabelTask, present: Mapping[str, Bools], lone: Bools) -> Odd:
    """Find out whether hardly any label of a side occurs on the other."""
    found: Odd = {}
    n_distinct = min(int(chosen.sum()) for chosen in present.values())
    is_small = min(len(task), n_distinct) < _DISTINCT
    if is_small and not _are_numbers_and_names(task, present):
        return found
    for side, chosen in (("pred", lone), ("ref", present["ref"] & ~present["pred"])):
        codes = getattr(task, side).codes
        alone = int(chosen[codes].sum())
        if alone > (1 - _HARDLY[side]) * len(codes):
            found |= {(_LONE, side, "alone"): alone, (_LONE, side, "all"): len(codes)}
            found["example", _LONE, side, "alone"] = frozenset([_terms(task, chosen)[0][0]])
    return found


def _are_numbers_and_names(task: LabelTask, present: Mapping[str, Bools]) -> bool:
    """Tell whether all labels of one side are numbers, and no label of the other is."""
    shares = []
    for chosen in present.values():
        names = _names(task, chosen)
        numbers = [name for name in names if name.isdecimal()]
        shares.append(len(numbers) / len(names) if names else 0.5)
    return sorted(shares) == [0, 1]


def find_odd_terms(models: Mapping[str, Any]) -> Odd:
    """Find the terms that embeddings do not know, or only in part; those read in part are counted.

    Parameters
    ----------
    models : mapping from name to LabelVectors
    """
    found: Odd = {}
    for name, model in models.items():
        zeros = model.known & ~model.vectors.any(axis=1) if model.counts["zero_vectors"] else _NO
        for what, some in zip(_FLAGS, (~model.known, model.composed, zeros), strict=True):
            if some.any():
                found[_TERMS, what, name] = frozenset(compress(model.terms, some.tolist()))
        if model.counts["truncated"]:
            found[_TERMS, "truncated", name] = model.counts["truncated"]
    return found


def count_known_terms(models: Mapping[str, Any]) -> Odd:
    """Count the terms that each embedding knows."""
    return {(_TERMS, "known", name): int(model.known.sum()) for name, model in models.items()}


# ---- facts --------------------------------------------------------------------------------------


def label_facts(
    tasks: Tasks, measures: Measures, options: Options, noted: Notes, inputs: Sequence[Any] = ()
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
    every, taxonomy = [task for _, task in each_task(tasks)], options["taxonomy"]
    ignored = Ignored.of(options["ignore"], normalization(options["normalize"])).names
    for name, task in each_task(tasks):
        odd = noted.get(name, task.odd)
        facts += common.counted("shared-terms", len(odd.get(SHARED, ())), (), name)
        lost = len(ignored) - len(odd.get(IGNORED, ()))
        facts += common.counted("ignored-labels-not-found", lost, (), name)
        facts += common.count_facts(name, task) + oddity_facts(odd, "pred", name, options)
        facts += _score_facts(odd, name, task, measures, options)
        facts += dict.fromkeys(_model_facts(name, task, odd))
        of_truth += oddity_facts(odd, "ref", truth, options)
        if (_MINUS, "ref") in odd:
            of_truth.append(Fact("true-minus", where=truth))
        elif (_SCORES, "ref") in odd:
            of_truth.append(Fact("true-scores", where=truth))
        of_truth += common.swapped_facts(odd)
        of_truth += common.counted("difficult-labels", odd.get(DIFFICULT, 0), (), truth)
        of_truth += common.counted("unverified-cells", odd.get(UNVERIFIED, 0), (), truth)
    facts += [fact for one in inputs for fact in unlike_scores(one)]
    facts += _count_of_unverified(measures, inputs)
    facts += first_of_each(of_truth) + common.different_items(tasks)
    facts += common.unused_embeddings(measures, options["embedding"])
    models = (model.embedder for task in every for model in task.models.values())
    facts += common.cache_facts(models, options["cache"])
    facts += common.unused_weights(options["weights"], inputs)
    facts += () if taxonomy is None else taxonomy.notes
    if noted:  # a calibration evaluates nothing
        facts += uncalibrated_facts(every[0].models, measures, options)
    facts += common.unused_rules(measures, options, "SemF1")
    by_size = any(str(m["decode"]).startswith(("cardinality", "dirichlet")) for m in measures)
    facts += [common.no_effect(option, "only decode=cardinality uses it")
              for option in ("set_size_probs", "first_set_size")
              if is_given(options[option]) and not by_size]  # fmt: skip
    if options["unknown_value"] is not None and all(task.unverified is None for task in every):
        facts.append(common.no_effect("unknown_value", "the ground truth has no 0/1 cells"))
    if options["activation"] is not None and all(task.pred.scores is None for task in every):
        facts.append(common.no_effect("activation", "the predictions have no scores"))
    if taxonomy is not None and not any("taxonomy" in m.definition.needs for m in measures):
        facts.append(common.no_effect("taxonomy", "no measure here counts ancestors (hF does)"))
    return facts


def _count_of_unverified(measures: Measures, inputs: Sequence[Any]) -> list[Fact]:
    """Note the measures that also count labels that nobody verified, of LVIS."""
    if not inputs or not getattr(inputs[-1], "is_federated", False):
        return []
    names = []
    for measure in measures:
        definition = measure.definition
        counts_all = definition.dictionary or "total" in definition.arguments
        if counts_all or definition.name in _OF_NEGATIVES:
            names.append(str(measure))
    if not names:
        return []
    return [Fact("unverified-counted", where=inputs[-1].source, values={"names": names})]


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
            elif isinstance(key, tuple) and key[:2] == (_TERMS, "known"):
                counts["embedding"] += found
    if len(names) < 2:
        del counts["embedding"]
    common.check_shared(counts, options, "label", names)


def oddity_facts(odd: Odd, side: str, where: str, options: Mapping[str, Any]) -> list[Fact]:
    """Return what was found on a side of a task, as ``Task.odd`` or ``Statistics.noted`` has it."""
    facts: list[Fact] = []

    def add(code: str, *key: str, **values: Any) -> None:
        if key in odd:
            examples = odd.get(("example", *key))
            example = (min(examples),) if examples else ()  # the same in any order
            facts.append(Fact(code, odd[key], example, where, {"side": SIDES[side], **values}))

    add("lists-as-text", _WRITTEN, side)
    add("other-encoding", _ENCODED, side)
    for delimiter in _ALL_DELIMITERS:
        add("joined-labels", _HELD, side, delimiter, delimiter=delimiter)
    steps = [step for step in STEPS if any((_ALIKE, one, step) in odd for one in SIDES)]
    kept = [one for one in options["normalize"].split("+") if one not in ("none", *steps)]
    ways = " or ".join(STEPS[step] for step in steps if (_ALIKE, side, step) in odd)
    values = {"items": odd.get((_ALIKE, side, "items")), "ways": ways}
    if options["protocol"] is None:
        add("spelling", _ALIKE, side, "labels", **values, rules="+".join([*kept, *steps]))
    else:
        add("spelling-kept", _ALIKE, side, "labels", **values, protocol=options["protocol"])
    if side == "pred" or (_LONE, "pred", "alone") not in odd:  # the other side says the same
        values = {"total": odd.get((_LONE, side, "all")), "other": _OTHERS[side]}
        add("one-sided-labels", _LONE, side, "alone", **values)
    return facts + common.word_facts("sentences", odd, side, SIDES[side], where)


def _score_facts(
    odd: Odd, where: str, task: LabelTask, measures: Measures, options: Options
) -> list[Fact]:
    """Note scores without effect, and measures that take an order that nobody gave."""
    facts: list[Fact] = []
    all_ = [m for m in measures if m.k is None and m["decode"] in (None, "all")]
    all_ = [m for m in all_ if "scores" not in m.definition.needs and m.definition.name != "AP"]
    if all_ and options["protocol"] is None and not task.ranked:
        low, total = (odd.get((_SCORES, "pred", name), 0) for name in ("low", "all"))
        facts += common.counted("scores-unused", low, (), where, total=total)
    if (_SCORES, "pred", "highest") in odd:
        top = max(map(float, odd[_SCORES, "pred", "highest"]))
        lowest = min(map(float, odd.get((_SCORES, "pred", "lowest"), ["0.0"])))
        for number in score_thresholds(measures):
            values = {"threshold": number, "lowest": lowest, "highest": top}
            if is_threshold_of_probabilities(number) and are_no_probabilities(lowest, top):
                facts.append(Fact("no-probabilities", where=where, values=values))
        cutting = (m for m in measures if not m["keep_at_least"])
        for number in score_thresholds(cutting, ("threshold",)):
            if round_to(float(number), task.precision) >= top:
                values = {"threshold": number, "highest": top}
                facts.append(Fact("nothing-predicted", where=where, values=values))
    if options["protocol"] is None:
        facts += _short_list_facts(odd, where, measures)
    orders = [f"that of {text}" for order, text in _ORDERS.items() if (_ORDER, order) in odd]
    which = [measure for measure in measures if not measure.order_invariant]
    names = list(dict.fromkeys(map(str, which)))
    shown = ", ".join(names[:_SHOWN]) + " and others" * (len(names) > _SHOWN)
    if orders and which:
        values = {"order": ", ".join(orders), "measures": shown}
        facts.append(Fact("order-of-labels", where=where, values=values))
    columns = sorted(odd.get((_ORDER, "file"), ()))
    if columns and which:
        values = {"measures": shown, "column": columns[0]}
        facts.append(Fact("order-of-file", 0, tuple(columns), where, values))
    return facts


def _short_list_facts(odd: Odd, where: str, measures: Measures) -> list[Fact]:
    """Note lists that are shorter than a cutoff, if a measure divides by their length."""
    from semmetrics.metrics.matching import SHORT

    facts: list[Fact] = []
    for k in sorted({m.k for m in measures if m.k is not None}):
        divided = [m for m in measures if m.k == k and m["denominator"] == "predictions"]
        divided = [m for m in divided if m["decode"] == "all"]
        short = odd.get((SHORT, k), 0)
        if divided and short:
            names = [str(measure) for measure in divided]
            values = {
                "total": odd[SHORT, k, "items"],
                "cutoff": str(k),
                "measures": ", ".join(names[:_SHOWN]) + " and others" * (len(names) > _SHOWN),
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
    thresholds = [n for n in score_thresholds(measures) if is_threshold_of_probabilities(n)]
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
    return lowest < -_ROUNDING or highest > 1 + _ROUNDING


def _model_facts(where: str, task: LabelTask, odd: Odd) -> list[Fact]:
    """Note what models did not know or read, and what the steps of semantic measures noted."""
    if not task.models:
        return []
    from semmetrics.metrics.semantic import NEAR

    facts = [] if _NAMED in odd else [Fact("numbers-as-labels", where=where)]
    policies = _list_policies(task.models)
    for name, model in task.models.items():
        which = {what: sorted(odd.get((_TERMS, what, name), ())) for what in _FLAGS}
        counts = {what: len(terms) for what, terms in which.items()}
        oov = policies[model.embedder.identity]
        facts += common.model_facts(where, model, counts, "distinct term", which, oov)
        cut = odd.get((_TERMS, "truncated", name), 0)
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
    return facts + [Fact("near-threshold", n, (), where, {"threshold": t}) for t, n in near.items()]


def _list_policies(models: Mapping[str, Any]) -> dict[str, str]:
    """Return the policies for unknown terms by embedding, that of distances named as such."""
    found: dict[str, str] = {}
    for name, model in models.items():
        other = found.setdefault(model.embedder.identity, model.oov)
        if other != model.oov:
            usual, of_distances = (model.oov, other) if name[0] != "#" else (other, model.oov)
            found[model.embedder.identity] = f"{usual}, {of_distances} for distances"
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
    return common.counted("unlike-scores", number, [example], labels.source, items=items)


def uncalibrated_facts(
    models: Mapping[str, Any], measures: Measures, options: Options
) -> list[Fact]:
    """Note embeddings that are used with the threshold of another one.

    Parameters
    ----------
    models : mapping from name to label vectors
    measures : sequence of Measure
        As they were asked for, before the threshold is known.
    options : ResolvedOptions
    """
    names = dict.fromkeys(str(m["embedding"]) for m in measures if m["threshold"] == "auto")
    given = options["embedding"]
    found: dict[str, Fact] = {}
    for name in names if options["calibration"] is None else ():
        model, spec = models[name], given.get(name) if isinstance(given, Mapping) else given
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

    labels = labels.renamed([as_entry(tuple(dict.fromkeys(terms))) for terms in labels.terms])
    side, scores = labels.side, labels.side.scores
    counts = label_frequencies(side.codes, len(labels.vocabulary))
    names = [class_name(terms) for terms in labels.terms]
    sizes = lengths(side.indptr).astype(np.float64)
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
            for code, times in zip(counts.labels.tolist(), counts.counts.tolist(), strict=True)
        ],
        order=None if labels.ranked else {"mean": mean, "pairs": pairs},
    )


def _find_odd(labels: Lists) -> list[Fact]:
    """Note what is accepted and yet probably not meant."""
    side, width, scores = labels.side, max(1, len(labels.vocabulary)), labels.side.scores
    names = [term for terms in labels.terms for term in terms]
    facts = common.find_gaps(labels) + unlike_scores(labels)
    if not labels.ranked and len(labels) >= _FEW:
        present = np.bincount(np.unique(cell_keys(side.indptr, side.codes, width)) % width)
        often = np.flatnonzero(present > _OFTEN * len(labels)).tolist()
        facts += common.named("common-labels", (class_name(labels.terms[code]) for code in often))
        facts += common.counted("rare-labels", int((present == 1).sum()), total=width)
    facts += common.find_odd_texts(list(dict.fromkeys(names)), "label")
    lists = list(filter(_LIST.search, names))
    facts += common.named("lists-as-text", lists, side="distinct")
    if not lists:
        is_single = len(side.indptr) > 1 and np.diff(side.indptr).max() <= 1
        facts += _find_joined(names, is_single=is_single)
    words = sum(name.count(" ") + 1 for name in names)
    if not labels.ranked and words and words >= _SENTENCE * len(names):
        facts.append(Fact("sentences", values={"side": "distinct", "mean": words / len(names)}))
    facts += common.find_odd_ids(labels.ids)
    if scores is None or not len(scores):
        return facts
    outside = int(((scores < 0) | (scores > 1)).sum())
    facts += common.counted("outside-0-1", outside, total=len(scores))
    if len(scores) > 1 and scores.min() == scores.max():
        facts.append(Fact("equal-scores", values={"score": float(scores[0])}))
    rows = row_numbers(side.indptr)
    rising = np.unique(rows[1:][(np.diff(scores) > 0) & (np.diff(rows) == 0)])
    return facts if labels.ranked else facts + common.of_items("rising-scores", labels, rising)


def _find_joined(names: Sequence[str], *, is_single: bool) -> list[Fact]:
    """Note labels of one input that are several labels, if items have one label at most."""
    facts: list[Fact] = []
    delimiters = _ALL_DELIMITERS if is_single else _DELIMITERS
    for delimiter in delimiters:
        joined = [name for name in names if _has_parts(name, delimiter)]
        if delimiter in WORD_DELIMITERS:
            are_several = are_joined_words(names, (), delimiter)
        elif delimiter in _DELIMITERS:
            are_several = _are_joined(joined, names, delimiter)
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
        "items": common.format_known(record),
        "labels": f"{pluralize(record['labels'], number)}, {record['vocabulary']:,} distinct",
        "synonyms": f"{pluralize(several, 'label')} with several names" if several else "",
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
    kept = measure.k if measure["decode"] is None else int(block.get(cut_of(measure))[0])
    sides = {"predicted": pred.codes[:kept], "true": ref.codes}
    names: dict[str, list[Any]] = {
        name: [task.classes[code] for code in codes.tolist()] for name, codes in sides.items()
    }
    if measure["match"] is not None and measure["threshold"] is not None:
        rows = match_rows(task.take(np.array([row])), measure)
        names["matches"] = [[one["prediction"], one["reference"], one["similarity"]] for one in rows
                            if one["rank"] and one["reference"] is not None]  # fmt: skip
    return names


def report_item(record: Mapping[str, Any]) -> list[str]:
    """Return the lines of an item: the predicted labels, and the true ones."""
    lines = []
    for side in ("predicted", "true"):
        names = record[side]
        more = f" and {len(names) - _MOST:,} more" if len(names) > _MOST else ""
        shown = ", ".join(map(common.on_one_line, names[:_MOST])) or "nothing"
        lines.append(f"{side:<9}  {shown}{more}")
    return lines


def count_confused(task: LabelTask, measure: Measure) -> Counter[tuple[str | None, str | None]]:
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
        return Counter((row["reference"], row["prediction"]) for row in match_rows(task, measure))
    found: Counter[tuple[str | None, str | None]] = Counter()
    for block in task.blocks():
        ranked, ref = sides_of(block)
        kept = block.get(cut_of(measure))
        for item in range(len(block)):
            start = int(ranked.indptr[item])
            mine = dict.fromkeys(ranked.codes[start : start + int(kept[item])].tolist())
            own = dict.fromkeys(ref.codes[ref.indptr[item] : ref.indptr[item + 1]].tolist())
            missed = [task.classes[code] for code in own if code not in mine]
            wrong = [task.classes[code] for code in mine if code not in own]
            found.update((name, name) for name in (task.classes[c] for c in own if c in mine))
            found.update(product(missed or [None], wrong or [None]) if missed or wrong else ())
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
        "reference" (None without a match), "similarity" (of the pair, else of the prediction and
        its nearest reference; None where the item has no reference).
    """
    from semmetrics.metrics.label_similarity import written_codes
    from semmetrics.metrics.matching import cut_of, sides_of
    from semmetrics.metrics.semantic import match_pairs, matches_of

    step = matches_of(measure, cut_of(measure))
    names = task.classes
    if task.synonyms is not None:
        names = tuple(map(class_name, task.synonyms.terms))
    for block in task.blocks():
        ranked, ref = sides_of(block)
        matched, kept = block.get(step), block.get(cut_of(measure))
        partner, similarity, served = match_pairs(block, step)
        predicted, true = written_codes(ranked), written_codes(ref)
        counted, once = (
            np.ones(len(side.codes), np.bool_) if flags is None else flags
            for side, flags in ((ranked, matched.counted), (ref, matched.once))
        )
        for item in range(len(block)):
            first, end = int(ranked.indptr[item]), int(ranked.indptr[item]) + int(kept[item])
            rows: list[tuple[Any, ...]] = []
            for place in range(first, end):
                if counted[place]:
                    other, value = partner[place].item(), similarity[place].item()
                    reference = None if other < 0 else names[true[other]]
                    value = common.finite_or_none(value)
                    rows.append((place - first + 1, names[predicted[place]], reference, value))
            own = range(int(ref.indptr[item]), int(ref.indptr[item + 1]))
            left = [place for place in own if once[place] and not served[place]]
            for row in rows + [(None, None, names[true[place]], None) for place in left]:
                yield dict(zip(_MATCH, (str(task.ids[block.start + item]), *row), strict=True))


def explain_definition(definition: Definition) -> dict[str, str]:
    """Return what a definition makes of cutoffs, and which orders and sides matter to it."""
    free = (definition.symmetric, definition.order_invariant)
    sides, order = ("does not matter" if one else "matters" for one in free)
    cutoff = f"{definition.name}@5 takes the first 5 predictions" if definition.cutoff else "none"
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
