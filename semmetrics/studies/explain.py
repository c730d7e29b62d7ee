"""Measures and protocols explained: what is known of each, and what it cites."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Iterable, Mapping

from semmetrics.errors import InputError
from semmetrics.kinds import find_kind
from semmetrics.messages import did_you_mean
from semmetrics.metrics.bibliography import entry
from semmetrics.metrics.definition import Definition, Measure, Option
from semmetrics.metrics.families import POLICIES
from semmetrics.metrics.registry import (
    aliases,
    all_definitions,
    find,
    group_of,
    kinds_of,
    kinds_of_all,
    parse,
    refuse_commas,
    split_names,
)
from semmetrics.options import AGGREGATIONS, AGREEMENT
from semmetrics.reports import align
from semmetrics.scoring.protocols import (
    AGREEMENT_PROTOCOLS,
    OWN_REFERENCES,
    PROTOCOLS,
    AgreementProtocol,
    Protocol,
)

__all__ = ["Topic", "find_citations", "explain", "find_topics", "group_definitions",
           "name_topic"]  # fmt: skip

Topic = Definition | Measure | Protocol | AgreementProtocol
_EVERY_PROTOCOL: Mapping[str, Protocol | AgreementProtocol] = {**PROTOCOLS, **AGREEMENT_PROTOCOLS}
_WIDTH = 100


def find_topics(texts: Iterable[str]) -> list[Topic]:
    """Find what the texts name: a protocol, a definition, or a measure with options.

    A text may name several, with blanks between.

    Raises
    ------
    InputError
        For all that are unknown together, with the nearest names.
    """
    topics: list[Topic] = []
    problems = []
    for text in (word for several in texts for word in split_names(several) or [several]):
        try:
            topics += _find_topics(text.strip())
        except InputError:
            if not set("@(,") & set(text):
                known = [*(one.name for one in all_definitions()), *aliases(), *_EVERY_PROTOCOL]
                remedy = did_you_mean(text, known, "see: semmetrics list")
                error = InputError("unknown-name", what="measure or protocol", value=text,
                                   remedy=remedy)  # fmt: skip
            problems.append(error)
    if len(problems) == 1:
        raise problems[0]
    if problems:
        listed = "".join(f"\n  {error}" for error in problems)
        raise InputError("wrong-measures", n=len(problems), listed=listed)
    return topics


def _find_topics(text: str) -> list[Topic]:
    """Return a protocol, or a measure of each kind that has one of that name and those options."""
    if text in _EVERY_PROTOCOL:
        return [_EVERY_PROTOCOL[text]]
    refuse_commas(text, also=_EVERY_PROTOCOL)
    kinds = kinds_of(text)
    if not kinds and ("(" in text or "@" in text):
        return [parse(text, kind)[0] for kind in kinds_of_all([text]) or (None,)]
    found = [find(text, kind) for kind in kinds or (None,)]
    return [
        definition(k=None, **options) if options else definition for definition, options in found
    ]


def group_definitions() -> dict[str, list[Definition]]:
    """Collect all definitions under the titles of their groups, in the order of `list`."""
    found: dict[str, list[Definition]] = {}
    for definition in all_definitions():
        found.setdefault(group_of(definition), []).append(definition)
    return found


def name_topic(topic: Topic) -> str:
    """Return the name of a protocol, a definition or a measure."""
    return str(topic) if isinstance(topic, Measure) else topic.name


def find_citations(topic: Topic) -> tuple[str, ...]:
    """Return the keys of the publications that define a measure or a protocol."""
    if isinstance(topic, Protocol):
        return (topic.name,)
    return topic.definition.cite if isinstance(topic, Measure) else topic.cite


def explain(*names: str) -> str:
    r"""Return what measures and protocols are: equation, source, options, policies, traits.

    Parameters
    ----------
    *names : str
        Measures as papers write them, and protocols.

    Raises
    ------
    InputError
        If one is unknown; all that are wrong are named.

    Examples
    --------
    >>> print(explain("F1").splitlines()[0])
    F1: Harmonic mean of precision and recall.
    """
    return "\n\n".join(map(explain_topic, find_topics(names)))


def cite(*names: str) -> str:
    """Return BibTeX for the publications that define measures and protocols, each once.

    Parameters
    ----------
    *names : str

    Raises
    ------
    InputError
        If one is unknown.

    Examples
    --------
    >>> print(cite("BLEU-4").splitlines()[0])
    @inproceedings{papineni2002,
    """
    keys = [key for topic in find_topics(names) for key in find_citations(topic)]
    return "\n\n".join(one.bibtex for one in dict.fromkeys(map(entry, keys)))


def list_measures(kind: str | None = None) -> dict[str, str]:
    """Return all measures by name, with a summary of each.

    Parameters
    ----------
    kind : {"labels", "captions", "retrieval", "classes"}, optional
        Of which data; all where it is left out.

    Examples
    --------
    >>> list_measures("labels")["F1"]
    'Harmonic mean of precision and recall.'
    """
    return {d.name: d.summary for d in all_definitions() if kind in (None, d.kind)}


def explain_topic(topic: Topic) -> str:
    """Return all that is known of a measure or a protocol."""
    if isinstance(topic, Protocol):
        return _explain_protocol(topic)
    if isinstance(topic, AgreementProtocol):
        return _explain_agreement(topic)
    if isinstance(topic, Measure):
        return f"{_explain_measure(topic)}\n\n{_explain_definition(topic.definition)}"
    return _explain_definition(topic)


def _explain_measure(measure: Measure) -> str:
    alias = next((name for name, text in aliases().items() if parse(text) == [measure]), None)
    facts = {
        "short for it": alias or "",
        "signature": "|".join([measure.definition.name, *measure.signature()]),
    }
    return f"{measure}\n{_draw_facts(facts)}"


def _explain_definition(definition: Definition) -> str:
    parts = [f"{definition.name}: {definition.summary}", _draw_facts(_definition_facts(definition))]
    policies = [option for option in definition.options if option.choices == POLICIES]
    # a policy without a choice is of a cause that never arises
    settled = [o for o in definition.options if len(o.choices) == 1 and o.choices[0] in POLICIES]
    others = [o for o in definition.options if o not in [*policies, *settled]]
    if others:
        parts.append(_draw_options("options", others, definition))
    if policies:
        title = "policies: what an undefined value counts as; skip leaves it out of the mean"
        parts.append(_draw_options(title, policies, definition))
    parts.append(f"for example\n  {_example_command(definition)}")
    return "\n\n".join(["\n".join(parts[:2]), *parts[2:]])


def _example_command(definition: Definition) -> str:
    """A command that computes it, with all files that it needs."""
    average = _example_average(definition)
    describer = find_kind(definition.kind).describer
    files = describer.explain_definition(definition).get("options", "") + describer.FILES
    if "scores" in definition.needs:
        files = files.replace("preds", "scores")
    if "taxonomy" in definition.needs:
        files = f"--taxonomy taxonomy.json {files}"
    if any(option.default_for(average) == "given" for option in definition.options):
        files = f"--classes classes.txt {files}"
    return f"semmetrics score -m {_example_measure(definition)} {files}"


def _definition_facts(definition: Definition) -> dict[str, str]:
    averages = ", ".join(definition.averages).replace(",", " (default),", 1)
    others = [
        f"{name} = {text}"
        for name, text in aliases(definition.kind).items()
        if find(name, definition.kind)[0] is definition
    ]
    of_kind = find_kind(definition.kind).describer.explain_definition(definition)
    low, high = definition.bounds
    span = f"from {low:g} to {high:g}" if math.isfinite(high) else f"from {low:g} up"
    return {
        "group": group_of(definition),
        "equation": definition.equation,
        "source": definition.source,
        "BibTeX": f"semmetrics cite {definition.name}" if definition.cite else "",
        "averages": averages,
        "other names": ", ".join(others),
        "cutoff": of_kind.get("cutoff", ""),
        "predictions": of_kind.get("predictions")
        or ("labels with scores" if "scores" in definition.needs else ""),
        "values": f"{span}, {'higher' if definition.higher_is_better else 'lower'} is better",
        "traits": of_kind.get("traits", ""),
        **_meaning_facts(definition),
    }


def _meaning_facts(definition: Definition) -> dict[str, str]:
    """What labels are compared with."""
    options = {option.name for option in definition.options}
    if "taxonomy" in definition.needs:
        return {
            "taxonomy": "taxonomy= (--taxonomy FILE), the parents of labels: JSON, CSV, TSV, or "
            "WordNet"
        }
    if "embedding" not in options:
        return {}
    known = {
        "embedding": "the model that comes with semmetrics, or that of embedding= (--embedding "
        "[NAME=]SPEC); lookup= (--lookup) and oov= (--oov) say how texts are looked up"
    }
    if "threshold" in options:
        known["threshold"] = (
            "auto is the embedding's own: calibrated for the model that comes with semmetrics, "
            "otherwise 0.4, which is word2vec's (Kubany et al. 2020)"
        )
    return known


def _draw_facts(facts: Mapping[str, str]) -> str:
    width = max(len(name) for name in facts)
    indent = " " * (width + 4)
    return "\n".join(
        textwrap.fill(
            f"  {name.ljust(width)}  {text}", _WIDTH, subsequent_indent=indent,
            break_long_words=False, break_on_hyphens=False,
        )
        for name, text in facts.items() if text
    )  # fmt: skip


def _draw_options(title: str, options: Iterable[Option], definition: Definition) -> str:
    texts = {}
    for option in options:
        values = {"int": "whole number", "float": "number"}.get(option.kind.__name__, "text")
        values = "|".join(map(str, option.choices)) or values
        text = f"{values}, {_default_text(option)}: {option.help}"
        some = option.averages or definition.averages
        if set(definition.averages) - set(some):
            only = [average for average in some if average in definition.averages]
            text += f"; only average={'|'.join(only)}"
        texts[option.name] = text
    return f"{title}\n{_draw_facts(texts)}"


def _default_text(option: Option) -> str:
    if option.required:
        return "required"
    if not isinstance(option.default, Mapping):
        return f"default {option.default}"
    each = [f"{value} ({average})" for average, value in option.default.items()]
    return f"default {', '.join(each)}"


def _example_measure(definition: Definition) -> str:
    required = [option for option in definition.options if option.required]
    options = [f"{o.name}={80 if o.kind is int else o.name}" for o in required]
    if len(definition.averages) > 1:
        options.insert(0, f"average={_example_average(definition)}")
    text = definition.name + (f"({','.join(options)})" if options else "")
    text += "@5" if definition.cutoff else ""
    return f"'{text}'" if options else text


def _example_average(definition: Definition) -> str | None:
    """The average of the example: one that is not the default, where there is a choice."""
    first = definition.averages[:2]
    return first[-1] if first else None


def _explain_protocol(protocol: Protocol) -> str:
    rows = [[heading, text.replace("{q}", "size of the class list")]
            for heading, text in protocol.entries.items()]  # fmt: skip
    of_kind = find_kind(protocol.kind).describer
    settings = ", ".join(f"{name}={value}" for name, value in protocol.settings.items())
    facts = {
        "source": protocol.source,
        "BibTeX": f"semmetrics cite {protocol.name}",
        "fixed": settings or "nothing but the measures",
        **of_kind.explain_protocol(protocol),
    }
    return "\n\n".join([
        f"{protocol.name}: {protocol.title}\n{_draw_facts(facts)}",
        f"measures, under their headings\n{align(rows, left=True, indent='  ')}",
        f"for example\n  semmetrics score --protocol {protocol.name} {of_kind.FILES}",
    ])  # fmt: skip


def _explain_agreement(protocol: AgreementProtocol) -> str:
    first, *others = (AGREEMENT[name] for name in protocol.statistics)
    expected = "" if protocol.expected is None else f", {protocol.expected:,} in papers"
    drawn = protocol.draw_references
    facts = {
        "source": protocol.source,
        "BibTeX": f"semmetrics cite {protocol.name}",
        "judgements": f"{'preferences' if protocol.preferences else 'ratings'}{expected}, "
        f"{AGGREGATIONS[protocol.aggregate]}",
        "statistic": first + (f"; then {', '.join(others)}" if others else ""),
        "references": "" if drawn is None else f"{drawn} drawn for each, by the seed",
        "candidates": "those among their own references are "
        + OWN_REFERENCES[protocol.own_references],
        "columns": ", ".join(f"{role}={name}" for role, name in protocol.columns.items()),
        "groups": protocol.group_by or "",
        "ids": protocol.ids or "",
    }
    command = f"semmetrics meta --protocol {protocol.name} -m 'CIDEr-D ROUGE-L' {protocol.files}"
    return "\n\n".join([
        f"{protocol.name}: {protocol.title}\n{_draw_facts(facts)}",
        f"for example\n  {command}",
    ])  # fmt: skip
