r"""Explanations and citations of measures and protocols.

Conventions
-----------
``bibliography.bib`` has the publications that definitions and protocols cite, in a
fixed layout, because ``semmetrics cite`` prints entries verbatim. The first line of an
entry is ``@kind{key,``. Each field is a line ``name = {value}``, and ``}`` ends the
entry.
"""

from __future__ import annotations

import math
import re
import textwrap
from collections.abc import Iterable, Mapping
from functools import cache
from importlib import resources
from typing import Any, TypeAlias

from semmetrics.errors import InputError
from semmetrics.kinds import find_kind
from semmetrics.messages import did_you_mean
from semmetrics.metrics import parsing, registry
from semmetrics.metrics.definition import Definition, Measure
from semmetrics.metrics.families import POLICIES
from semmetrics.metrics.measure_options import MeasureOption
from semmetrics.options import AGGREGATIONS, AGREEMENT
from semmetrics.reports import align
from semmetrics.scoring import protocols
from semmetrics.scoring.protocols import AgreementProtocol, Protocol

Topic: TypeAlias = Definition | Measure | Protocol | AgreementProtocol
"""What can be explained and cited."""

_ALL_PROTOCOLS: Mapping[str, Topic] = {
    **protocols.PROTOCOLS,
    **protocols.AGREEMENT_PROTOCOLS,
}

_KEY_OF_ALIAS = {
    "tsoumakas2009": "tsoumakas2010",  # One chapter, with two years of printing.
    # Names of protocols:
    "coco-caption": "chen2015",
    "coco-multilabel": "chen2019",
    "coco-5k": "faghri2018",
    "coco-1k": "faghri2018",
    "f30k": "faghri2018",
    "eccv": "chun2022",
}
"""The keys in the bibliography of publications that are cited under other keys."""

_LINE_WIDTH = 100

_COMPARED_WITH = {
    "taxonomy": "taxonomy= (--taxonomy FILE), the parents of labels: JSON, CSV, TSV, or WordNet",
    "embedding": "the model {own_embedding}, which comes with semmetrics, or the model of "
    "embedding= (--embedding [NAME=]SPEC). lookup= (--lookup) and oov= (--oov) "
    "set how labels and captions are looked up",
    "threshold": "auto is the threshold of the embedding: calibrated for the models that "
    "come with semmetrics, otherwise 0.4, the threshold for word2vec (Kubany "
    "et al. 2020)",
}
"""The models and settings by which labels are compared."""


# ---- topics --------------------------------------------------------------------------


def find_topics(texts: Iterable[str]) -> list[Topic]:
    """Find protocols, definitions, and measures with options.

    Parameters
    ----------
    texts : iterable of str
        Each may contain several names, separated by spaces.

    Raises
    ------
    InputError
        For all unknown names together, with similar names.
    """
    topics: list[Topic] = []
    problems = []
    for text in texts:
        for name in parsing.split_names(text) or [text]:
            try:
                topics += _find_topics(name.strip())
            except InputError as error:
                problems.append(_suggest_names(name, error))
    parsing.raise_all(problems)
    return topics


def _find_topics(name: str) -> list[Topic]:
    """Return a protocol, or the measure of this name and options of each kind."""
    if name in _ALL_PROTOCOLS:
        return [_ALL_PROTOCOLS[name]]
    parsing.refuse_commas(name, other_names=_ALL_PROTOCOLS)
    kinds = registry.kinds_of(name)
    has_options = "(" in name or "@" in name
    if has_options and not kinds:
        return _parse_measure(name)
    topics: list[Topic] = []
    for kind in kinds or (None,):  # Without a kind, an unknown name raises an error.
        definition, options = registry.find(name, kind)
        if options:  # The name is an alias.
            topics.append(definition(k=None, **options))
        else:
            topics.append(definition)
    return topics


def _parse_measure(name: str) -> list[Topic]:
    """Return the measure with options or a cutoff of each kind that has it."""
    kinds = parsing.kinds_of_all([name]) or (None,)
    return [parsing.parse(name, kind)[0] for kind in kinds]


