"""Meta-evaluation: how well measures agree with human judgements of the same items."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from semmetrics.data.judgement_files import read_judgements
from semmetrics.data.judgements import Judgements
from semmetrics.data.option_keywords import takes_options
from semmetrics.data.read_options import DEFAULTS, ReadOptions
from semmetrics.errors import Fact, InputError
from semmetrics.kinds.note_builders import counted
from semmetrics.messages import did_you_mean, listing, pluralize
from semmetrics.options import AGREEMENT, split_names
from semmetrics.scoring.evaluation import Evaluation
from semmetrics.scoring.intervals import Bootstrap
from semmetrics.scoring.protocols import AgreementProtocol, find_agreement_protocol
from semmetrics.scoring.score import system_name
from semmetrics.scoring.score_notes import INTERVAL_OPTIONS
from semmetrics.studies import significance
from semmetrics.studies.agreement import (
    Agreement,
    AgreementDesign,
    Judged,
    measure_agreement,
)
from semmetrics.studies.agreement_table import AgreementTable
from semmetrics.studies.differences import find_headings
from semmetrics.studies.judged_scores import pool_systems, score_judgements

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from semmetrics.options import Options

_NO_PROTOCOL = AgreementProtocol(
    name="", title="", source="", statistics=(), cite=(), files=""
)


@takes_options()
def meta(  # type: ignore[misc]  # Its protocols differ from the protocols of a score.
    ratings: Any,
    preds: object = None,
    gts: object = None,
    *,
    systems: Mapping[str, Any] | None = None,
    protocol: str | None = None,
    statistics: str | Sequence[str] | None = None,
    aggregate: str | None = None,
    baseline: str | None = None,
    test: str = "bootstrap",
    correction: str = "holm",
    columns: Mapping[str, str] | None = None,
    group_by: str | None = None,
    ids: str | None = None,
    **options: Unpack[Options],
) -> AgreementTable:
    r"""Measure how well the values of measures for items agree with human judgements.

    Parameters
    ----------
    ratings : path, frame, mapping, or sequence of mappings
        A public file, such as ``flickr8k.json``, or a table. A table has ratings,
        ``{"id": ..., "rating": ...}``, or preferences, ``{"a": ..., "b": ...,
        "preferred": "a"}``. It may also contain captions with their references. See
        ``semmetrics.data.judgements``.
    preds, gts : path, mapping, sequence, Series, matrix, Lists or Matrix, optional
        The two sides of a score. Needed if ``ratings`` has only ids.
    systems : mapping from name to predictions, optional
        The predictions of several systems, instead of ``preds``. The column "system" of
        ``ratings`` names the system of each rating.
    protocol : {"flickr8k-expert", "flickr8k-cf", "composite", "pascal-50s", "cxc-sits"}, optional
        How the literature measures agreement with that set of judgements.
    statistics : str or sequence of str, optional
        "kendall-c", "kendall-b", "pearson", "spearman" and "accuracy" (of pairs), or
        "all". A string may contain several, separated by commas. Default: the
        statistics of the protocol, or all.
    aggregate : {"none", "mean"}, optional
        Whether several judgements of the same candidate are averaged. Default: the
        choice of the protocol, or "none".
    baseline : str, optional
        The measure that all others are compared with. Default: the first.
    test : {"bootstrap", "williams"}
        A bootstrap test on resamples of images, with differences shifted to mean 0, or
        Williams' test, which is for Pearson's r and assumes independent judgements.
    correction : {"holm", "bonferroni", "benjamini-hochberg", "none"}
        Correction of p for the number of differences.
    columns : mapping from role to column, optional
        Names of columns of a table, such as ``{"rating": "score"}``.
    group_by : str, optional
        A column. Each of its values gets its own rows, after the rows of all
        judgements.
    ids : str, optional
        A regular expression for ids in ``ratings``. Its group is the id.
    **options

    Returns
    -------
    AgreementTable
        One row per measure, group and statistic, with an interval from resamples of
        images.

    Raises
    ------
    InputError
        If the input or an option is invalid, a measure has no values of items, an id is
        not among the predictions, or the statistic or the test does not apply to these
        judgements.

    References
    ----------
    Hessel et al. 2021, CLIPScore, appendix A. Anderson et al. 2016. Vedantam et al.
    2015. Parekh et al. 2021. Williams 1959. Graham & Baldwin 2014, Testing for
    significance of increased correlation with human judgment, EMNLP.

    Examples
    --------
    >>> images = {
    ...     "a": {"ground_truth": ["a dog runs"], "human_judgement": [
    ...         {"caption": "the dog runs", "rating": 4}, {"caption": "a cat", "rating": 1}]},
    ...     "b": {"ground_truth": ["two cats sleep"], "human_judgement": [
    ...         {"caption": "cats sleep", "rating": 3}, {"caption": "two cars", "rating": 2}]},
    ... }
    >>> table = meta(images, measures="BLEU-1 ROUGE-L", protocol="flickr8k-expert")
    >>> [(row.heading, row.statistic, round(row.value, 3), row.n) for row in table]
    [('BLEU-1', 'kendall-c', 0.938, 4), ('ROUGE-L', 'kendall-c', 0.562, 4)]
    """
    conventions = _NO_PROTOCOL
    if protocol is not None:
        conventions = find_agreement_protocol(protocol)
    settings = {name: value for name, value in options.items() if value is not None}
    bootstrap = Bootstrap.of(settings)
    notes: list[Fact] = []
    if systems is not None:
        if preds is not None:
            raise InputError("conflicting-options", names="preds= and systems=")
        preds, notes = pool_systems(systems, gts, settings)

    judgements = _read_judgements(
        ratings,
        conventions,
        columns=columns,
        group_by=group_by,
        ids=ids,
        seed=bootstrap.seed,
        read=settings.get("read"),
        several_systems=systems is not None,
    )
    if protocol is not None:
        _check_protocol(conventions, judgements)
    judgements = judgements.without_own_references(conventions.own_references)
    design = AgreementDesign(
        _choose_statistics(statistics, conventions, judgements, test),
        aggregate or conventions.aggregate,
        test,
        correction,
        baseline="",
        bootstrap=bootstrap,
        protocol=conventions.name,
    )
    judged = judgements
    if design.aggregate == "mean":
        judged = judgements.averaged()

    score_settings = {
        name: value for name, value in settings.items() if name not in INTERVAL_OPTIONS
    }
    score_settings["keep_rows"] = True
    scored = score_judgements(
        judged,
        preds,
        gts,
        score_settings,
        _name_predictions(ratings, preds, systems, judged),
        conventions.own_references,
    )
    design = replace(design, baseline=_choose_baseline(baseline, scored.measures))
    rows = measure_agreement(
        scored.judgements, scored.measures, design, score_settings.get("progress")
    )
    table = AgreementTable(
        rows,
        understood=_describe_inputs(judgements, scored.prepared),
        not_computed=scored.prepared.chosen.not_computed,
    )
    notes += _score_facts(scored.prepared, scored.judgements)
    notes += _agreement_facts(scored.judgements, table, conventions)
    return replace(table, facts=notes)


def _read_judgements(
    ratings: Any,
    protocol: AgreementProtocol,
    *,
    columns: Mapping[str, str] | None,
    group_by: str | None,
    ids: str | None,
    seed: int,
    read: ReadOptions | None,
    several_systems: bool,
) -> Judgements:
    """Read judgements. A protocol sets the columns and options that are left out."""
    all_columns = {**protocol.columns, **(columns or {})}
    read_options = DEFAULTS
    if read is not None:
        # Columns of predictions are not columns of ratings.
        read_options = replace(read.for_side_inputs(), id_column=None)
    return read_judgements(
        ratings,
        columns=all_columns or None,
        group_by=group_by or protocol.group_by,
        ids=ids or protocol.ids,
        draw_references=protocol.draw_references,
        seed=seed,
        options=read_options,
        several=several_systems,
    )


def _check_protocol(protocol: AgreementProtocol, judgements: Judgements) -> None:
    """Raise an error unless a protocol is for ratings or preferences, as these are."""
    are_preferences = judgements.second is not None
    if are_preferences is not protocol.preferences:
        raise InputError(
            "bad-option",
            judgements.source,
            name="protocol",
            value=protocol.name,
            wanted="a protocol of such judgements",
        )


def _name_predictions(
    ratings: Any, preds: Any, systems: Mapping[str, Any] | None, judgements: Judgements
) -> str:
    """Return the name of the system, or of all systems, in scores and messages."""
    if systems is not None:
        return ", ".join(systems)
    if judgements.are_captions:
        return system_name(ratings)
    return system_name(preds)


def _choose_statistics(
    requested: str | Sequence[str] | None,
    protocol: AgreementProtocol,
    judgements: Judgements,
    test: str,
) -> tuple[str, ...]:
    """Return the requested statistics, or the default for the test and the protocol."""
    if requested is not None and requested != "all":
        names = requested
        if isinstance(requested, str):
            names = split_names(requested.replace(" ", ","))
        return tuple(dict.fromkeys(names or [str(requested)]))
    if test == "williams":
        return ("pearson",)
    if protocol.statistics and requested is None:
        return protocol.statistics
    if judgements.second is None:
        return tuple(AGREEMENT)
    return ("accuracy",)


def _choose_baseline(requested: str | None, measures: Sequence[Judged]) -> str:
    """Return the heading of the baseline. The default is the first measure."""
    if requested is None:
        return measures[0].heading
    headings = find_headings(requested, measures)
    if len(headings) == 1:
        (heading,) = headings
        return heading
    choices = [judged.heading for judged in measures]
    remedy = did_you_mean(requested, choices, f"choose one of {listing(choices)}")
    raise InputError("unknown-name", what="baseline", value=requested, remedy=remedy)


def _describe_inputs(judgements: Judgements, prepared: Evaluation) -> list[str]:
    """Describe how the judgements and, if they are separate, both sides were read."""
    candidate_noun = "id"
    if judgements.are_captions:
        candidate_noun = "caption"
    n_images = len(set(judgements.images))
    counts = (
        pluralize(len(judgements), judgements.noun),
        pluralize(judgements.count_candidates(), candidate_noun),
        pluralize(n_images, "image"),
    )
    lines = [f"{judgements.source}: {', '.join(counts)}"]
    if not judgements.are_captions:
        lines += prepared.understood()
    return lines


# ---- notes ---------------------------------------------------------------------------


def _score_facts(prepared: Evaluation, judgements: Judgements) -> list[Fact]:
    """Return the notes on the scores that also apply to judgements."""
    facts = prepared.notes()
    if not judgements.are_captions:
        return facts
    # Judged images have several candidates.
    return [fact for fact in facts if fact.code != "several-candidates"]


def _agreement_facts(
    judgements: Judgements, table: AgreementTable, protocol: AgreementProtocol
) -> list[Fact]:
    """Return the notes on the judgements and on their agreement, each once."""
    facts = _judgement_facts(judgements, protocol)
    first = table[0]
    for row in table:
        if row.statistic == first.statistic:
            facts += _row_facts(row, judgements, several_groups=len(table.groups) > 1)
    if first.design.test == "williams" and first.images < first.n:
        values = {"unit": first.unit, "images": first.images}
        facts.append(Fact("dependent-judgements", first.n, values=values))
    distinct: list[Fact] = []
    for fact in facts:
        if fact not in distinct:
            distinct.append(fact)
    return distinct


def _judgement_facts(judgements: Judgements, protocol: AgreementProtocol) -> list[Fact]:
    """Return the notes on the judgements themselves."""
    source = judgements.source
    n_judgements = len(judgements)
    facts: list[Fact] = [*judgements.notes]
    if protocol.expected not in (None, n_judgements):
        values = {
            "unit": judgements.noun,
            "protocol": protocol.name,
            "expected": protocol.expected,
        }
        facts.append(Fact("other-size", n_judgements, where=source, values=values))
    if judgements.second is None and len(set(judgements.values.tolist())) == 1:
        facts.append(Fact("constant-ratings", where=source))
    return facts


def _row_facts(
    row: Agreement, judgements: Judgements, *, several_groups: bool
) -> list[Fact]:
    """Return the notes on the agreement of one measure in one group."""
    where = row.heading
    group = ""
    if several_groups:
        where = f"{row.heading}, {row.group}"
        group = row.group
    facts = counted("unjudged", row.lacking, where=where, unit=row.unit)
    if math.isnan(row.value) and judgements.second is None:
        facts.append(Fact("constant-side", where=where))
    is_untested = math.isnan(row.p) and not math.isnan(row.difference)
    if is_untested and row.design.test == "williams" and row.images > 1:
        least = significance.LEAST_OF_WILLIAMS
        facts += counted("untested-group", least, where=where, unit=row.unit)
    if row.images == 1:
        facts.append(Fact("one-image", where=group, values={"unit": row.unit}))
    return facts
