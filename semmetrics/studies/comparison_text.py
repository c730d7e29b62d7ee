"""Sentences on comparisons of systems: which differences are significant, and how p was computed."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable, Sequence
from functools import partial
from typing import NamedTuple, TypeVar

import numpy as np

from semmetrics.messages import listing, plural, pluralize
from semmetrics.options import CORRECTIONS, TESTS
from semmetrics.reports import format_p
from semmetrics.scoring.intervals import Replicates
from semmetrics.studies.differences import DRAWING_TESTS, Difference
from semmetrics.studies.significance import subtract

T = TypeVar("T")
K = TypeVar("K", bound=Hashable)

_MAX_NAMES_PER_SENTENCE = 8
_FEW_ITEMS = 50  # with fewer, p of a bootstrap was too small in simulations
_MAX_ITEMS_OF_LEAST_P = (
    1000  # with more, the smallest p of random signs may underflow to 0
)
# By verdict, in the order in which sentences are listed.
_SENTENCES = {
    "better": "{system} is better than {others} in {names}",
    "worse": "{system} is worse than {others} in {names}",
    "same": "{pairs} have the same value in {names}, also {resampled}",
    "alike": "no significant difference between {pairs} in {names}",
    "undefined": "{pairs}: the difference is undefined in {names}",
    "untested": "{pairs}: no p for {names}: too few {units} determine it, or all differ equally; "
    "use test='randomization' (--test)",
}
_VERDICTS = tuple(_SENTENCES)


# ---- verdicts ----------------------------------------------------------------------------------


def judge(difference: Difference) -> str:
    """Return the verdict on a difference.

    Returns
    -------
    {"better", "worse", "same", "alike", "undefined", "untested"}
        "better" and "worse" are significant. "same" systems have equal values in every resample.
        "alike" systems do not differ significantly. "undefined" has no difference, and "untested"
        no p.
    """
    if math.isnan(difference.p):
        return "undefined" if math.isnan(difference.difference) else "untested"
    if difference.significant and difference.better is not None:
        return "better" if difference.better else "worse"
    replicates = difference.score.replicates
    baseline_replicates = difference.against.replicates
    if replicates is None or baseline_replicates is None or difference.difference:
        return "alike"
    return "same" if _are_same(replicates, baseline_replicates) else "alike"


def _are_same(first: Replicates, second: Replicates) -> bool:
    """Return whether two systems have the same value, or both none, in every resample."""
    is_undefined = np.isnan(first.values)
    if not (is_undefined == np.isnan(second.values)).all():
        return False
    differences = np.nan_to_num(subtract(first.values, second.values))
    return not differences.any()


# ---- which differences are significant ---------------------------------------------------------


def describe_differences(
    differences: Sequence[Difference], systems: Sequence[str]
) -> list[str]:
    """Describe which systems are better, which are worse, and which do not differ.

    If there is one baseline, each system has one sentence. If all pairs are compared, the sentences
    tell for each system which others it is better than, and pairs that do not differ come last.

    Parameters
    ----------
    differences : sequence of Difference
    systems : sequence of str
        The order of the sentences.
    """
    all_pairs = has_several_baselines(differences)
    find_subject = partial(_find_subject, all_pairs=all_pairs)
    groups = _group_by(differences, find_subject)
    lines = []
    for system in systems:
        for verdict in _VERDICTS:
            group = groups.get(_Subject(system, verdict))
            if group is not None:
                first, *others = _write_sentences(group, system, verdict)
                # The others continue the first: "a is better than b in F1; better than c in ...".
                prefix = f"{system} is "
                others = [sentence.removeprefix(prefix) for sentence in others]
                lines.append("; ".join([first, *others]))
    for verdict in _VERDICTS:
        group = groups.get(_Subject(None, verdict))
        if group is not None:
            lines += _write_sentences(group, None, verdict)
    return lines


def has_several_baselines(differences: Iterable[Difference]) -> bool:
    """Return whether there are several baselines, as when all pairs are compared."""
    baselines = {difference.baseline for difference in differences}
    return len(baselines) > 1


class _Subject(NamedTuple):
    """The system that a sentence on a difference is about, and the verdict on it.

    The system is None if the sentence is about a pair.
    """

    system: str | None
    verdict: str


def _find_subject(difference: Difference, *, all_pairs: bool) -> _Subject:
    """Return the system that a sentence on a difference is about, with the verdict."""
    verdict = judge(difference)
    if not all_pairs:
        return _Subject(difference.system, verdict)
    if verdict == "better":
        return _Subject(difference.system, "better")
    if verdict == "worse":
        return _Subject(difference.baseline, "better")
    return _Subject(None, verdict)


def _write_sentences(
    differences: Sequence[Difference], system: str | None, verdict: str
) -> list[str]:
    """Write a sentence for each group of measures in which the same pairs have a verdict."""
    by_heading = _group_by(differences, lambda difference: difference.heading)
    by_pairs = _group_by(by_heading.values(), _list_pairs)
    first = differences[0]
    resampled = "in every resample"
    if first.method.startswith("jackknife"):
        resampled = f"if any {first.score.unit} is left out"
    last_separator = " or " if verdict == "alike" else ", "
    sentences = []
    for pairs, differences_by_heading in by_pairs.items():
        others = []
        for compared, baseline in pairs:
            # The sentence may be about the baseline, if it is the better one.
            others.append(baseline if compared == system else compared)
        sentence = _SENTENCES[verdict].format(
            system=system,
            others=join_names(others),
            pairs=join_names([" and ".join(pair) for pair in pairs], last_separator),
            names=_name_measures(differences_by_heading),
            units=plural(first.score.unit),
            resampled=resampled,
        )
        sentences.append(sentence)
    return sentences


def _list_pairs(differences: Iterable[Difference]) -> tuple[tuple[str, str], ...]:
    """Return the system and the baseline of each difference."""
    pairs = [(difference.system, difference.baseline) for difference in differences]
    return tuple(pairs)


def _name_measures(differences_by_heading: Sequence[Sequence[Difference]]) -> str:
    """Name measures with their corrected p, the first few of many.

    If a measure has several pairs, it is named with the p that is nearest to the level.
    """
    names = []
    for differences in differences_by_heading[:_MAX_NAMES_PER_SENTENCE]:
        first = differences[0]
        p_values = sorted(difference.p_corrected for difference in differences)
        smallest = format_p(p_values[0])
        largest = format_p(p_values[-1])
        if not smallest:
            names.append(first.heading)
            continue
        if smallest == largest:
            relation = f"= {smallest}"
        elif first.significant:
            relation = f"at most {largest}"
        else:
            relation = f"at least {smallest}"
        relation = relation.replace("= <", "< ")
        names.append(f"{first.heading} (p {relation})")
    n_hidden = len(differences_by_heading) - _MAX_NAMES_PER_SENTENCE
    text = ", ".join(names)
    if n_hidden > 0:
        text += f" and {n_hidden} more"
    return text


def join_names(names: Sequence[str], last_separator: str = " and ") -> str:
    """Write names of systems or of pairs, the first few of many."""
    if len(names) > _MAX_NAMES_PER_SENTENCE:
        return listing(names, most=_MAX_NAMES_PER_SENTENCE, write=str)
    *first, last = names
    if not first:
        return last
    return last_separator.join([", ".join(first), last])


def _group_by(entries: Iterable[T], key: Callable[[T], K]) -> dict[K, list[T]]:
    """Group entries by a key, in the order in which the keys first occur."""
    groups: dict[K, list[T]] = {}
    for entry in entries:
        groups.setdefault(key(entry), []).append(entry)
    return groups


# ---- how p was computed ------------------------------------------------------------------------


def describe_test(differences: Sequence[Difference]) -> str:
    """Describe the test, the intervals, the correction of p, and the items."""
    first = differences[0]
    test = first.design.test
    bootstrap = first.design.bootstrap
    distinct_methods = dict.fromkeys(difference.method for difference in differences)
    methods = ", ".join(distinct_methods)
    sides = "which is nearly one-sided" if "sacrebleu" in test else "two-sided"
    parts = [f"{TESTS[test]}, {sides}"]
    if test == "interval":
        parts = [f"p: two-sided test from the {methods} interval of the difference"]
    elif test != "t":
        parts.append(f"intervals by {methods}")
    if test in DRAWING_TESTS:
        noun = "swaps" if test == "randomization" else "resamples"
        parts.append(f"{bootstrap.resamples:,} {noun}, seed {bootstrap.seed}")
    parts.append(report_correction(first.design.correction, first.comparisons))
    alpha = 1 - bootstrap.level
    p = "p" if first.design.correction == "none" else "the corrected p"
    parts.append(f"significant if {p} is below {alpha:.4g}")
    parts.append(_describe_items(differences))
    return "; ".join(parts)


def _describe_items(differences: Iterable[Difference]) -> str:
    """Name the number of items, of each part if the data have parts."""
    scores = [difference.score for difference in differences]
    # A measure of all parts, such as Rsum, has their items.
    scores_of_parts = [score for score in scores if score.part]
    counts: dict[str, None] = {}
    for score in scores_of_parts or scores:
        count = f"{score.part} {pluralize(score.n, score.unit)}".strip()
        counts[count] = None
    return ", ".join(counts)


def report_correction(correction: str, comparisons: int) -> str:
    """Describe how p is corrected, and for how many comparisons."""
    method = CORRECTIONS[correction]
    number = pluralize(comparisons, "comparison")
    if not method:
        return f"p of {number} not corrected"
    return f"p corrected by {method} for {number}"


# ---- limits of the tests -----------------------------------------------------------------------


def describe_limits(differences: Sequence[Difference]) -> list[str]:
    """Warn if p tends to be too small with few items, or cannot become small enough."""
    most_items = max(differences, key=lambda difference: difference.drawn)
    design = most_items.design
    units = plural(most_items.score.unit)
    if most_items.drawn != most_items.score.n:
        units = f"groups of {units}"
    lines = []
    if design.test.startswith("bootstrap") and most_items.drawn < _FEW_ITEMS:
        lines.append(
            f"with {most_items.drawn} {units} the bootstrap p tends to be too small; "
            "use test='interval' or 'randomization' (--test)"
        )
    if design.test == "interval":
        headings = _find_headings_of_few_items(differences)
        if headings:
            names = ", ".join(headings)
            lines.append(
                f"a few {units} decide {names}: compare them by test='randomization' (--test)"
            )
    n_corrected = most_items.comparisons
    if design.correction == "none":
        n_corrected = 1
    for source, p in _find_least_p(most_items, units).items():
        lines += report_least_p(p * n_corrected, design.bootstrap.alpha, source)
    return lines


def _find_headings_of_few_items(differences: Iterable[Difference]) -> list[str]:
    """Return the headings of measures that only a few items decide, for one of two systems."""
    headings: dict[str, None] = {}
    for difference in differences:
        for score in (difference.score, difference.against):
            if score.replicates is not None and score.replicates.varies_as_few:
                headings[difference.heading] = None
    return list(headings)


def _find_least_p(difference: Difference, units: str) -> dict[str, float]:
    """Return the smallest possible p of a test, by what limits it: "resamples" or the items."""
    test = difference.design.test
    least: dict[str, float] = {}
    is_quantile = test == "interval" and not difference.method.startswith("jackknife")
    if test in DRAWING_TESTS or is_quantile:
        least["resamples"] = 1 / (difference.design.bootstrap.resamples + 1)
    if test in ("randomization", "wilcoxon"):
        # Two of all 2**n combinations of signs are the most extreme ones.
        n_signs = min(_MAX_ITEMS_OF_LEAST_P, difference.drawn)
        least[units] = 2.0 ** (1 - n_signs)
    return least


def report_least_p(least: float, alpha: float, source: str) -> list[str]:
    """Warn that no difference can be significant, if the smallest corrected p is not below alpha.

    Parameters
    ----------
    least : float
        The smallest possible p, corrected.
    alpha : float
    source : str
        What limits p, and should be increased: "resamples" or the name of items.
    """
    if least < alpha:
        return []
    p = format_p(min(1.0, least))
    return [
        f"no difference can be significant: the corrected p is at least {p}; use more {source} or "
        "fewer comparisons"
    ]
