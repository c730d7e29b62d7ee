"""What is accepted of two sides of labels, and yet is probably a mistake.

Conventions
-----------
Everything is found by vocabulary, and counted by occurrence with one look at the codes. Findings
are counts, which parts of the data add up, and sets of examples, which they unite (``Task.odd``);
what is said of them is made of these alone.

Labels are *alike* where they differ by case, by white space, ``_`` or ``-``, or by an English
plural alone. A predicted label is looked at only if it is not itself a reference label or a class.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from itertools import combinations, compress, repeat
from typing import Any

import numpy as np

from semmetrics.core.ragged import Bools, sum_rows
from semmetrics.data.block import BESIDE
from semmetrics.data.lists import Lists, Side
from semmetrics.data.tasks import LabelTask
from semmetrics.kinds.labels.classes import normalization
from semmetrics.kinds.labels.plural import singular
from semmetrics.kinds.labels.score_notes import find_scores
from semmetrics.kinds.swapped_sides import WORDS, Odd, mean_words, swapped_notes, swapped_sides
from semmetrics.messages import agreeing, pluralize

__all__ = ["find_oddities", "find_odd_labels", "oddity_notes"]

STEPS = {"lower": "case", "separators": "blanks, _ or -", "plural": "plural"}
"""Normalisations that join labels that are alike, and what they make equal."""
SIDES = {"pred": "predicted", "ref": "reference"}
_DELIMITERS = (";", "|", "\t", ",")
_LIST = re.compile(r"""^\s*\[\s*['"]|['"]\s*\]\s*$|^\s*\[\s*\]\s*$""")  # a list as text, or an end
_ALIKE, _HELD, _LONE = (f"{BESIDE}{name}" for name in ("alike", "delimiter", "lone labels"))
_WRITTEN = "lists as text"
_SENTENCE = 5.0  # mean words of a label above which labels look like captions
_DISTINCT = 10  # distinct labels and items below which a share says little
_HARDLY = {"pred": 0.05, "ref": 0.01}  # shares of occurrences


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
    found |= find_scores(pred, task.pred, task.ref)
    if task.ranked:  # every class has a score in every item
        return found
    names = {side: _names(task, chosen) for side, chosen in present.items()}
    held = _find_delimiters(task, names, {"pred": pred, "ref": ref})
    found |= held | _find_sentences(task, present, names)
    lone = present["pred"] & ~known
    if lone.any():
        alike = _find_alike(task, lone, known)
        found |= alike or ({} if held else _find_strangers(task, present, lone))
    return found | _find_doubles(task, names["ref"])


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


# ---- labels that are alike ----------------------------------------------------------------------


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
    return _alike_facts(task, "pred", pairs)


def _find_doubles(task: LabelTask, names: Sequence[str]) -> dict[Hashable, Any]:
    """Find reference labels that are written in several ways; a class list means its classes."""
    if task.given is not None:
        return {}
    if len(set(_lower_lines(names))) == len(names):  # as a rule
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
    return _alike_facts(task, "ref", pairs)


def _alike_facts(
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
    found: dict[Hashable, Any] = {
        (_ALIKE, side, "labels"): int(touched.sum()),
        (_ALIKE, side, "items"): int((sum_rows(touched, mine.indptr) > 0).sum()),
        (_ALIKE, side, "examples"): frozenset([f"{one!r} and {other!r}"]),
    }
    ways = _needed_steps(pairs.values()) | _ways_of_lower(pairs.values())
    return found | {(_ALIKE, side, way): 1 for way in ways}


def _ways_of_lower(pairs: Iterable[tuple[str, str]]) -> set[str]:
    """Tell which of what "lower" joins the pairs differ by: case, and white space around them."""
    ways = set()
    for pair in pairs:
        if any(term != term.strip() for term in pair):
            ways.add("around")
        one, other = (singular(normalization("separators")(term)[0]) for term in pair)
        if one != other:
            ways.add("case")
    return ways


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


def _alike_notes(odd: Odd, side: str, normalize: str, protocol: str | None) -> list[str]:
    labels, items = (odd.get((_ALIKE, side, what)) for what in ("labels", "items"))
    if not isinstance(labels, int) or not isinstance(items, int):
        return []
    steps = [step for step in STEPS if any((_ALIKE, one, step) in odd for one in SIDES)]
    kept = [name for name in normalize.split("+") if name not in ("none", *steps)]
    rules = "+".join([*kept, *steps])
    remedy = f"normalize={rules!r} (--normalize {rules}) joins them"
    if protocol is not None:
        remedy = f"protocol {protocol} compares them as they are"
    around = ["white space around it"] if (_ALIKE, side, "around") in odd else []
    by = {**STEPS, "lower": " or ".join(["case"] * ((_ALIKE, side, "case") in odd) + around)}
    what = " or ".join(by[step] for step in steps if (_ALIKE, side, step) in odd)
    others = {"pred": "a reference label", "ref": "another one"}[side]
    return [
        f"{pluralize(labels, f'{SIDES[side]} label')} in {pluralize(items, 'item')} "
        f"{agreeing(labels, 'differ')} from {others} only by {what} "
        f"({_example(odd[_ALIKE, side, 'examples'])}): {remedy}"
    ]


# ---- delimiters ---------------------------------------------------------------------------------


def _find_delimiters(
    task: LabelTask, names: Mapping[str, Sequence[str]], sides: Mapping[str, Lists]
) -> dict[Hashable, Any]:
    """Find labels of a side that look like several labels in one."""
    whole = {side: "\n".join(some) for side, some in names.items()}
    found: dict[Hashable, Any] = {}
    for side, other in (("pred", "ref"), ("ref", "pred")):
        if "[" in whole[side] and (lists := _find_lists(names[side])):
            chosen = np.array([bool(_LIST.search(name)) for name in task.classes], np.bool_)
            found[_WRITTEN, side] = int(chosen[getattr(task, side).codes].sum())
            found["example", _WRITTEN, side] = frozenset([repr(lists[0])])
            continue
        for delimiter in _DELIMITERS:
            if delimiter not in whole[side]:
                continue
            held = [name for name in names[side] if delimiter in name]
            if delimiter in whole[other]:
                suspicious = _are_joined(held, names[side], delimiter)
            else:
                suspicious = _are_known(held, names, (side, other), delimiter)
            if suspicious:
                chosen = np.array([delimiter in name for name in task.classes], np.bool_)
                remedy = _how_to_split(sides[side], delimiter)
                key = (_HELD, side, delimiter, remedy)
                found[key] = int(chosen[getattr(task, side).codes].sum())
                found["example", key] = frozenset([repr(held[0])])
    return found


def _find_lists(names: Iterable[str]) -> list[str]:
    """Return the labels that look like lists written as text, or like the ends of one."""
    return [name for name in names if _LIST.search(name)]


def _list_text(what: str, number: int, example: str) -> str:
    verb = "looks like a list" if number == 1 else "look like lists"
    return (
        f"{what} {verb} written as text (such as {example}): save the lists as JSON or Parquet "
        f"(DataFrame.to_parquet), or join their labels with ';' and {_say_delimiter(';')}"
    )


def _are_known(
    held: Sequence[str], names: Mapping[str, Sequence[str]], sides: tuple[str, str], delimiter: str
) -> bool:
    """Tell whether labels are labels of the other side with a delimiter between them."""
    mine, theirs = (names[side] for side in sides)
    if 2 * len(held) >= len(mine):
        return True
    others = {name.casefold() for name in theirs}
    return _are_most(held, delimiter, lambda part: part in others)


def _are_joined(held: Sequence[str], names: Sequence[str], delimiter: str) -> bool:
    """Tell from one side whether its labels are labels with a delimiter between them.

    Most of them share a part with others; or, where nobody writes the delimiter in a name, half of
    all labels hold it.
    """
    if delimiter != "," and 2 * len(held) >= len(names):
        return True
    parts = Counter(part for name in names for part in set(_parts(name, delimiter)))
    return _are_most(held, delimiter, lambda part: parts[part] > 1)


def _are_most(held: Sequence[str], delimiter: str, is_known: Any) -> bool:
    known = sum(any(map(is_known, _parts(name, delimiter))) for name in held)
    return 2 * known >= len(held)


def _parts(name: str, delimiter: str) -> list[str]:
    return [part.strip().casefold() for part in name.split(delimiter) if part.strip()]


def _how_to_split(lists: Lists, delimiter: str) -> str:
    """Say how several labels are written in such a file."""
    if lists.understood.startswith(("CSV", "TSV")):
        return _say_delimiter(delimiter)
    return 'write them as a list: ["cat", "dog"]'


def _say_delimiter(delimiter: str) -> str:
    quoted = "$'\\t'" if delimiter == "\t" else f"'{delimiter}'"
    return f"say label_delimiter={delimiter!r} in ReadOptions (--label-delimiter {quoted})"


def _delimiter_notes(odd: Odd) -> list[tuple[str, str]]:
    notes = []
    for side, what in SIDES.items():
        lists = odd.get((_WRITTEN, side))
        if isinstance(lists, int):
            example = _example(odd["example", _WRITTEN, side])
            notes.append((side, _list_text(pluralize(lists, f"{what} label"), lists, example)))
    for key, number in odd.items():
        if isinstance(key, tuple) and key[0] == _HELD and isinstance(number, int):
            _, side, delimiter, remedy = key
            notes.append((side, _delimiter_text(
                pluralize(number, f"{SIDES[side]} label"), number, delimiter,
                _example(odd["example", key]), remedy,
            )))  # fmt: skip
    return notes


def _delimiter_text(what: str, number: int, delimiter: str, example: str, remedy: str) -> str:
    sign = "a tab" if delimiter == "\t" else repr(delimiter)
    verb = "holds" if number == 1 else "hold"
    return f"{what} {verb} {sign} (such as {example}): if it separates labels, {remedy}"


# ---- sentences, and labels of one side alone -----------------------------------------------------


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
            first = _terms(task, chosen)[0][0]
            found |= {(_LONE, side, "alone"): alone, (_LONE, side, "all"): len(codes)}
            found[_LONE, side, "examples"] = frozenset([repr(first)])
    return found


def _stranger_notes(odd: Odd) -> list[str]:
    notes = []
    for side, other in (("pred", "ground truth"), ("ref", "predictions")):
        alone, total = (odd.get((_LONE, side, what)) for what in ("alone", "all"))
        if isinstance(alone, int) and isinstance(total, int):
            notes.append(
                f"{alone:,} of {pluralize(total, f'{SIDES[side]} label')} occur nowhere in the "
                f"{other} (such as {_example(odd[_LONE, side, 'examples'])}): do both sides write "
                "labels in one way?"
            )
    return notes[:1]  # the other side says the same


# ---- what is said -------------------------------------------------------------------------------


def oddity_notes(odd: Odd, normalize: str, protocol: str | None) -> tuple[list[str], list[str]]:
    """Say what was found in a task.

    Parameters
    ----------
    odd : mapping
        As ``Task.odd`` or ``Statistics.noted`` holds it.
    normalize : str
        How labels were cleaned.
    protocol : str or None

    Returns
    -------
    lists of str
        What is said of the predictions, and of the ground truth or both.
    """
    delimiters = _delimiter_notes(odd)
    mine = [text for side, text in delimiters if side == "pred"]
    theirs = [text for side, text in delimiters if side == "ref"]
    mine += _alike_notes(odd, "pred", normalize, protocol) + _stranger_notes(odd)
    theirs += _alike_notes(odd, "ref", normalize, protocol)
    for side, notes in (("pred", mine), ("ref", theirs)):
        mean = mean_words(odd, side)
        if mean is not None:
            notes.append(f"the {SIDES[side]} labels are {_sentence(mean)}")
    return mine, theirs + swapped_notes(odd)


def _sentence(mean: float) -> str:
    return (
        f"sentences, {mean:.1f} words each on average; of captions say task='captions' "
        "(--task captions)"
    )


def find_odd_labels(labels: Lists) -> list[str]:
    """Say what one side alone shows: labels in one cell or text, and sentences."""
    names = [term for terms in labels.terms for term in terms]
    found = []
    if lists := _find_lists(names):
        what = pluralize(len(lists), "distinct label")
        found.append(_list_text(what, len(lists), repr(lists[0])))
    for delimiter in () if lists else _DELIMITERS:
        held = [name for name in names if delimiter in name]
        if held and _are_joined(held, names, delimiter):
            what = pluralize(len(held), "distinct label")
            remedy = _how_to_split(labels, delimiter)
            found.append(_delimiter_text(what, len(held), delimiter, repr(held[0]), remedy))
    words = sum(name.count(" ") + 1 for name in names)
    if not labels.ranked and words and words >= _SENTENCE * len(names):
        found.append(f"the labels are {_sentence(words / len(names))}")
    return found


def _example(found: Any) -> str:
    """Return one of several examples, the same whatever the order in which they were united."""
    return str(min(found))