def _suggest_names(name: str, error: InputError) -> InputError:
    """Return an error that suggests similar names, if only the name can be wrong."""
    if set("@(,") & set(name):
        return error
    known_names = [definition.name for definition in registry.all_definitions()]
    known_names += [*registry.aliases(), *_ALL_PROTOCOLS]
    remedy = did_you_mean(name, known_names, error.remedy)
    return InputError(
        "unknown-name", what="measure or protocol", value=name, remedy=remedy
    )


def list_measures(kind: str | None = None) -> dict[str, str]:
    """Return all measures by name, with a summary of each.

    Parameters
    ----------
    kind : {"labels", "captions", "retrieval", "classes"}, optional
        Default: the measures of all kinds of data.

    Examples
    --------
    >>> list_measures("labels")["F1"]
    'Harmonic mean of precision and recall.'
    """
    summaries = {}
    for definition in registry.all_definitions():
        if kind in (None, definition.kind):
            summaries[definition.name] = definition.summary
    return summaries


# ---- citations -----------------------------------------------------------------------


@cache
def bibliography() -> dict[str, str]:
    """Return the BibTeX of every publication, by key."""
    file = resources.files("semmetrics.studies").joinpath("bibliography.bib")
    entries = {}
    for part in re.split(r"^(?=@)", file.read_text("utf-8"), flags=re.M):
        entry = part.strip()
        if entry:
            _, _, after_kind = entry.partition("{")
            key, _, _ = after_kind.partition(",")
            entries[key] = entry
    return entries


def find_citations(topic: Topic) -> tuple[str, ...]:
    """Return the keys of the publications that define a measure or a protocol."""
    if isinstance(topic, Protocol):
        return (topic.name,)
    if isinstance(topic, Measure):
        return topic.definition.cite
    return topic.cite


def cite(*names: str) -> str:
    """Return BibTeX for the publications that define measures and protocols.

    Each publication occurs once.

    Parameters
    ----------
    *names : str

    Raises
    ------
    InputError
        If a name is unknown.

    Examples
    --------
    >>> print(cite("BLEU-4").splitlines()[0])
    @inproceedings{papineni2002,
    """
    entries: dict[str, None] = {}
    for topic in find_topics(names):
        for key in find_citations(topic):
            entry = bibliography()[_KEY_OF_ALIAS.get(key, key)]
            entries[entry] = None
    return "\n\n".join(entries)


# ---- explanations --------------------------------------------------------------------


def explain(*names: str) -> str:
    r"""Explain measures and protocols: equation, source, options, policies and traits.

    Parameters
    ----------
    *names : str
        Measures as papers write them, and protocols.

    Raises
    ------
    InputError
        If names are unknown. The message lists all of them.

    Examples
    --------
    >>> print(explain("F1").splitlines()[0])
    F1: Harmonic mean of precision and recall.
    """
    return "\n\n".join(_explain_topic(topic) for topic in find_topics(names))


def _explain_topic(topic: Topic) -> str:
    if isinstance(topic, Protocol):
        return _explain_protocol(topic)
    if isinstance(topic, AgreementProtocol):
        return _explain_agreement(topic)
    if isinstance(topic, Measure):
        return _explain_measure(topic)
    return _explain_definition(topic)


def _explain_measure(measure: Measure) -> str:
    """Explain a measure with options, and its definition."""
    definition = measure.definition
    facts = {
        "short for it": _find_alias(measure),
        "signature": "|".join([definition.name, *measure.signature()]),
    }
    return f"{measure}\n{_draw_facts(facts)}\n\n{_explain_definition(definition)}"


def _find_alias(measure: Measure) -> str:
    """Return the first alias of a measure, or an empty string."""
    for alias, text in registry.aliases().items():
        if parsing.parse(text) == [measure]:
            return alias
    return ""


