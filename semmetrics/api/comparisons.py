"""Systems compared with a baseline, in one call."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from semmetrics.api.scores import document_options
from semmetrics.arguments import checked_but
from semmetrics.comparison.paired import Design, check_systems, compare_scores
from semmetrics.errors import InputError
from semmetrics.messages import a_kind, listing, pluralize
from semmetrics.options import COMPARED, OPTIONS, check_options
from semmetrics.reports.comparison_table import ComparisonTable
from semmetrics.reports.table import ScoreTable
from semmetrics.scoring.intervals import AUTO, Bootstrap
from semmetrics.scoring.plan import prepare_systems
from semmetrics.scoring.protocols import NotComputed
from semmetrics.scoring.result import Score
from semmetrics.scoring.score import score_prepared

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from semmetrics.options import Options

__all__ = ["compare"]

# A comparison always needs intervals and rows; references against each other are other items.
_OWN = ("ci", "keep_rows", "score_references")


@document_options(*_OWN, **COMPARED)
@checked_but("systems")
def compare(
    systems: Mapping[str, Any],
    gts: Any = None,
    *,
    baseline: str | None = None,
    test: str = "interval",
    correction: str = "holm",
    **options: Unpack[Options],
) -> ComparisonTable:
    """Compare systems with a baseline, and say which differences are more than chance.

    Parameters
    ----------
    systems : mapping from name to predictions, or to ScoreTable
        At least two, with the same items; each as ``preds`` of ``score``. Or what ``score``
        returned for each with ``ci=True``, so that they may differ in options, too, such as the
        embedding; measures of the same heading are compared.
    gts : path, mapping, sequence, Series, matrix, Lists or Matrix
        Left out beside scored results, as are further options.
    baseline : str, optional
        The system that all others are compared with; the first where it is left out.
    test : {"interval", "bootstrap", "bootstrap-sacrebleu", "randomization", "t", "wilcoxon"}
        "interval": p is the smallest 1 - level at which the interval of the difference excludes
        0; by default that is Student's t on the jackknife standard error. Otherwise resamples of
        both systems, their differences moved to mean 0; the same as sacrebleu has it; items swapped
        at random; or, for means over items, a test of the items' differences.
    correction : {"holm", "bonferroni", "benjamini-hochberg", "none"}
        Of p for the number of systems and measures that are compared.
    **options

    Returns
    -------
    ComparisonTable
        A difference for each system and measure, with an interval from paired resamples.

    Raises
    ------
    InputError
        If the input or an option is wrong, there is one system, systems have different items, or
        the test is not for a measure.

    References
    ----------
    Tukey 1958 (jackknife). Koehn 2004 (paired bootstrap). Riezler & Maxwell 2005. Noreen 1989.
    Holm 1979.

    Examples
    --------
    >>> gts = {f"image {n}": ["cat", "dog"] if n % 2 else ["cow"] for n in range(40)}
    >>> old = {id: labels[:1] for id, labels in gts.items()}
    >>> new = {id: labels[: 2 if n % 4 else 1] for n, (id, labels) in enumerate(gts.items())}
    >>> found = compare({"old": old, "new": new}, gts, measures="MicroF1", resamples=1000)
    >>> one = found[0]
    >>> round(one.difference, 4), round(one.low, 4), round(one.high, 4), one.wins, one.losses
    (0.2, 0.1482, 0.2518, 20, 0)
    >>> found.sentences()[0]
    'new is better than old in F1(average=micro) (p < 0.0001)'
    """
    if isinstance(systems, Mapping) and any(isinstance(v, ScoreTable) for v in systems.values()):
        return _compare_scored(systems, gts, baseline, test, correction, options)
    check_options("compare", options, [name for name in OPTIONS if name not in _OWN])
    given = {**COMPARED, **{name: v for name, v in options.items() if v is not None}, "ci": True}
    first = next(iter(systems), "") if isinstance(systems, Mapping) else ""
    level, resamples, seed, method = (
        given.get(name, OPTIONS[name].default)
        for name in ("level", "resamples", "seed", "ci_method")
    )
    bootstrap = Bootstrap(level, resamples, seed, method)  # type: ignore[arg-type]
    named = first if baseline is None else baseline
    design = Design(test, named, correction, bootstrap)
    if first:
        check_systems({name: {} for name in systems}, named)
    prepared = prepare_systems(systems, gts, given)
    check_systems(prepared.tasks, named)
    scores = score_prepared(prepared)
    differences = compare_scores(scores, design, prepared.options["progress"])
    table = ScoreTable(scores, prepared.plan.not_computed)
    values = [replace(score, replicates=None) for score in scores]  # intervals are of differences
    return ComparisonTable(differences, table, prepared.notes(values), prepared.understood())


def _compare_scored(
    systems: Mapping[str, Any],
    gts: Any,
    baseline: str | None,
    test: str,
    correction: str,
    options: Mapping[str, Any],
) -> ComparisonTable:
    """Compare results that were scored before, each with options of its own."""
    idle = [f"{name}=" for name, value in options.items() if value is not None]
    idle += ["gts="] if gts is not None else []
    if idle:
        raise InputError(f"{', '.join(idle)} beside scored results",
                         remedy="give that to score, and leave it out here")  # fmt: skip
    named = next(iter(systems)) if baseline is None else baseline
    check_systems({name: {} for name in systems}, named)
    scores = [score for name, table in systems.items() for score in _scores_of(name, table)]
    base = {score.part: score for score in scores if score.system == named}
    for score in scores:
        _check_alike(score, base.get(score.part, score))
    made = next(score.ci.bootstrap for score in base.values() if score.ci is not None)
    design = Design(test, named, correction, replace(made, method=AUTO))
    differences = compare_scores(scores, design)
    if not differences:
        raise InputError("the results share no measure", remedy="score both with the same measures")
    tables = systems.values()
    notes = [note for table in tables for note in table.notes]
    understood = [line for table in tables for line in table.understood]
    absent = {one.heading: one for table in tables for one in table.not_computed}
    for heading in dict.fromkeys(score.heading for score in scores):
        if without := [name for name, table in systems.items() if heading not in table.headings]:
            reason = f"not of {listing(without)}; score all with the same measures"
            absent.setdefault(heading, NotComputed(heading, reason))
    made_of = ScoreTable(scores, list(absent.values()))
    return ComparisonTable(
        differences, made_of, list(dict.fromkeys(notes)), list(dict.fromkeys(understood))
    )


def _scores_of(name: str, table: Any) -> list[Score]:
    """Return the scores of one system under its name in a comparison."""
    if not isinstance(table, ScoreTable):
        raise InputError(f"{name} is {a_kind(table)}, and others are scored results",
                         remedy="give a ScoreTable for each, or predictions for each")  # fmt: skip
    if len(table.systems) != 1:
        raise InputError(f"{name} holds {pluralize(len(table.systems), 'system')}",
                         remedy="give what score returned for one system")  # fmt: skip
    if all(one.replicates is None for one in table):
        raise InputError(f"{name} was scored without resamples",
                         remedy="score with ci=True")  # fmt: skip
    return [replace(score, system=name) for score in table]


def _check_alike(score: Score, first: Score) -> None:
    """Refuse a score of other resamples, or of another ground truth, than the baseline's."""
    if score.statistics.fingerprint != first.statistics.fingerprint:
        raise InputError(
            f"{score.system} and {first.system} were scored on other items, or another ground "
            "truth",
            remedy="score both with the same gts, and give the same items to both",
        )
    mine, theirs = (one.ci and replace(one.ci.bootstrap, method=AUTO) for one in (score, first))
    if mine and theirs and mine != theirs:
        raise InputError(f"{score.system} was scored with other resamples than {first.system}",
                         remedy="score both with the same seed, resamples and level")  # fmt: skip
