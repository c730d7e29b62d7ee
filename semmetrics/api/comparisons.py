"""Systems compared with a baseline, in one call."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from semmetrics.api.scores import document_options
from semmetrics.arguments import checked_but
from semmetrics.comparison.paired import Design, check_systems, compare_scores
from semmetrics.options import COMPARED, OPTIONS, check_options
from semmetrics.reports.comparison_table import ComparisonTable
from semmetrics.reports.table import ScoreTable
from semmetrics.scoring.intervals import Bootstrap
from semmetrics.scoring.systems import prepare_systems, score_prepared

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
    gts: Any,
    *,
    baseline: str | None = None,
    test: str = "bootstrap",
    correction: str = "holm",
    **options: Unpack[Options],
) -> ComparisonTable:
    """Compare systems with a baseline, and say which differences are more than chance.

    Parameters
    ----------
    systems : mapping from name to predictions
        At least two, with the same items; each as ``preds`` of ``score``.
    gts : path, mapping, sequence, Series, matrix, Lists or Matrix
    baseline : str, optional
        The system that all others are compared with; the first where it is left out.
    test : {"bootstrap", "bootstrap-sacrebleu", "randomization", "t", "wilcoxon"}
        Resamples of the items of both systems together, their differences moved to mean 0; the same
        as sacrebleu has it; items swapped at random between the two; or, of measures that are means
        over items, a test of the items' differences.
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
    Koehn 2004 (paired bootstrap). Riezler & Maxwell 2005. Noreen 1989. Holm 1979.

    Examples
    --------
    >>> gts = {f"image {n}": ["cat", "dog"] if n % 2 else ["cow"] for n in range(40)}
    >>> old = {id: labels[:1] for id, labels in gts.items()}
    >>> new = {id: labels[: 2 if n % 4 else 1] for n, (id, labels) in enumerate(gts.items())}
    >>> found = compare({"old": old, "new": new}, gts, measures="MicroF1", resamples=1000)
    >>> one = found[0]
    >>> round(one.difference, 4), round(one.low, 4), round(one.high, 4), one.wins, one.losses
    (0.2, 0.1489, 0.2453, 20, 0)
    >>> found.sentences()[0]
    'new is better than old in F1(average=micro) (p = 0.0010)'
    """
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
    return ComparisonTable(differences, table, prepared.notes(scores), prepared.understood())