def _explain_definition(definition: Definition) -> str:
    policies = []
    others = []
    for option in definition.options:
        if option.choices == POLICIES:
            policies.append(option)
        elif not _is_fixed_policy(option):
            others.append(option)
    facts = _draw_facts(_definition_facts(definition))
    parts = [f"{definition.name}: {definition.summary}\n{facts}"]
    if others:
        parts.append(_draw_options("options", others, definition))
    if policies:
        title = (
            "policies: the value that an undefined value counts as. skip leaves it out "
            "of the mean"
        )
        parts.append(_draw_options(title, policies, definition))
    parts.append(f"for example\n  {_example_command(definition)}")
    return "\n\n".join(parts)


def _is_fixed_policy(option: MeasureOption) -> bool:
    """Return whether an option is a policy for a case that cannot occur."""
    return len(option.choices) == 1 and option.choices[0] in POLICIES


def _example_command(definition: Definition) -> str:
    """Return a command that computes a measure, with all files that it needs."""
    average: str | None = None
    options = []
    if definition.averages:
        average, *other_averages = definition.averages
        if other_averages:
            # An average other than the default.
            average = other_averages[0]
            options.append(f"average={average}")
    example_values = {int: 80, float: 2}
    for option in definition.options:
        if option.required:
            value = example_values.get(option.kind, option.name)
            options.append(f"{option.name}={value}")
    measure = definition.name
    if options:
        measure += f"({','.join(options)})"
    if definition.cutoff:
        measure += "@5"
    if options:
        measure = f"'{measure}'"
    return f"semmetrics score -m {measure} {_example_files(definition, average)}"


def _example_files(definition: Definition, average: str | None) -> str:
    """Return the files and file options of an example command."""
    kind = find_kind(definition.kind)
    command_options = kind.explain_definition(definition).get("options", "")
    files: str = command_options + kind.example_files
    if "scores" in definition.needs:
        files = files.replace("preds", "scores")
    if "taxonomy" in definition.needs:
        files = f"--taxonomy taxonomy.json {files}"
    if any(option.default_for(average) == "given" for option in definition.options):
        files = f"--classes classes.txt {files}"
    return files


def _definition_facts(definition: Definition) -> dict[str, str]:
    """Return the facts about a definition, by title. Some may be empty."""
    explanations = find_kind(definition.kind).explain_definition(definition)
    averages = list(definition.averages)
    if len(averages) > 1:
        averages[0] += " (default)"
    citation = ""
    if definition.cite:
        citation = f"semmetrics cite {definition.name}"
    predictions = explanations.get("predictions")
    if not predictions and "scores" in definition.needs:
        predictions = "labels with scores"
    return {
        "group": registry.group_of(definition),
        "equation": definition.equation,
        "source": definition.source,
        "BibTeX": citation,
        "averages": ", ".join(averages),
        "other names": _list_aliases(definition),
        "cutoff": explanations.get("cutoff", ""),
        "predictions": predictions or "",
        "values": _describe_range(definition),
        "traits": explanations.get("traits", ""),
        **_compared_with(definition),
    }


def _list_aliases(definition: Definition) -> str:
    """Return the aliases of a definition, with the full measures."""
    aliases = []
    for name, text in registry.aliases(definition.kind).items():
        aliased_definition, _ = registry.find(name, definition.kind)
        if aliased_definition is definition:
            aliases.append(f"{name} = {text}")
    return ", ".join(aliases)


def _describe_range(definition: Definition) -> str:
    """Describe the range of values, and their direction."""
    low, high = definition.bounds
    span = f"from {low:g} up"
    if math.isfinite(high):
        span = f"from {low:g} to {high:g}"
    better = "lower"
    if definition.higher_is_better:
        better = "higher"
    return f"{span}, {better} is better"


def _compared_with(definition: Definition) -> dict[str, str]:
    """Return the models and settings by which labels are compared, by title."""
    options = {option.name for option in definition.options}
    titles = []
    if "taxonomy" in definition.needs:
        titles.append("taxonomy")
    elif "embedding" in options:
        titles.append("embedding")
        if "threshold" in options:
            titles.append("threshold")
    own_embedding = definition.own_embedding
    facts = {}
    for title in titles:
        facts[title] = _COMPARED_WITH[title].format(own_embedding=own_embedding)
    return facts


