"""Agreement of measures with people, in one call."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from semmetrics.api.scores import document_options, system_name
from semmetrics.arguments import checked_but
from semmetrics.comparison.agreement_protocols import (
    AgreementProtocol,
    find_agreement_protocol,
)
from semmetrics.comparison.human_agreement import (
    Agreement,
    AgreementDesign,
    Judged,
    measure_agreement,
)
from semmetrics.comparison.significance import LEAST_OF_WILLIAMS
from semmetrics.core.ragged import Floats
from semmetrics.data.form import DEFAULTS
from semmetrics.data.judgements import TEXTS, Judgements, name_all, read_judgements
from semmetrics.data.lists import Lists
from semmetrics.errors import InputError
from semmetrics.messages import did_you_mean, listing, pluralize
from semmetrics.options import AGREEMENT, NOT_OF_META, OPTIONS, check_options, split_names
from semmetrics.reports.agreement_table import AgreementTable
from semmetrics.scoring.intervals import Bootstrap
from semmetrics.scoring.plan import (
    Prepared,
    check_given,
    open_setup,
    prepare_systems,
    resolve_inputs,
)
from semmetrics.scoring.result import Score, names_meant
from semmetrics.scoring.score import score_prepared

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from semmetrics.options import Options

__all__ = ["meta"]

_CERTAINTY = ("level", "resamples", "seed")


@document_options(*NOT_OF_META)
@checked_but("ratings", "preds", "gts")
def meta(  # type: ignore[misc]  # its protocols are not those of a score
    ratings: Any,
    preds: Any = None,
    gts: Any = None,
    *,
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
    r"""Measure how well the values that measures give to items agree with what people say.

    Parameters
    ----------
    ratings : path, frame, mapping, or sequence of mappings
        A public file, such as ``flickr8k.json``, or a table of ratings, ``{"id": ..., "rating":
        ...}``, or of preferences, ``{"a": ..., "b": ..., "preferred": "a"}``; see
        ``semmetrics.data.judgements``. Captions may stand in it with their references.
    preds, gts : path, mapping, sequence, Series, matrix, Lists or Matrix, optional
        The two sides of a score, where ``ratings`` has only ids.
    protocol : {"flickr8k-expert", "flickr8k-cf", "composite", "pascal-50s", "cxc-sits"}, optional
        How the literature measures agreement with that set of judgements.
    statistics : str or sequence of str, optional
        "kendall-c", "kendall-b", "pearson", "spearman" and "accuracy" (of pairs), or "all"; several
        in one text with commas. The default is the protocol's, or all.
    aggregate : {"none", "mean"}, optional
        Whether several judgements of the same candidate are averaged. The default is the
        protocol's, or "none".
    baseline : str, optional
        The measure that all others are compared with; the first where it is left out.
    test : {"bootstrap", "williams"}
        Resamples of images, the differences moved to mean 0; or Williams' test, which is for
        Pearson's r and takes judgements as independent.
    correction : {"holm", "bonferroni", "benjamini-hochberg", "none"}
        Of p for the number of differences.
    columns : mapping from role to column, optional
        Names of columns of a table, such as ``{"rating": "score"}``.
    group_by : str, optional
        A column; each of its values has rows of its own, behind those of all judgements.
    ids : str, optional
        A regular expression for ids in ``ratings``: what its group finds is the id.
    **options

    Returns
    -------
    AgreementTable
        A row for each measure, group and statistic, with an interval from resamples of images.

    Raises
    ------
    InputError
        If the input or an option is wrong, a measure has no values of items, an id is not among
        the predictions, or the statistic or the test is not for such judgements.

    References
    ----------
    Hessel et al. 2021, CLIPScore, appendix A. Anderson et al. 2016. Vedantam et al. 2015. Parekh et
    al. 2021. Williams 1959. Graham & Baldwin 2014, Testing for significance of increased
    correlation with human judgment, EMNLP.

    Examples
    --------
    >>> images = {
    ...     "a": {"ground_truth": ["a dog runs"], "human_judgement": [
    ...         {"caption": "the dog runs", "rating": 4}, {"caption": "a cat", "rating": 1}]},
    ...     "b": {"ground_truth": ["two cats sleep"], "human_judgement": [
    ...         {"caption": "cats sleep", "rating": 3}, {"caption": "two cars", "rating": 2}]},
    ... }
    >>> found = meta(images, measures="BLEU-1 ROUGE-L", protocol="flickr8k-expert")
    >>> [(one.heading, one.statistic, round(one.value, 3), one.n) for one in found]
    [('BLEU-1', 'kendall-c', 0.938, 4), ('ROUGE-L', 'kendall-c', 0.562, 4)]
    """
    check_options("meta", options, [name for name in OPTIONS if name not in NOT_OF_META])
    pinned = None if protocol is None else find_agreement_protocol(protocol)
    given = {name: value for name, value in options.items() if value is not None}
    check_given({name: value for name, value in given.items() if name == "read"})
    bootstrap = Bootstrap(*(given.get(name, OPTIONS[name].default) for name in _CERTAINTY))
    judgements = _read(ratings, pinned, columns, group_by, ids, bootstrap.seed, given)
    chosen = _statistics(statistics, pinned, judgements, test)
    design = AgreementDesign(
        chosen, aggregate or (pinned.aggregate if pinned else "none"), test, correction, "",
        bootstrap, protocol or "",
    )  # fmt: skip
    read = judgements
    if design.aggregate == "mean":
        judgements = judgements.averaged()
    scored = {name: value for name, value in given.items() if name not in _CERTAINTY}
    rated = {**scored, "keep_rows": True}
    name = system_name(ratings if judgements.texts else preds)
    if judgements.texts:
        prepared, values = _score_texts(judgements, preds, gts, rated, name)
    else:
        own = "keep" if pinned is None else pinned.own_references
        judgements, prepared, values = _score_ids(judgements, preds, gts, rated, name, own)
    design = replace(design, baseline=_baseline(baseline, values))
    rows = measure_agreement(judgements, values, design, given.get("progress"))
    table = AgreementTable(rows, [], _understood(read, prepared))
    return replace(table, notes=[*prepared.notes(), *_notes(judgements, table, pinned)])


def _read(
    ratings: Any,
    pinned: AgreementProtocol | None,
    columns: Mapping[str, str] | None,
    group_by: str | None,
    ids: str | None,
    seed: int,
    given: Mapping[str, Any],
) -> Judgements:
    """Read judgements as a protocol has them."""
    if pinned is None:
        return read_judgements(
            ratings, columns=columns, group_by=group_by, ids=ids, seed=seed,
            options=_files(given),
        ).without_own_references("keep")  # fmt: skip
    found = read_judgements(
        ratings,
        columns={**pinned.columns, **(columns or {})} if columns or pinned.columns else None,
        group_by=group_by or pinned.group_by,
        ids=ids or pinned.ids,
        draw_references=pinned.draw_references,
        seed=seed,
        options=_files(given),
    )
    if (found.second is not None) is not pinned.preferences:
        what = "preferences" if pinned.preferences else "ratings"
        raise InputError(f"protocol {pinned.name} has {what}, and these are none",
                         where=found.source, remedy="leave protocol= (--protocol) out")  # fmt: skip
    return found.without_own_references(pinned.own_references)


def _files(given: Mapping[str, Any]) -> Any:
    """Return how files are read; the columns of predictions are not those of ratings."""
    read = given.get("read")
    return DEFAULTS if read is None else replace(read.beside(), id_column=None)


def _statistics(
    asked: str | Sequence[str] | None,
    pinned: AgreementProtocol | None,
    judgements: Judgements,
    test: str,
) -> tuple[str, ...]:
    if asked is not None and asked != "all":
        names = split_names(asked.replace(" ", ",")) if isinstance(asked, str) else list(asked)
        if not names:
            raise InputError("no statistic is named",
                             remedy=f"choose among {listing(AGREEMENT)}")  # fmt: skip
        return tuple(dict.fromkeys(names))
    if test == "williams":
        return ("pearson",)
    if pinned is not None and asked is None:
        return pinned.statistics
    return tuple(AGREEMENT) if judgements.second is None else ("accuracy",)


def _score_texts(
    judgements: Judgements, preds: Any, gts: Any, given: Mapping[str, Any], name: str
) -> tuple[Prepared, list[Judged]]:
    """Score captions that stand with their references."""
    if preds is not None or gts is not None:
        raise InputError("the captions and their references stand in the ratings",
                         where=judgements.source, remedy="leave preds and gts out")  # fmt: skip
    if given.get("task", TEXTS) != TEXTS:
        raise InputError(f"task={given['task']!r}, and captions are rated",
                         remedy="leave task= (--task) out")  # fmt: skip
    candidates, references, places = judgements.caption_sides()
    prepared = prepare_systems({name: candidates}, references, {**given, "task": TEXTS})
    tasks = {
        system: {part: replace(task, counts=_without_several(task.counts))
                 for part, task in parts.items()}
        for system, parts in prepared.tasks.items()
    }  # fmt: skip
    prepared = replace(prepared, tasks=tasks)
    scores = _with_items(score_prepared(prepared), given)
    return prepared, [_judged(score, values[places]) for score, values in scores]


def _without_several(counts: Mapping[str, int]) -> dict[str, int]:
    """Leave out how many images have several candidates, as judged ones have."""
    return {name: number for name, number in counts.items() if name != "several_candidates"}


def _score_ids(
    judgements: Judgements, preds: Any, gts: Any, given: Mapping[str, Any], name: str, own: str
) -> tuple[Judgements, Prepared, list[Judged]]:
    """Score predictions that are given apart."""
    if preds is None or gts is None:
        raise InputError("the ratings have ids alone", where=judgements.source,
                         remedy="give preds and gts too")  # fmt: skip
    alone = all(several == (one,) for one, several in
                zip(judgements.candidates, judgements.references, strict=True))  # fmt: skip
    wanted = judgements.candidates
    if not alone:
        kind, read, (preds, gts) = _pair(judgements, preds, gts, given, name)
        if kind == TEXTS:  # an image counts once, however many of its candidates are judged
            judgements = _as_texts(judgements, preds, gts).without_own_references(own)
            prepared, judged = _score_texts(judgements, None, None, given, name)
            return judgements, replace(prepared, inputs=read), judged
        wanted, given = list(preds.ids), {**given, "task": kind}
    prepared = prepare_systems({name: preds}, gts, given)
    if not alone:
        prepared = replace(prepared, inputs=read)
    found = []
    for score, values in _with_items(score_prepared(prepared), given):
        rows = {str(one): row for row, one in enumerate(score.ids)}
        _check_known(wanted, rows, judgements.source, "the items")
        found.append(_judged(score, values[[rows[one] for one in wanted]]))
    return judgements, prepared, found


def _check_known(wanted: Sequence[str], known: Mapping[str, Any], source: str, where: str) -> None:
    lacking = list(dict.fromkeys(one for one in wanted if one not in known))
    if lacking:
        near = did_you_mean(lacking[0], list(known)[:1000], f"there is {listing(known, most=2)}")
        raise InputError(
            f"{pluralize(len(lacking), 'id')} of judgements not among {where}: {listing(lacking)}",
            where=source, remedy=f"{near.removesuffix('?')}, or give ids= (--ids), an expression "
            "for the part of an id that is compared" + "?" * near.endswith("?"),
        )  # fmt: skip


def _pair(
    judgements: Judgements, preds: Any, gts: Any, given: Mapping[str, Any], name: str
) -> tuple[str, list[Lists], list[Lists]]:
    """Bring each judged candidate together with its reference, as an item of its own.

    Returns
    -------
    kind : str
    read, paired : list of Lists
        Both sides as they were read, and as they are scored.
    """
    kind, systems, gts = resolve_inputs({name: preds}, gts, given)
    setup = open_setup(kind, given)
    read, paired = [], []
    ids = name_all([" | ".join((one, *several)) for one, several in
                    zip(judgements.candidates, judgements.references, strict=True)])  # fmt: skip
    wanted = [judgements.candidates, [several[0] for several in judgements.references]]
    for names, side in zip(wanted, (setup.read(systems[name], name), setup.read_truth(gts)),
                           strict=True):  # fmt: skip
        if not isinstance(side, Lists):
            raise InputError("a matrix has no candidates to bring together with references",
                             where=side.source, remedy="give ratings by id")  # fmt: skip
        rows = {str(one): row for row, one in enumerate(side.ids)}
        _check_known(names, rows, judgements.source, f"those of {side.source}")
        chosen = np.array([rows[one] for one in names], np.int64)
        read.append(side)
        paired.append(replace(side, ids=ids, side=side.side.take(chosen), where=ids.__getitem__))
    return kind, read, paired


def _as_texts(judgements: Judgements, preds: Lists, gts: Lists) -> Judgements:
    """Put captions in the place of their ids.

    Raises
    ------
    InputError
        If the id of a candidate has not one caption.
    """
    mine, theirs = (
        [tuple(str(one.vocabulary[code]) for code in codes.tolist())
         for codes in np.split(one.side.codes, one.side.indptr[1:-1])]
        for one in (preds, gts)
    )  # fmt: skip
    for one, several in zip(judgements.candidates, mine, strict=True):
        if len(several) != 1:
            raise InputError(f"the candidate has {pluralize(len(several), 'caption')}",
                             where=f"{preds.source}, {one}",
                             remedy="give each candidate one caption")  # fmt: skip
    texts = [text for (text,) in mine]
    return replace(judgements, candidates=texts, references=theirs, texts=True)


def _with_items(scores: Sequence[Score], given: Mapping[str, Any]) -> list[tuple[Score, Floats]]:
    """Return the values of items, as scores count them, the higher the better.

    Measures that a user did not name are left out where items have no values of them.

    Raises
    ------
    InputError
        If items have none.
    """
    found, lacking = [], []
    for score in scores:
        values = score.averaged
        values = score.items if values is None else values
        if values is None:
            lacking.append(score.heading)
        else:
            higher = score.measure.definition.higher_is_better
            found.append((score, values if higher else -values))
    if lacking and (not found or given.get("measures") is not None):
        raise InputError(
            f"{lacking[0]} has no values of items", where="measures",
            remedy="leave it out, or name one such as F1 or CIDEr-D",
        )  # fmt: skip
    return found


def _judged(score: Score, values: Floats) -> Judged:
    return Judged(score.heading, str(score.measure), score.signature, values.astype(np.float64))


def _baseline(name: str | None, measures: Sequence[Judged]) -> str:
    if name is None:
        return measures[0].heading
    known = {(one.heading, one.measure) for one in measures}
    meant = [heading for heading, _ in names_meant(name, known)]
    if len(meant) != 1:
        there = [one.heading for one in measures]
        remedy = did_you_mean(name, there, f"choose one of {listing(there)}")
        raise InputError(f"baseline={name!r} is no measure that is compared", remedy=remedy)
    return meant[0]


def _understood(judgements: Judgements, prepared: Prepared) -> list[str]:
    """Say how the judgements and, where they are apart, both sides were read."""
    counts = (
        (len(judgements), judgements.noun),
        (judgements.count_candidates(), "caption" if judgements.texts else "id"),
        (len(set(judgements.images)), "image"),
    )
    line = f"{judgements.source}: {', '.join(pluralize(*count) for count in counts)}"
    return [line, *([] if judgements.texts else prepared.understood())]


def _is_untested(one: Agreement) -> bool:
    """Tell whether a group is too small for Williams' test."""
    tested = one.design.test == "williams" and one.heading != one.design.baseline
    return tested and one.images > 1 and math.isnan(one.p) and not math.isnan(one.difference)


