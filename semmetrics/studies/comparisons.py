"""Compare systems on the same items, and test whether their differences are significant.

Without a baseline all pairs are compared: each system with the systems before it, which are its
baselines. `semmetrics.studies.differences` describes differences, their intervals and tests, and
`semmetrics.studies.randomization` the test by swapped items.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from semmetrics.core.hashing import Hashes
from semmetrics.core.ragged import Floats
from semmetrics.data.option_keywords import takes_options
from semmetrics.errors import Fact, InputError
from semmetrics.kinds.base import Tasks
from semmetrics.messages import did_you_mean, listing, plural
from semmetrics.options import OPTIONS_OF_FUNCTION, TESTS, Options
from semmetrics.scoring.evaluate import Progress
from semmetrics.scoring.evaluation import (
    Evaluation,
    check_ids_not_systems,
    check_system_names,
    check_systems_mapping,
    join_systems,
)
from semmetrics.scoring.intervals import AUTO, OF_RESAMPLES, Bootstrap
from semmetrics.scoring.protocols import NotComputed
from semmetrics.scoring.result import Score
from semmetrics.scoring.score import score_evaluation, warn_of_scores
from semmetrics.scoring.table import ScoreTable
from semmetrics.studies.comparison_table import ComparisonTable
from semmetrics.studies.differences import (
    DRAWING_TESTS,
    ITEM_TESTS,
    Design,
    Difference,
    find_difference,
)
from semmetrics.studies.randomization import ScorePairs, swapped_differences
from semmetrics.studies.significance import correct_p

if TYPE_CHECKING:
    from typing_extensions import Unpack


# ---- public function ---------------------------------------------------------------------------


@takes_options()
def compare(
    systems: Mapping[str, Any] | ScoreTable,
    gts: object = None,
    *,
    baseline: str | None = None,
    test: str = "interval",
    correction: str = "holm",
    **options: Unpack[Options],
) -> ComparisonTable:
    """Compare systems, and test which differences are significant.

    Parameters
    ----------
    systems : mapping from name to predictions, or to ScoreTable; or ScoreTable of several systems
        At least two systems with the same items. Predictions are as ``preds`` of ``score``. A
        ScoreTable is a result of ``score`` with ``ci=True``. Scored systems may differ in options
        such as the embedding, and measures with the same heading are compared.
    gts : path, mapping, sequence, Series, matrix, Lists or Matrix
        The ground truth. Omit it, and further options, for scored systems.
    baseline : str, optional
        The system to compare all others with. Default: compare all pairs, each system with the
        systems before it.
    test : {"interval", "bootstrap", "bootstrap-sacrebleu", "randomization", "t", "wilcoxon"}
        "interval": p is the smallest 1 - level at which the interval of the difference excludes 0.
        By default, this is Student's t with the jackknife standard error. "bootstrap": resamples
        of both systems, with their differences shifted to mean 0. "bootstrap-sacrebleu": the same
        as in sacrebleu. "randomization": items swapped between the systems at random. "t" and
        "wilcoxon": for means over items, a test of the items' differences.
    correction : {"holm", "bonferroni", "benjamini-hochberg", "none"}
        Correction of p for the number of pairs and measures.
    **options

    Returns
    -------
    ComparisonTable
        A difference for each pair and measure, with its interval.

    Raises
    ------
    InputError
        If the input or an option is invalid, there are fewer than two systems, systems have
        different items, or the test does not fit a measure.

    References
    ----------
    Tukey 1958 (jackknife). Koehn 2004 (paired bootstrap). Riezler & Maxwell 2005. Noreen 1989.
    Holm 1979.

    Examples
    --------
    >>> gts = {f"image {n}": ["cat", "dog"] if n % 2 else ["cow"] for n in range(40)}
    >>> old = {id: labels[:1] for id, labels in gts.items()}
    >>> new = {id: labels[: 2 if n % 4 else 1] for n, (id, labels) in enumerate(gts.items())}
    >>> table = compare({"old": old, "new": new}, gts, measures="MicroF1", resamples=1000)
    >>> f1 = table[0]
    >>> round(f1.difference, 4), round(f1.low, 4), round(f1.high, 4), f1.wins, f1.losses
    (0.2, 0.1482, 0.2518, 20, 0)
    >>> table.sentences()[0]
    'new is better than old in MicroF1 (p < 0.0001)'
    """
    if isinstance(systems, ScoreTable):
        systems = _split_by_system(systems)
    check_systems_mapping(systems)
    are_scored = any(isinstance(data, ScoreTable) for data in systems.values())
    if are_scored:
        _check_absent({**options, "gts": gts})
        return _compare_scored(systems, baseline, test, correction)

    chosen_options: dict[str, Any] = {
        "resamples": OPTIONS_OF_FUNCTION["compare"]["resamples"].default,
        "ci": True,
    }
    for name, value in options.items():
        if value is not None:
            chosen_options[name] = value
    check_ids_not_systems(systems, gts)
    check_systems(systems, baseline)
    design = Design(test, baseline, correction, Bootstrap.of(chosen_options))
    try:
        prepared = join_systems(systems, gts, chosen_options)
    except InputError as error:
        if error.code in ("missing-ids", "missing-entries"):
            error.values["policy"] = "common"  # Systems need the same items.
        raise
    first_system, *_ = systems
    _check_items(prepared.tasks, baseline or first_system)
    warn_of_scores(prepared)
    scores = score_evaluation(prepared)
    differences = compare_scores(scores, design, prepared.options.progress)
    table = ScoreTable(scores, prepared.chosen.not_computed)
    facts = _list_facts(prepared, scores)
    facts += _note_idle_options(differences, design, options)
    return ComparisonTable(differences, table, facts, prepared.understood())


def _check_absent(arguments: Mapping[str, Any]) -> None:
    """Check that no arguments are given that only apply to systems without scores.

    Raises
    ------
    InputError
        If an argument is not None.
    """
    for name, value in arguments.items():
        if value is not None:
            what = "results that are already scored"
            raise InputError("not-applicable", name=name, what=what)


def _split_by_system(table: ScoreTable) -> dict[str, ScoreTable]:
    """Return the scores of each system as a table of its own."""
    tables = {}
    for system in table.systems:
        scores = [score for score in table if score.system == system]
        tables[system] = replace(table, scores=scores)
    return tables


def _list_facts(prepared: Evaluation, scores: Iterable[Score]) -> list[Fact]:
    """Return notes on the input, without notes on the intervals of scores, which are not shown."""
    values = [replace(score, replicates=None) for score in scores]
    return prepared.notes(values)


def _note_idle_options(
    differences: Iterable[Difference], design: Design, options: Mapping[str, Any]
) -> list[Fact]:
    """Note options of resampling that were given although p and intervals do not use resamples."""
    methods = dict.fromkeys(difference.method for difference in differences)
    uses_resamples = any(method in OF_RESAMPLES for method in methods)
    if uses_resamples or design.test in DRAWING_TESTS:
        return []
    use = f"p and intervals by {', '.join(methods)}"
    facts = []
    for name in ("resamples", "seed"):
        if options.get(name) is not None:
            facts.append(Fact("no-effect-on", values={"option": name, "on": use}))
    return facts


# ---- systems and items -------------------------------------------------------------------------


def pair_systems(systems: Iterable[str], baseline: str | None) -> list[tuple[str, str]]:
    """Pair each system with the baseline or, without a baseline, with each system before it.

    Examples
    --------
    >>> pair_systems("abc", None), pair_systems("abc", "b")
    ([('b', 'a'), ('c', 'a'), ('c', 'b')], [('a', 'b'), ('c', 'b')])
    """
    names = list(systems)
    pairs = []
    for number, system in enumerate(names):
        others = names[:number] if baseline is None else [baseline]
        for other in others:
            if other != system:
                pairs.append((system, other))
    return pairs


def check_systems(systems: Mapping[str, Any], baseline: str | None) -> None:
    """Check that there are at least two systems, and that the baseline is one of them.

    Raises
    ------
    InputError
        If there are fewer systems, the baseline is not one of them, or a name cannot be written to a
        file.
    """
    if len(systems) < 2:
        raise InputError("too-few-compared", n=len(systems))
    check_system_names(systems)
    if baseline is not None and baseline not in systems:
        remedy = did_you_mean(baseline, systems, f"choose among {listing(systems)}")
        raise InputError("unknown-name", what="baseline", value=baseline, remedy=remedy)


def _check_items(tasks: Tasks, baseline: str) -> None:
    """Check that all systems have the same items as the baseline."""
    tasks_of_baseline = tasks[baseline]
    for system, tasks_of_system in tasks.items():
        for part, task in tasks_of_system.items():
            if part not in tasks_of_baseline:
                continue
            baseline_task = tasks_of_baseline[part]
            hashes = np.sort(task.hashes)
            if not np.array_equal(hashes, np.sort(baseline_task.hashes)):
                raise _unlike_items_error(system, task, baseline, baseline_task)


def _unlike_items_error(
    system: str, task: Any, baseline: str, baseline_task: Any
) -> InputError:
    """Return the error of systems with different items."""
    has_groups = _has_groups(task)
    if has_groups != _has_groups(baseline_task):
        # The system with several captions per item is the references.
        references = system if has_groups else baseline
        return InputError("references-as-system", references)
    parts = []
    only_in_system = _list_absent_items(task, baseline_task.hashes)
    if only_in_system:
        parts.append(f"only {system} has {only_in_system}")
    only_in_baseline = _list_absent_items(baseline_task, task.hashes)
    if only_in_baseline:
        parts.append(f"only {baseline} has {only_in_baseline}")
    only = ", and ".join(parts) or "some occur several times"
    return InputError("unlike-items", f"{system} and {baseline}", only=only)


def _has_groups(task: Any) -> bool:
    """Return whether items of a task, such as captions of one image, are drawn in groups."""
    return getattr(task, "groups", None) is not None


def _list_absent_items(task: Any, hashes: Hashes) -> str:
    """Name the items of a task that are not among others, given by the hashes of their ids."""
    rows = np.flatnonzero(~np.isin(task.hashes, hashes)).tolist()
    return listing(str(task.ids[row]) for row in rows)


# ---- comparisons of scores ---------------------------------------------------------------------


def compare_scores(
    scores: Sequence[Score], design: Design, progress: Progress = None
) -> list[Difference]:
    """Compare the scores of systems with the scores of a baseline, or of all pairs of systems.

    Parameters
    ----------
    scores : sequence of Score
        With replicates from one set of resamples.
    design : Design
    progress : callable, optional
        Called with the number of swaps done, and in all.

    Returns
    -------
    list of Difference
        Pair by pair, with measures in the order of the scores.

    Raises
    ------
    InputError
        If the test does not fit a measure. The message names all such measures.
    """
    pairs = _pair_scores(scores, design.baseline)
    _check_pairs(pairs)
    if design.test in ITEM_TESTS:
        _check_means_over_items(pairs, design.test)
    swapped: Floats | None = None
    if design.test == "randomization":
        swapped = swapped_differences(pairs, design.bootstrap, progress)
    differences = []
    for row, (score, against) in enumerate(pairs):
        swapped_of_pair = None if swapped is None else swapped[row]
        difference = find_difference(score, against, design, swapped_of_pair)
        differences.append(difference)
    p_values = [difference.p for difference in differences]
    corrected_p_values = correct_p(p_values, design.correction)
    n_comparisons = sum(not math.isnan(p) for p in p_values)
    corrected = []
    for difference, p in zip(differences, corrected_p_values, strict=True):
        corrected.append(replace(difference, p_corrected=p, comparisons=n_comparisons))
    return corrected


def _pair_scores(scores: Sequence[Score], baseline: str | None) -> ScorePairs:
    """Pair the scores of systems and their baselines by part and heading."""
    score_by_names = {}
    for score in scores:
        score_by_names[score.system, score.part, score.heading] = score
    systems = dict.fromkeys(score.system for score in scores)
    pairs = []
    for system, other_system in pair_systems(systems, baseline):
        for score in scores:
            names = (other_system, score.part, score.heading)
            if score.system == system and names in score_by_names:
                pairs.append((score, score_by_names[names]))
    return pairs


def _check_pairs(pairs: ScorePairs) -> None:
    """Check that the scores of pairs have paired replicates, of at least two items."""
    for score, against in pairs:
        replicates = score.replicates
        replicates_against = against.replicates
        if replicates is None or replicates_against is None:
            raise InputError("not-paired", score.heading)
        if replicates.drawn != replicates_against.drawn:
            raise InputError("not-paired", score.heading)
        n_units = replicates.sizes.sum()
        if score.n < 2 or n_units < 2:
            unit = "group" if replicates.grouped else score.unit
            raise InputError("too-few-for-test", n=1, least=2, test="a test", unit=unit)


def _check_means_over_items(pairs: ScorePairs, test: str) -> None:
    """Check that all scores are unweighted means over independent items."""
    test_name = TESTS[test]
    no_means = [score.heading for score, _ in pairs if score.averaged is None]
    if no_means:
        headings = ", ".join(dict.fromkeys(no_means))
        what = f"means over items, unlike {headings}"
        raise InputError("test-does-not-fit", test=test_name, what=what)
    for score, _ in pairs:
        if score.statistics.weights is not None:
            what = "unweighted items"
            raise InputError("test-does-not-fit", test=test_name, what=what)
        if score.statistics.groups is not None:
            what = f"independent {plural(score.unit)}, not groups of them"
            raise InputError("test-does-not-fit", test=test_name, what=what)


# ---- comparisons of scored systems -------------------------------------------------------------


def _compare_scored(
    systems: Mapping[str, Any], baseline: str | None, test: str, correction: str
) -> ComparisonTable:
    """Compare systems that were scored before, each with its own options."""
    check_systems(systems, baseline)
    scores = _list_scores(systems)
    bootstrap = _find_shared_bootstrap(scores, baseline)
    design = Design(test, baseline, correction, bootstrap)
    differences = compare_scores(scores, design)
    if not differences:
        raise InputError(
            "nothing-given",
            what="measures in common",
            remedy="score both with the same measures",
        )
    facts: dict[Fact, None] = {}
    for table in systems.values():
        facts.update(dict.fromkeys(table.facts))
    return ComparisonTable(
        differences=differences,
        scores=ScoreTable(scores, _merge_not_computed(systems, scores)),
        facts=list(facts),
        understood=_merge_understood(systems.values()),
    )


def _list_scores(systems: Mapping[str, Any]) -> list[Score]:
    """Return the scores of all systems, under the names that the systems have here.

    Raises
    ------
    InputError
        If a system is not a table of one system with replicates.
    """
    scores: list[Score] = []
    for system, table in systems.items():
        if not isinstance(table, ScoreTable) or len(table.systems) != 1:
            raise InputError("not-comparable", system)
        if not any(score.replicates for score in table):
            raise InputError("not-comparable", system)
        scores += [replace(score, system=system) for score in table]
    return scores


def _find_shared_bootstrap(scores: Sequence[Score], baseline: str | None) -> Bootstrap:
    """Return the resampling and level that scores have in common.

    Raises
    ------
    InputError
        If scores have different resamples, levels, items or ground truth.
    """
    first_by_part: dict[str, Score] = {}
    for score in scores:
        if baseline is None or score.system == baseline:
            first_by_part.setdefault(score.part, score)
    for score in scores:
        first = first_by_part.get(score.part, score)
        _check_scored_alike(score, first)
    bootstraps = map(_find_bootstrap, first_by_part.values())
    return next(bootstrap for bootstrap in bootstraps if bootstrap is not None)


def _check_scored_alike(score: Score, first: Score) -> None:
    """Raise an error if two scores have different items, ground truth or resamples."""
    statistics = score.statistics
    first_statistics = first.statistics
    if statistics.fingerprint != first_statistics.fingerprint:
        counts = {"n": len(statistics), "m": len(first_statistics)}
        raise InputError(
            "scored-on-other-items", score.system, other=first.system, **counts
        )
    bootstrap = _find_bootstrap(score)
    first_bootstrap = _find_bootstrap(first)
    are_resampled = bootstrap is not None and first_bootstrap is not None
    if are_resampled and bootstrap != first_bootstrap:
        what = "seed, resamples or level"
        raise InputError(
            "scored-otherwise", score.system, other=first.system, what=what
        )


def _find_bootstrap(score: Score) -> Bootstrap | None:
    """Return how a score was resampled, with the default method of intervals."""
    if score.ci is None:
        return None
    return replace(score.ci.bootstrap, method=AUTO)


def _merge_understood(tables: Iterable[ScoreTable]) -> list[str]:
    """Return how all predictions were read, and then how the ground truth was read."""
    lines: dict[str, None] = {}
    truth_lines: dict[str, None] = {}
    for table in tables:
        # The last line of each table describes the ground truth.
        lines.update(dict.fromkeys(table.understood[:-1]))
        truth_lines.update(dict.fromkeys(table.understood[-1:]))
    return list(lines | truth_lines)


def _merge_not_computed(
    systems: Mapping[str, ScoreTable], scores: Iterable[Score]
) -> list[NotComputed]:
    """Return measures that were not computed for all systems, with the reason."""
    absent: dict[str, NotComputed] = {}
    for table in systems.values():
        absent.update({entry.heading: entry for entry in table.not_computed})
    for heading in dict.fromkeys(score.heading for score in scores):
        if heading in absent:
            continue
        systems_without = []
        for system, table in systems.items():
            if heading not in table.headings:
                systems_without.append(system)
        if systems_without:
            names = listing(systems_without)
            reason = f"missing from {names}. Score all with the same measures"
            absent[heading] = NotComputed(heading, reason)
    return list(absent.values())