def _draw_facts(facts: Mapping[str, str]) -> str:
    """Draw aligned facts with their titles. Empty ones are left out."""
    width = max(map(len, facts))
    wrapper = textwrap.TextWrapper(
        _LINE_WIDTH,
        subsequent_indent=" " * (width + 4),
        break_long_words=False,
        break_on_hyphens=False,
    )
    lines = []
    for title, text in facts.items():
        if text:
            lines.append(wrapper.fill(f"  {title.ljust(width)}  {text}"))
    return "\n".join(lines)


def _draw_options(
    title: str, options: Iterable[MeasureOption], definition: Definition
) -> str:
    """Draw the options of a definition below a title."""
    texts = {}
    for option in options:
        texts[option.name] = _describe_option(option, definition)
    return f"{title}\n{_draw_facts(texts)}"


def _describe_option(option: MeasureOption, definition: Definition) -> str:
    """Describe the values, the default and the averages of an option."""
    values = {int: "integer", float: "number"}.get(option.kind, "string")
    if option.choices:
        values = "|".join(map(str, option.choices))
    if len(option.choices) == 1:
        text = f"only {values}: {option.help}"
    else:
        text = f"{values}, {_describe_default(option)}: {option.help}"
    averages = option.averages or definition.averages
    if set(definition.averages) - set(averages):
        common = [average for average in averages if average in definition.averages]
        text += f"; only average={'|'.join(common)}"
    return text


def _describe_default(option: MeasureOption) -> str:
    if option.required:
        return "required"
    if option.default is None:
        return "no default"
    if isinstance(option.default, Mapping):
        defaults = [f"{value} ({key})" for key, value in option.default.items()]
        return f"default {', '.join(defaults)}"
    if option.default == "default":
        return "the default is 'default'"
    return f"default {option.default}"


def _explain_protocol(protocol: Protocol) -> str:
    rows = []
    for heading, text in protocol.entries.items():
        # Placeholders of values that a user sets.
        measure = text.format(q="size of the class list", logits="at-least:0")
        rows.append([heading, measure])
    kind = find_kind(protocol.kind)
    files = kind.example_files
    if "mAP" in protocol.entries:
        files = files.replace("preds", "scores")
    settings = ", ".join(f"{name}={value}" for name, value in protocol.settings.items())
    facts: dict[str, Any] = {
        "source": protocol.source,
        "BibTeX": f"semmetrics cite {protocol.name}",
        "fixed": settings or "only the measures",
        **kind.explain_protocol(protocol),
    }
    parts = [
        f"{protocol.name}: {protocol.title}\n{_draw_facts(facts)}",
        f"measures, under their headings\n{align(rows, left=True, indent='  ')}",
        f"for example\n  semmetrics score --protocol {protocol.name} {files}",
    ]
    return "\n\n".join(parts)


def _explain_agreement(protocol: AgreementProtocol) -> str:
    judgements = "ratings"
    if protocol.preferences:
        judgements = "preferences"
    if protocol.expected is not None:
        judgements += f", {protocol.expected:,} in papers"
    statistic, *other_statistics = [AGREEMENT[name] for name in protocol.statistics]
    if other_statistics:
        statistic += f"; then {', '.join(other_statistics)}"
    references = ""
    if protocol.draw_references is not None:
        references = f"{protocol.draw_references} drawn for each, by the seed"
    own_references = protocols.OWN_REFERENCES[protocol.own_references]
    columns = [f"{role}={name}" for role, name in protocol.columns.items()]
    facts = {
        "source": protocol.source,
        "BibTeX": f"semmetrics cite {protocol.name}",
        "judgements": f"{judgements}, {AGGREGATIONS[protocol.aggregate]}",
        "statistic": statistic,
        "references": references,
        "candidates": f"those among their own references are {own_references}",
        "columns": ", ".join(columns),
        "groups": protocol.group_by or "",
        "ids": protocol.ids or "",
    }
    command = (
        f"semmetrics meta --protocol {protocol.name} -m 'CIDEr-D ROUGE-L' "
        f"{protocol.files}"
    )
    return (
        f"{protocol.name}: {protocol.title}\n{_draw_facts(facts)}\n\n"
        f"for example\n  {command}"
    )
