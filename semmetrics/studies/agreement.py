"""Agreement of measures with people: in one call, and as people and programs read it."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from semmetrics.core.ragged import Floats
from semmetrics.core.same import by_value
from semmetrics.data.form import DEFAULTS
from semmetrics.data.judgements import TEXTS, Judgements, name_all, read_judgements
from semmetrics.data.lists import Lists
from semmetrics.errors import Fact, InputError, UnknownKeyError
from semmetrics.messages import did_you_mean, listing, pluralize, visible
from semmetrics.options import (
    AGGREGATIONS,
    AGREEMENT,
    CORRECTIONS,
    JUDGEMENT_TESTS,
    NOT_OF_META,
    OPTIONS,
    check_options,
    split_names,
)
from semmetrics.reports import ScaledResult, Table, format_p
from semmetrics.scoring.intervals import Bootstrap
from semmetrics.scoring.plan import (
    Prepared,
    check_given,
    open_setup,
    prepare_systems,
    resolve_inputs,
)
from semmetrics.scoring.protocols import AgreementProtocol, find_agreement_protocol
from semmetrics.scoring.result import Score, matching_names
from semmetrics.scoring.score import document_options, score_prepared, system_name
from semmetrics.studies.human_agreement import (
    ALL,
    COLUMNS,
    Agreement,
    AgreementDesign,
    Judged,
    measure_agreement,
)
from semmetrics.studies.significance import LEAST_OF_WILLIAMS

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from semmetrics.options import Options

_CERTAINTY = ("level", "resamples", "seed")


@document_options(*NOT_OF_META)
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
    return replace(table, facts=[*prepared.facts(), *_facts(judgements, table, pinned)])


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
    read, own, draw = given.get("read"), "keep", None
    if pinned is not None:
        if columns or pinned.columns:
            columns = {**pinned.columns, **(columns or {})}
        group_by, ids = group_by or pinned.group_by, ids or pinned.ids
        own, draw = pinned.own_references, pinned.draw_references
    found = read_judgements(
        ratings, columns=columns, group_by=group_by, ids=ids, draw_references=draw, seed=seed,
        # columns of predictions are not those of ratings
        options=DEFAULTS if read is None else replace(read.beside(), id_column=None),
    )  # fmt: skip
    if pinned is not None and (found.second is not None) is not pinned.preferences:
        raise InputError("bad-option", found.source, name="protocol", value=pinned.name,
                         wanted="a protocol of such judgements")  # fmt: skip
    return found.without_own_references(own)


def _statistics(
    asked: str | Sequence[str] | None,
    pinned: AgreementProtocol | None,
    judgements: Judgements,
    test: str,
) -> tuple[str, ...]:
    if asked is not None and asked != "all":
        names = split_names(asked.replace(" ", ",")) if isinstance(asked, str) else list(asked)
        if not names:
            raise InputError("bad-choice", name="statistics", value=asked, choices=AGREEMENT)
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
        raise InputError("not-applicable", judgements.source, name="preds",
                         what="ratings with captions and references")  # fmt: skip
    if given.get("task", TEXTS) != TEXTS:
        raise InputError("bad-option", judgements.source, name="task", value=given["task"],
                         wanted=repr(TEXTS))  # fmt: skip
    candidates, references, places = judgements.caption_sides()
    prepared = prepare_systems({name: candidates}, references, {**given, "task": TEXTS})
    tasks = {  # judged images have several candidates, which is not odd
        system: {
            part: replace(task, counts={name: number for name, number in task.counts.items()
                                        if name != "several_candidates"})
            for part, task in parts.items()
        }
        for system, parts in prepared.tasks.items()
    }  # fmt: skip
    prepared = replace(prepared, tasks=tasks)
    scores = _with_items(score_prepared(prepared), given)
    return prepared, [_judged(score, values[places]) for score, values in scores]


def _score_ids(
    judgements: Judgements, preds: Any, gts: Any, given: Mapping[str, Any], name: str, own: str
) -> tuple[Judgements, Prepared, list[Judged]]:
    """Score predictions that are not in the file of judgements."""
    if preds is None or gts is None:
        raise InputError("needs-option", judgements.source, what="a table of ids without texts",
                         name="preds" if preds is None else "gts")  # fmt: skip
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
        raise InputError("unmatched-ids", source, n=len(lacking), lacking=lacking, role=where,
                         known=known)  # fmt: skip


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
            raise InputError("wrong-format", side.source, what="candidates", format="a matrix",
                             wanted="captions or labels by id")  # fmt: skip
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
            found = pluralize(len(several), "caption")
            raise InputError("wrong-count", f"{preds.source}, {one}", found=found, wanted="one id")
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
        raise InputError("no-item-values", "measures", measure=lacking[0])
    return found


def _judged(score: Score, values: Floats) -> Judged:
    return Judged(score.heading, str(score.measure), score.signature, values.astype(np.float64))


def _baseline(name: str | None, measures: Sequence[Judged]) -> str:
    if name is None:
        return measures[0].heading
    known = {(one.heading, one.measure) for one in measures}
    meant = [heading for heading, _ in matching_names(name, known)]
    if len(meant) != 1:
        there = [one.heading for one in measures]
        remedy = did_you_mean(name, there, f"choose one of {listing(there)}")
        raise InputError("unknown-name", what="baseline", value=name, remedy=remedy)
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


def _facts(
    judgements: Judgements, table: AgreementTable, pinned: AgreementProtocol | None
) -> list[Fact]:
    """Note what is odd about the judgements and the values."""
    source, count = judgements.source, len(judgements)
    notes: list[Fact] = [*judgements.notes]
    if pinned is not None and pinned.expected not in (None, count):
        known = {"unit": judgements.noun, "protocol": pinned.name, "expected": pinned.expected}
        notes.append(Fact("other-size", count, where=source, values=known))
    if judgements.second is None and len(set(judgements.values.tolist())) == 1:
        notes.append(Fact("constant-ratings", where=source))
    for one in table:
        if one.statistic != table[0].statistic:
            continue
        of = one.heading if len(table.groups) == 1 else f"{one.heading}, {one.group}"
        unit = {"unit": one.unit}
        if one.lacking:
            notes.append(Fact("unjudged", one.lacking, where=of, values=unit))
        if one.value != one.value and judgements.second is None:
            notes.append(Fact("constant-side", where=of))
        untested = math.isnan(one.p) and not math.isnan(one.difference)  # too small a group
        if untested and one.design.test == "williams" and one.images > 1:
            notes.append(Fact("untested-group", LEAST_OF_WILLIAMS, where=of, values=unit))
        if one.images == 1:
            group = "" if len(table.groups) == 1 else one.group
            notes.append(Fact("one-image", where=group, values=unit))
    first = table[0]
    if first.design.test == "williams" and first.images < first.n:
        known = {"unit": first.unit, "images": first.images}
        notes.append(Fact("dependent-judgements", first.n, values=known))
    return [note for at, note in enumerate(notes) if note not in notes[:at]]


_MANY = 8  # agreements that a sentence names
_AGGREGATED = {("pair", "mean"): "of each pair the side that most prefer"}


@by_value()
@dataclass(frozen=True, eq=False)
class AgreementTable(ScaledResult, Table[Agreement]):
    """How well measures agree with people: a sequence of Agreement, with notes.

    Attributes
    ----------
    agreements : list of Agreement
        Group by group, measure by measure.
    facts : list of Fact
        What is odd; ``notes`` has them as texts.
    understood : list of str
        How each input was read.

    Examples
    --------
    >>> import semmetrics
    >>> gts = {"a": ["cat"], "b": ["dog"], "c": ["cat", "dog"], "d": ["cow"]}
    >>> preds = {"a": ["cat"], "b": ["cow"], "c": ["cat"], "d": ["cow", "dog"]}
    >>> rows = [{"id": id, "rating": rating} for id, rating in zip("abcd", (5, 1, 3, 4))]
    >>> found = semmetrics.meta(rows, preds, gts, measures="F1", statistics="kendall-b")
    >>> round(found["F1"].value, 4), found["F1"].n
    (0.9129, 4)
    """

    _columns = COLUMNS
    agreements: list[Agreement]
    facts: list[Fact] = field(default_factory=list)
    understood: list[str] = field(default_factory=list, repr=False)

    def _entries(self) -> list[Agreement]:
        return self.agreements

    def _find(self, key: Any) -> Agreement:
        """Return the agreement of a measure, or of (measure, statistic[, group]).

        By default the statistic is the first and the group is all judgements.
        """
        parts = key if isinstance(key, tuple) else (key,)
        if 1 <= len(parts) <= 3 and all(isinstance(part, str) for part in parts):
            name, statistic, group = [*parts, None, None][:3]
            known = {(one.heading, one.measure) for one in self.agreements}
            meant = {heading for heading, _ in matching_names(name, known)}
            for one in self.agreements:
                if (one.heading in meant and statistic in (None, one.statistic)
                        and one.group == (group or ALL)):  # fmt: skip
                    return one
        there = dict.fromkeys(f"{one.heading}, {one.statistic}" for one in self.agreements)
        raise UnknownKeyError("unknown-name", what="agreement", value=key,
                              remedy=f"choose among {listing(there)}")  # fmt: skip

    @property
    def headings(self) -> list[str]:
        """The measures, in the order given."""
        return list(dict.fromkeys(one.heading for one in self.agreements))

    @property
    def groups(self) -> list[str]:
        """The groups of judgements, all of them first."""
        return list(dict.fromkeys(one.group for one in self.agreements))

    def _tables(self, digits: int, scale: float) -> list[list[list[str]]]:
        if not self.agreements:
            return []
        design = self.agreements[0].design
        several = len(self.groups) > 1
        by = CORRECTIONS[design.correction].split(" ")[0]
        tested = any(not math.isnan(one.p) for one in self.agreements)
        level = f" [{design.bootstrap.level:.4g}]" if self._has_intervals() else ""
        head = ["measure", *(["group"] if several else []), "statistic", "n", f"value{level}"]
        if tested:
            head += [f"less {design.baseline}{level}", "p", *([f"p {by}"] if by else [])]
        rows = [head]
        for one in self.agreements:
            row = [one.heading, *([one.group] if several else []), one.statistic, f"{one.n:,}",
                   _interval(one.value, one.low, one.high, digits, scale)]  # fmt: skip
            if tested:
                ends = one.difference, one.difference_low, one.difference_high
                row += [_interval(*ends, digits, scale, "+"), format_p(one.p),
                        *([format_p(one.p_corrected)] if by else [])]  # fmt: skip
            rows.append(row)
        return [rows]

    def _lines(self, digits: int) -> list[str]:
        return ["", *self.sentences()] if self.agreements else ["nothing was compared"]

    def _has_intervals(self) -> bool:
        return any(not math.isnan(one.low) for one in self.agreements)

    def sentences(self) -> list[str]:
        """Say what was measured of how many judgements, how, and which differences hold."""
        if not self.agreements:
            return []
        first = self.agreements[0]
        design, made = first.design, first.design.bootstrap
        names = [AGREEMENT[name] for name in design.statistics]
        of = f"{pluralize(first.n, first.unit)} of {pluralize(first.candidates, 'candidate')} of "
        lines = [
            f"{', '.join(names)}: {of}{pluralize(first.images, 'image')}, "
            f"{_AGGREGATED.get((first.unit, design.aggregate), AGGREGATIONS[design.aggregate])}"
            + (f"; protocol {design.protocol}" if design.protocol else "")
        ]
        if self._has_intervals():
            lines.append(f"intervals: percentiles of {made.resamples:,} resamples of images, each "
                         f"with all of its {first.unit}s, seed {made.seed}")  # fmt: skip
        tested = [one for one in self.agreements if not math.isnan(one.p)]
        if tested:
            by = CORRECTIONS[design.correction]
            number = pluralize(tested[0].comparisons, "comparison")
            corrected = (
                f"p corrected by {by} for {number}" if by else f"p of {number} not corrected"
            )
            lines += [f"{JUDGEMENT_TESTS[design.test]} of the difference from {design.baseline}, "
                      f"two-sided; {corrected}", *self._say_which(tested),
                      *self._say_limit(tested)]  # fmt: skip
        return list(map(visible, lines))

    def _say_limit(self, tested: Sequence[Agreement]) -> Iterator[str]:
        """Say where no difference can hold, because p cannot become small enough."""
        design, made = tested[0].design, tested[0].design.bootstrap
        many = 1 if design.correction == "none" else tested[0].comparisons
        least = many / (made.resamples + 1)
        if design.test == "bootstrap" and least >= made.alpha:
            yield (f"no difference can hold: p, corrected, is at least {format_p(min(1.0, least))};"
                   " take more resamples, or fewer comparisons")  # fmt: skip

    def _say_which(self, tested: Sequence[Agreement]) -> Iterator[str]:
        baseline = tested[0].design.baseline
        for sign, word in ((1, "better"), (-1, "worse")):
            significant = [one for one in tested if one.significant and one.difference * sign > 0]
            if significant:
                yield f"agrees {word} than {baseline}: {self._name_all(significant)}"
        rest = [one for one in tested if not one.significant]
        if rest:
            yield f"no difference from {baseline} holds: {self._name_all(rest)}"

    def _name_all(self, some: Sequence[Agreement]) -> str:
        names = [_name(one, self) for one in some[:_MANY]]
        more = [f"{len(some) - _MANY} more"] if len(some) > _MANY else []
        return ", ".join([*names, *more])

    def __repr__(self) -> str:
        of = self.agreements[0] if self.agreements else None
        n = "" if of is None else f", {pluralize(of.n, of.unit)}"
        return f"AgreementTable({pluralize(len(self.headings), 'measure')}{n})"

    def _repr_html_(self) -> str:
        return self._html(self.sentences())


def _name(one: Agreement, table: AgreementTable) -> str:
    more = [one.statistic] if len(one.design.statistics) > 1 else []
    more += [one.group] if len(table.groups) > 1 else []
    return f"{one.heading} ({', '.join(more)})" if more else one.heading


def _interval(
    value: float, low: float, high: float, digits: int, scale: float, sign: str = ""
) -> str:
    if math.isnan(value):
        return ""
    text = f"{value * scale:{sign}.{digits}f}"
    if math.isnan(low):
        return text
    return f"{text} [{low * scale:{sign}.{digits}f}, {high * scale:{sign}.{digits}f}]"
