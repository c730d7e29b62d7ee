"""Measures and protocols by name, and their explanations."""

from __future__ import annotations

import difflib
import math
import textwrap
from collections.abc import Iterable, Mapping

from semmetrics.cli.names import topics as known_topics
from semmetrics.errors import InputError
from semmetrics.metrics.definition import Definition, Measure, Option
from semmetrics.metrics.families import POLICIES
from semmetrics.metrics.registry import aliases, find, group_of, parse
from semmetrics.reports.grid import aligned
from semmetrics.scoring.protocols import PROTOCOLS, Protocol

__all__ = ["Topic", "explained", "found"]

Topic = Definition | Measure | Protocol
_WIDTH = 100
FILES = {"labels": "preds.json gt.json", "captions": "captions.json references.json"}


def found(texts: Iterable[str]) -> list[Topic]:
    """What the texts name: a protocol, a definition, or a measure with options.

    Raises
    ------
    InputError
        For all that are unknown together, with the nearest names.
    """
    topics: list[Topic] = []
    problems = []
    for text in texts:
        try:
            topics.append(_topic(text.strip()))
        except InputError as error:
            problems.append(error if "@" in text or "(" in text else _unknown(text))
    if len(problems) == 1:
        raise problems[0]
    if problems:
        listed = "\n  ".join(map(str, problems))
        raise InputError(f"{len(problems)} names are wrong:\n  {listed}")
    return topics


def _topic(text: str) -> Topic:
    if text in PROTOCOLS:
        return PROTOCOLS[text]
    if "(" not in text and "@" not in text:
        definition, options = find(text)
        return definition(k=None, **options) if options else definition
    return parse(text)[0]


def _unknown(text: str) -> InputError:
    known = {name.lower(): name for name in known_topics()}
    near = difflib.get_close_matches(text.lower(), known, n=3, cutoff=0.5)
    hint = f"did you mean {' or '.join(known[n] for n in near)}?" if near else ""
    return InputError(
        f"there is no measure or protocol {text!r}", remedy=hint or "see: semmetrics list"
    )


def explained(topic: Topic) -> str:
    """All that is known of it, for a terminal."""
    if isinstance(topic, Protocol):
        return _protocol(topic)
    if isinstance(topic, Measure):
        return f"{_measure(topic)}\n\n{_definition(topic.definition)}"
    return _definition(topic)


def _measure(measure: Measure) -> str:
    alias = next((name for name, text in aliases().items() if parse(text) == [measure]), None)
    facts = {
        "short for it": alias or "",
        "signature": "|".join([measure.definition.name, *measure.signature()]),
    }
    return f"{measure}\n{_facts(facts)}"


def _definition(definition: Definition) -> str:
    parts = [f"{definition.name}: {definition.summary}", _facts(_known(definition))]
    policies = [option for option in definition.options if option.choices == POLICIES]
    others = [option for option in definition.options if option not in policies]
    if others:
        parts.append(_options("options", others, definition))
    if policies:
        title = "policies: what an undefined value counts as; skip leaves it out of the mean"
        parts.append(_options(title, policies, definition))
    parts.append(f"for example\n  {_command(definition)}")
    return "\n\n".join(["\n".join(parts[:2]), *parts[2:]])


def _command(definition: Definition) -> str:
    """A command that computes it, with all files that it needs."""
    average = _average(definition)
    files = FILES[definition.kind]
    if "scores" in definition.needs:
        files = files.replace("preds", "scores")
    if "taxonomy" in definition.needs:
        files = f"--taxonomy taxonomy.json {files}"
    if any(option.default_for(average) == "given" for option in definition.options):
        files = f"--classes classes.txt {files}"
    return f"semmetrics score -m {_example(definition)} {files}"


def _known(definition: Definition) -> dict[str, str]:
    averages = ", ".join(definition.averages).replace(",", " (default),", 1)
    others = [
        f"{name} = {text}"
        for name, text in aliases(definition.kind).items()
        if find(name, definition.kind)[0] is definition
    ]
    cutoff = f"{definition.name}@5 takes the first 5 predictions" if definition.cutoff else "none"
    cutoff = cutoff if definition.kind == "labels" else ""
    return {
        "group": group_of(definition),
        "equation": definition.equation,
        "source": definition.source,
        "BibTeX": f"semmetrics cite {definition.name}" if definition.cite else "",
        "averages": averages,
        "other names": ", ".join(others),
        "cutoff": cutoff,
        "predictions": "labels with scores" if "scores" in definition.needs else "",
        "values": _bounds(definition),
        "traits": _traits(definition),
        **_meanings(definition),
    }