def _notes(
    judgements: Judgements, table: AgreementTable, pinned: AgreementProtocol | None
) -> list[str]:
    """Say what is odd of the judgements, and of the values."""
    notes = list(map(str, judgements.notes))
    if pinned is not None and pinned.expected not in (None, len(judgements)):
        notes.append(f"{judgements.source}: {pluralize(len(judgements), judgements.noun)}; papers "
                     f"with {pinned.name} have {pinned.expected:,}")  # fmt: skip
    if judgements.second is None and len(set(judgements.values.tolist())) == 1:
        notes.append(f"{judgements.source}: all ratings are equal: agreement is undefined")
    for one in table:
        of = one.heading if len(table.groups) == 1 else f"{one.heading}, {one.group}"
        if one.statistic != table[0].statistic:
            continue
        if one.lacking:
            why = "without a preference or a value" if one.unit == "pair" else "without a value"
            notes.append(f"{of}: {pluralize(one.lacking, one.unit)} {why}: left out")
        if one.value != one.value and judgements.second is None:
            notes.append(f"{of}: agreement is undefined: values or ratings are all equal")
        if _is_untested(one):
            notes.append(f"{one.group}: Williams' test needs {LEAST_OF_WILLIAMS} {one.unit}s that "
                         f"both measures have: no p of {one.heading}")  # fmt: skip
        if one.images == 1:
            group = "" if len(table.groups) == 1 else f"{one.group}: "
            notes.append(f"{group}all {one.unit}s are of one image: no intervals, no tests")
    if any(one.design.test == "williams" for one in table) and table[0].images < table[0].n:
        notes.append(f"Williams' test takes {table[0].n:,} {table[0].unit}s of "
                     f"{pluralize(table[0].images, 'image')} as independent; "
                     "test='bootstrap' (--test) does not")  # fmt: skip
    return list(dict.fromkeys(notes))
