"""Choose the measures of a score: from a protocol, from the request, or the default ones.

Every measure is computed at every cutoff of ``top_k`` and under every decoding rule of ``decode``,
unless the measure has a cutoff or a rule of its own.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import NamedTuple

from semmetrics.core.hashing import by_value
from semmetrics.data.tasks.base import Task
from semmetrics.errors import Fact, InputError
from semmetrics.kinds.base import Kind, Options, Tasks
from semmetrics.messages import did_you_mean, listing
from semmetrics.metrics.definition import Measure
from semmetrics.metrics.families import terms_of
from semmetrics.metrics.measure_options import is_cutoff
from semmetrics.metrics.parsing import cutoffs, name_as_asked, parse, parse_all
from semmetrics.options import decoding_rules
from semmetrics.scoring.protocols import NotComputed, Protocol, find_protocol
from semmetrics.scoring.result import matching_names

_OWN_CUTOFF = "the cutoff in the name takes precedence"
_NO_CUTOFF = "computed from all predictions, without a cutoff"
_OWN_RULE = "the decoding rule in the measure takes precedence"
_NO_RULE = "computed from the scores of all labels (for sets of labels use F1, Precision or Recall)"


@by_value()
@dataclass(frozen=True, eq=False)
class ChosenMeasures:
    """The measures of a score.

    Attributes
    ----------
    measures : sequence of Measure
    headings : sequence of str
        The heading of each measure in tables.
    not_computed : list of NotComputed
        The measures that the data or the options do not allow.
    notes : sequence of Fact
        The options that have no effect on some measures.
    """

    measures: Sequence[Measure]
    headings: Sequence[str]
    not_computed: list[NotComputed]
    notes: Sequence[Fact]

    def evaluated(self, part: str) -> list[Measure]:
        """Return the measures whose statistics a part of the data needs.

        These are the measures themselves, and the terms of measures that combine several parts.
        """
        measures = [measure for measure in self.measures if not terms_of(measure)]
        for measure in self.measures:
            measures += terms_of(measure).get(part, ())
        return list(dict.fromkeys(measures))


class _Variants(NamedTuple):
    """The cutoffs and decoding rules under which measures are computed.

    Attributes
    ----------
    cutoffs : tuple of int
        Empty if the user sets none.
    rules : tuple of str or None
        (None,) if the user sets none.
    keep_at_least : int
        The number of labels that a rule always keeps.
    """

    cutoffs: tuple[int, ...]
    rules: tuple[str | None, ...]
    keep_at_least: int

    @property
    def has_rules(self) -> bool:
        """Whether the user sets a decoding rule."""
        return self.rules != (None,)

    @property
    def has_several_rules(self) -> bool:
        """Whether each measure is computed under several rules."""
        return len(self.rules) > 1

    def of(self, measure: Measure) -> Iterator[Measure]:
        """Yield a requested measure under each rule and at each cutoff that apply to it."""
        for rule in self.rules:
            decoded = self.decode(measure, rule, rename=self.has_several_rules)
            takes_cutoffs = decoded.definition.cutoff and decoded.k is None
            if not takes_cutoffs or not self.cutoffs:
                yield decoded
                continue
            for k in self.cutoffs:
                yield decoded @ k

    def heading(self, heading: str, measure: Measure, rule: str | None) -> str:
        """Return the heading of a measure, with its rule if there are several."""
        if self.has_several_rules and measure["decode"] is not None:
            return f"{heading} [{rule}]"
        return heading

    def decode(
        self, measure: Measure, rule: str | None, *, rename: bool = False
    ) -> Measure:
        """Return a measure with a decoding rule, unless it has one of its own.

        With ``rename``, the measure can also be looked up by a name that contains the rule. Under
        several rules, the requested name alone is ambiguous.
        """
        if measure["decode"] is None:
            return measure
        if rule is not None and measure["decode"] == "all":
            measure = measure.with_options(decode=rule)
            if rename:
                requested_names = (name_as_asked(measure), *measure.asked)
                measure = replace(measure, asked=requested_names)
        is_decoded = measure["decode"] != "all"
        if self.keep_at_least and measure["keep_at_least"] == 0 and is_decoded:
            measure = measure.with_options(keep_at_least=self.keep_at_least)
        return measure


def choose_measures(kind: Kind, tasks: Tasks, options: Options) -> ChosenMeasures:
    """Choose the measures of a protocol, those requested, or the default ones of the kind.

    Parameters
    ----------
    kind : Kind
    tasks : mapping from system and part to Task
        The joined data, which decide the default measures and what protocols allow.
    options : ResolvedOptions
        With parsed measures.

    Raises
    ------
    InputError
        If no measure is left, or a cutoff or decoding rule is wrong or does not apply.
    """
    rules = _read_rules(options.decode)
    variants = _Variants(_read_cutoffs(options), rules, options.keep_at_least)
    if options.protocol is not None:
        protocol = find_protocol(options.protocol)
        chosen = _choose_of_protocol(protocol, kind, tasks, options, variants)
    else:
        chosen = _choose_requested(kind, tasks, options, variants)
    keep = options.keep_at_least
    if keep and not any(measure["keep_at_least"] for measure in chosen.measures):
        raise InputError("needs-option", what=f"keep_at_least={keep}", name="decode")
    headings = _rename_headings(chosen, options.headings or {})
    return replace(chosen, headings=headings)


def _read_rules(decode: str | Sequence[str] | None) -> tuple[str | None, ...]:
    """Return the decoding rules."""
    if decode is None or isinstance(decode, str):
        return (decode,)
    rules = tuple(decode)
    if not rules or len(set(rules)) != len(rules):
        wanted = "one or more different rules, such as 'threshold:0.5'"
        raise InputError("bad-option", name="decode", value=decode, wanted=wanted)
    return rules


def _read_cutoffs(options: Options) -> tuple[int, ...]:
    """Return the cutoffs of ``top_k``."""
    top_k = options.top_k
    if top_k is None:
        return ()
    if isinstance(top_k, str):
        top_k = cutoffs(top_k)
    ks = tuple(top_k) if isinstance(top_k, Iterable) else (top_k,)
    if not all(map(is_cutoff, ks)) or len(set(ks)) != len(ks):
        wanted = "distinct positive integers"
        raise InputError("bad-option", name="top_k", value=options.top_k, wanted=wanted)
    return tuple(map(int, ks))


# ---- requested and default measures -------------------------------------------------------------


def _choose_requested(
    kind: Kind, tasks: Tasks, options: Options, variants: _Variants
) -> ChosenMeasures:
    """Choose the measures that the user requests, or the default ones."""
    requested = options.measures
    not_computed = []
    if requested is None:
        defaults = kind.default_measures(tasks, options)
        requested = parse_all(defaults.measures, kind.name)
        for name, reason in defaults.absent.items():
            not_computed.append(NotComputed(name, reason, name))
    measures: dict[Measure, None] = {}
    for measure in requested:
        measures.update(dict.fromkeys(variants.of(measure)))
    if not measures:
        remedy = "name one, or leave out measures"
        raise InputError("nothing-given", what="measures", remedy=remedy)
    notes = _ineffective_cutoffs(requested, variants)
    notes += _ineffective_rules(requested, variants, options)
    headings = [name_as_asked(measure) for measure in measures]
    return ChosenMeasures(list(measures), headings, not_computed, notes)


def _ineffective_cutoffs(
    measures: Sequence[Measure], variants: _Variants
) -> list[Fact]:
    """Note the measures that do not take the cutoffs of ``top_k``."""
    if not variants.cutoffs:
        return []
    has_own = []
    has_none = []
    for measure in measures:
        if measure.k is None and not measure.definition.cutoff:
            has_none.append(measure)
        if measure.k is not None and variants.cutoffs != (measure.k,):
            has_own.append(measure)
    own_notes = _no_effect_on("top_k", has_own, _OWN_CUTOFF)
    return own_notes + _no_effect_on("top_k", has_none, _NO_CUTOFF)


def _ineffective_rules(
    measures: Sequence[Measure], variants: _Variants, options: Options
) -> list[Fact]:
    """Note the measures that do not take the decoding rules."""
    if not variants.has_rules:
        return []
    option = "decode"
    if list(variants.rules) == decoding_rules(None, options.threshold):
        option = "threshold"  # the user sets the rules by ``threshold`` only
    rules_that_apply = (None, "all", *variants.rules)
    has_own = [m for m in measures if m["decode"] not in rules_that_apply]
    has_none = [m for m in measures if m["decode"] is None]
    own_notes = _no_effect_on(option, has_own, _OWN_RULE)
    return own_notes + _no_effect_on(option, has_none, _NO_RULE)


def _no_effect_on(option: str, measures: Sequence[Measure], reason: str) -> list[Fact]:
    """Note that an option has no effect on some measures."""
    if not measures:
        return []
    names = dict.fromkeys(str(measure) for measure in measures)
    on = f"{listing(names, write=str)}: {reason}"
    return [Fact("no-effect-on", values={"option": option, "on": on})]


# ---- measures of protocols ----------------------------------------------------------------------


def _choose_of_protocol(
    protocol: Protocol, kind: Kind, tasks: Tasks, options: Options, variants: _Variants
) -> ChosenMeasures:
    """Choose the measures of a protocol that the data allow."""
    _check_rules_allowed(protocol, variants)
    measures: list[Measure] = []
    headings: list[str] = []
    not_computed = [NotComputed(*pair) for pair in protocol.absent.items()]
    ks: Sequence[int | None] = variants.cutoffs or protocol.top_k or (None,)
    for rule, k, entry in product(variants.rules, ks, protocol.entries):
        text = _with_rule(protocol.entries[entry], rule)
        completed = kind.complete_measure(text, tasks, options)
        heading = _at_cutoff(entry, k)
        if not completed.missing:
            (measure,) = parse(completed.text, kind.name)
            measure = variants.decode(measure, rule)
            measures.append(measure if k is None else measure @ k)
            headings.append(variants.heading(heading, measure, rule))
        elif rule == variants.rules[0] and entry not in protocol.optional:
            # A missing measure is listed once, and not under each rule.
            name = _at_cutoff(completed.text, k)
            not_computed.append(NotComputed(heading, completed.missing, name))
    notes = _size_notes(protocol, tasks)
    return ChosenMeasures(measures, headings, not_computed, notes)


def _check_rules_allowed(protocol: Protocol, variants: _Variants) -> None:
    """Raise an error for decoding rules if the protocol has its own."""
    sets_rule = variants.keep_at_least or variants.has_rules
    if sets_rule and not protocol.decode:
        what = f"protocol {protocol.name}"
        raise InputError("fixed-by", what=what, names="decode and keep_at_least")


def _with_rule(text: str, rule: str | None) -> str:
    """Return a measure of a protocol, with the user's rule in place of the rule for logits.

    Rules for logits include the threshold, so a threshold of the user does too.
    """
    if rule is None:
        return text
    inclusive_rule = rule.replace("threshold:", "at-least:")
    return text.replace("{logits}", inclusive_rule)


def _at_cutoff(name: str, k: int | None) -> str:
    """Return the name of a measure with a cutoff, if there is one."""
    return name if k is None else f"{name}@{k}"


def _size_notes(protocol: Protocol, tasks: Tasks) -> list[Fact]:
    """Note parts that do not have as many items as the data of the paper."""
    task_by_part: dict[str, Task] = {}
    for parts in tasks.values():
        task_by_part.update(parts)
    notes = []
    for part, task in task_by_part.items():
        expected = protocol.sizes.get(part, len(task))
        if len(task) != expected:
            values = {
                "unit": task.unit,
                "protocol": protocol.name,
                "expected": expected,
            }
            notes.append(Fact("other-size", len(task), where=part, values=values))
    return notes


# ---- headings -----------------------------------------------------------------------------------


class _HeadingNames(NamedTuple):
    """A heading and the name of its measure. A user may write either of them."""

    heading: str
    name: str


def _rename_headings(chosen: ChosenMeasures, new_names: Mapping[str, str]) -> list[str]:
    """Return the headings, with the new names that the user gives to some of them.

    Parameters
    ----------
    chosen : ChosenMeasures
    new_names : mapping from heading, or name of a measure, to new heading
        A name without a cutoff means the measure at all cutoffs, which stay in the headings.
    """
    with_cutoffs = []
    without_cutoffs = []
    for heading, measure in zip(chosen.headings, chosen.measures, strict=True):
        name = str(measure)
        with_cutoffs.append(_HeadingNames(heading, name))
        cutoff = f"@{measure.k}"
        heading = heading.removesuffix(cutoff)
        name = name.removesuffix(cutoff)
        without_cutoffs.append(_HeadingNames(heading, name))
    headings = list(chosen.headings)
    for name, new_heading in new_names.items():
        candidates = with_cutoffs
        matches = matching_names(name, set(candidates))
        if not matches:
            candidates = without_cutoffs
            matches = matching_names(name, set(candidates))
        if not matches:
            choose = f"choose among {listing(chosen.headings)}"
            remedy = did_you_mean(name, chosen.headings, choose)
            what = "computed measure"
            raise InputError("unknown-name", what=what, value=name, remedy=remedy)
        for index, candidate in enumerate(candidates):
            if candidate in matches:
                # With its cutoff, a heading is replaced completely.
                cutoff = chosen.headings[index].removeprefix(candidate.heading)
                headings[index] = new_heading + cutoff
    if len(set(headings)) < len(set(chosen.headings)):
        repeated = max(headings, key=headings.count)
        raise InputError("duplicate", role="the heading", value=repeated)
    return headings