def _meanings(definition: Definition) -> dict[str, str]:
    """What labels are compared with."""
    options = {option.name for option in definition.options}
    if "taxonomy" in definition.needs:
        return {"taxonomy": "--taxonomy FILE, the parents of labels: JSON, CSV, TSV, or WordNet"}
    if "embedding" not in options:
        return {}
    known = {
        "embedding": "the model that comes with semmetrics, or that of --embedding [NAME=]SPEC; "
        "--lookup and --oov say how labels are looked up"
    }
    if "threshold" in options:
        known["threshold"] = (
            "auto is the embedding's own: calibrated for the model that comes with semmetrics, "
            "otherwise 0.4, which is word2vec's (Kubany et al. 2020)"
        )
    return known


def _bounds(definition: Definition) -> str:
    low, high = definition.bounds
    span = f"from {low:g} to {high:g}" if math.isfinite(high) else f"from {low:g} up"
    return f"{span}, {'higher' if definition.higher_is_better else 'lower'} is better"


def _traits(definition: Definition) -> str:
    if definition.kind == "captions":
        return ""
    exchange = "does not matter" if definition.symmetric else "matters"
    order = "does not matter" if definition.order_invariant else "matters"
    return f"which side predicts {exchange}; the order of labels in a list {order}"


def _facts(facts: Mapping[str, str]) -> str:
    width = max(len(name) for name in facts)
    indent = " " * (width + 4)
    return "\n".join(
        textwrap.fill(
            f"  {name.ljust(width)}  {text}", _WIDTH, subsequent_indent=indent,
            break_long_words=False, break_on_hyphens=False,
        )
        for name, text in facts.items() if text
    )  # fmt: skip


def _options(title: str, options: Iterable[Option], definition: Definition) -> str:
    texts = {
        option.name: f"{_choices(option)}, {_default(option)}: {_meaning(option, definition)}"
        for option in options
    }
    return f"{title}\n{_facts(texts)}"


def _choices(option: Option) -> str:
    if option.choices:
        return "|".join(map(str, option.choices))
    return {"int": "whole number", "float": "number"}.get(option.kind.__name__, "text")


def _default(option: Option) -> str:
    if option.required:
        return "required"
    if not isinstance(option.default, Mapping):
        return f"default {option.default}"
    each = [f"{value} ({average})" for average, value in option.default.items()]
    return f"default {', '.join(each)}"


def _meaning(option: Option, definition: Definition) -> str:
    some = option.averages is not None and set(definition.averages) - set(option.averages)
    only = [average for average in option.averages or () if average in definition.averages]
    return f"{option.help}; only average={'|'.join(only)}" if some else option.help


def _example(definition: Definition) -> str:
    required = [option for option in definition.options if option.required]
    options = [f"{o.name}={80 if o.kind is int else o.name}" for o in required]
    if len(definition.averages) > 1:
        options.insert(0, f"average={_average(definition)}")
    text = definition.name + (f"({','.join(options)})" if options else "")
    text += "@5" if definition.cutoff else ""
    return f"'{text}'" if options else text


def _average(definition: Definition) -> str | None:
    """The average of the example: one that is not the default, where there is a choice."""
    first = definition.averages[:2]
    return first[-1] if first else None


def _protocol(protocol: Protocol) -> str:
    rows = [[heading, text.replace("{q}", "size of the class list")]
            for heading, text in protocol.entries.items()]  # fmt: skip
    settings = ", ".join(f"{name}={value}" for name, value in protocol.settings.items())
    facts = {
        "source": protocol.source,
        "BibTeX": f"semmetrics cite {protocol.name}",
        "fixed": settings or "nothing but the measures",
        **(_of_captions(protocol) if protocol.kind == "captions" else _of_labels(protocol)),
    }
    return "\n\n".join([
        f"{protocol.name}: {protocol.title}\n{_facts(facts)}",
        f"measures, under their headings\n{aligned(rows, left=True, indent='  ')}",
        f"for example\n  semmetrics score --protocol {protocol.name} {FILES[protocol.kind]}",
    ])  # fmt: skip


def _of_labels(protocol: Protocol) -> dict[str, str]:
    return {
        "cutoffs": ", ".join(f"@{k}" for k in protocol.top_k) + " unless --top-k says otherwise"
        if protocol.top_k else "none unless --top-k says so",
        "predictions": "label lists, or scores that --threshold or --decode make sets of"
        if protocol.decode else "label lists, ranked by their scores where they have them",
    }  # fmt: skip


def _of_captions(protocol: Protocol) -> dict[str, str]:
    absent = "; ".join(f"{heading} {reason}" for heading, reason in protocol.absent.items())
    return {"predictions": "one caption an image, or several", "not computed": absent}
