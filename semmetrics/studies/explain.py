r"""Measures and protocols explained and cited, and what a file or an object holds.

Conventions
-----------
``bibliography.bib`` has the publications that definitions and protocols cite, in one layout, which
``semmetrics cite`` prints as it stands: an entry's first line is ``@kind{key,``, each field has a
line ``name = {value}``, and ``}`` ends the entry.
"""

from __future__ import annotations

import math
import os
import re
import textwrap
from collections.abc import Iterable, Mapping
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING, Any

from semmetrics.data.form import ReadOptions, takes_options
from semmetrics.errors import Fact, InputError
from semmetrics.kinds import find_kind
from semmetrics.kinds.options import resolve_options
from semmetrics.messages import did_you_mean, visible
from semmetrics.metrics import parsing, registry
from semmetrics.metrics.definition import Definition, Measure
from semmetrics.metrics.families import POLICIES
from semmetrics.metrics.hints import HINTS
from semmetrics.metrics.measure_options import MeasureOption
from semmetrics.options import AGGREGATIONS, AGREEMENT, OPTIONS, Options
from semmetrics.reports import Records, align
from semmetrics.scoring import protocols
from semmetrics.scoring.protocols import AgreementProtocol, Protocol

if TYPE_CHECKING:
    from typing_extensions import Unpack

VALIDATION_SCHEMA = "semmetrics.validation/1"
Topic = Definition | Measure | Protocol | AgreementProtocol
_EVERY_PROTOCOL: Mapping[str, Topic] = {
    **protocols.PROTOCOLS,
    **protocols.AGREEMENT_PROTOCOLS,
}
_SAME_PUBLICATION = {
    "tsoumakas2009": "tsoumakas2010",  # one chapter, cited under the year of either printing
    "coco-caption": "chen2015",  # what protocols are called
    "coco-multilabel": "chen2019",
    "coco-5k": "faghri2018",
    "coco-1k": "faghri2018",
    "f30k": "faghri2018",
    "eccv": "chun2022",
}
_WIDTH = 100
_COMPARED_WITH = {
    "taxonomy": "taxonomy= (--taxonomy FILE), the parents of labels: JSON, CSV, TSV, or WordNet",
    "embedding": "the model {own_embedding}, which comes with semmetrics, or that of embedding= "
    "(--embedding [NAME=]SPEC); lookup= (--lookup) and oov= (--oov) say how texts are looked up",
    "threshold": "auto is the embedding's own: calibrated for the models that come with "
    "semmetrics, otherwise 0.4, which is word2vec's (Kubany et al. 2020)",
}
"""What labels are compared with."""


@cache
def bibliography() -> dict[str, str]:
    """Read the BibTeX of every publication, by key."""
    text = (
        resources.files("semmetrics.studies")
        .joinpath("bibliography.bib")
        .read_text("utf-8")
    )
    entries = [
        part.strip() for part in re.split(r"^(?=@)", text, flags=re.M) if part.strip()
    ]
    return {entry.partition("{")[2].partition(",")[0]: entry for entry in entries}


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
    for text in (
        word for several in texts for word in parsing.split_names(several) or [several]
    ):
        try:
            topics += _find_topics(text.strip())
        except InputError as error:
            problems.append(error)
            if not set("@(,") & set(text):
                known = [one.name for one in registry.all_definitions()]
                known += [*registry.aliases(), *_EVERY_PROTOCOL]
                otherwise = HINTS.get(text, "see: semmetrics list")
                remedy = did_you_mean(text, known, otherwise)
                problems[-1] = InputError(
                    "unknown-name",
                    what="measure or protocol",
                    value=text,
                    remedy=remedy,
                )
    parsing.raise_all(problems)
    return topics


def _find_topics(text: str) -> list[Topic]:
    """Return a protocol, or a measure of each kind that has one of that name and those options."""
    if text in _EVERY_PROTOCOL:
        return [_EVERY_PROTOCOL[text]]
    parsing.refuse_commas(text, also=_EVERY_PROTOCOL)
    kinds = registry.kinds_of(text)
    if not kinds and ("(" in text or "@" in text):
        return [
            parsing.parse(text, kind)[0]
            for kind in parsing.kinds_of_all([text]) or (None,)
        ]
    found = [registry.find(text, kind) for kind in kinds or (None,)]
    return [one(k=None, **options) if options else one for one, options in found]


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
    texts = []
    for topic in find_topics(names):
        if isinstance(topic, Protocol):
            texts.append(_explain_protocol(topic))
        elif isinstance(topic, AgreementProtocol):
            texts.append(_explain_agreement(topic))
        elif isinstance(topic, Measure):
            known = registry.aliases().items()
            short = (name for name, text in known if parsing.parse(text) == [topic])
            signature = "|".join([topic.definition.name, *topic.signature()])
            facts = {"short for it": next(short, ""), "signature": signature}
            texts += [
                f"{topic}\n{_draw_facts(facts)}",
                _explain_definition(topic.definition),
            ]
        else:
            texts.append(_explain_definition(topic))
    return "\n\n".join(texts)


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
    cited = dict.fromkeys(
        bibliography()[_SAME_PUBLICATION.get(key, key)] for key in keys
    )
    return "\n\n".join(cited)


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
    return {
        d.name: d.summary for d in registry.all_definitions() if kind in (None, d.kind)
    }


def _explain_definition(definition: Definition) -> str:
    parts = [
        f"{definition.name}: {definition.summary}",
        _draw_facts(_definition_facts(definition)),
    ]
    policies = [option for option in definition.options if option.choices == POLICIES]
    # a policy without a choice is of a cause that never arises
    settled = [
        o
        for o in definition.options
        if len(o.choices) == 1 and o.choices[0] in POLICIES
    ]
    others = [o for o in definition.options if o not in [*policies, *settled]]
    title = (
        "policies: what an undefined value counts as; skip leaves it out of the mean"
    )
    for name, some in (("options", others), (title, policies)):
        if some:
            parts.append(_draw_options(name, some, definition))
    parts.append(f"for example\n  {_example_command(definition)}")
    return "\n\n".join(["\n".join(parts[:2]), *parts[2:]])


def _example_command(definition: Definition) -> str:
    """A command that computes it, with all files that it needs."""
    # an average that is not the default, where there is a choice
    average = next(reversed(definition.averages[:2]), None)
    options = [f"average={average}"] if len(definition.averages) > 1 else []
    values = {int: 80, float: 2}
    options += [
        f"{o.name}={values.get(o.kind, o.name)}"
        for o in definition.options
        if o.required
    ]
    measure = definition.name + (f"({','.join(options)})" if options else "")
    measure += "@5" if definition.cutoff else ""
    kind = find_kind(definition.kind)
    files = kind.explain_definition(definition).get("options", "") + kind.example_files
    if "scores" in definition.needs:
        files = files.replace("preds", "scores")
    if "taxonomy" in definition.needs:
        files = f"--taxonomy taxonomy.json {files}"
    if any(option.default_for(average) == "given" for option in definition.options):
        files = f"--classes classes.txt {files}"
    return "semmetrics score -m " + (
        f"'{measure}' {files}" if options else f"{measure} {files}"
    )


def _definition_facts(definition: Definition) -> dict[str, str]:
    averages = ", ".join(definition.averages).replace(",", " (default),", 1)
    others = [
        f"{name} = {text}"
        for name, text in registry.aliases(definition.kind).items()
        if registry.find(name, definition.kind)[0] is definition
    ]
    of_kind = find_kind(definition.kind).explain_definition(definition)
    options = {option.name for option in definition.options}
    named = {"embedding", "threshold"} & options if "embedding" in options else set()
    named = {"taxonomy"} if "taxonomy" in definition.needs else named
    compared_with = {}
    for name, text in _COMPARED_WITH.items():
        if name in named:
            compared_with[name] = text.format(own_embedding=definition.own_embedding)
    low, high = definition.bounds
    span = f"from {low:g} to {high:g}" if math.isfinite(high) else f"from {low:g} up"
    return {
        "group": registry.group_of(definition),
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
        **compared_with,
    }


def _draw_facts(facts: Mapping[str, str]) -> str:
    width = max(len(name) for name in facts)
    fill = textwrap.TextWrapper(
        _WIDTH,
        subsequent_indent=" " * (width + 4),
        break_long_words=False,
        break_on_hyphens=False,
    ).fill
    return "\n".join(
        fill(f"  {name.ljust(width)}  {text}") for name, text in facts.items() if text
    )


def _draw_options(
    title: str, options: Iterable[MeasureOption], definition: Definition
) -> str:
    texts = {}
    for option in options:
        values = {"int": "whole number", "float": "number"}.get(
            option.kind.__name__, "text"
        )
        values = "|".join(map(str, option.choices)) or values
        default = f"default {option.default}"
        if option.required:
            default = "required"
        elif option.default is None:
            default = "no default"
        elif isinstance(option.default, Mapping):
            each = [f"{value} ({average})" for average, value in option.default.items()]
            default = f"default {', '.join(each)}"
        text = f"{values}, {default}: {option.help}"
        some = option.averages or definition.averages
        if set(definition.averages) - set(some):
            only = [average for average in some if average in definition.averages]
            text += f"; only average={'|'.join(only)}"
        texts[option.name] = text
    return f"{title}\n{_draw_facts(texts)}"


def _explain_protocol(protocol: Protocol) -> str:
    rows = [
        [heading, text.format(q="size of the class list", logits="at-least:0")]
        for heading, text in protocol.entries.items()
    ]
    kind = find_kind(protocol.kind)
    files = kind.example_files.replace(
        "preds", "scores" if "mAP" in protocol.entries else "preds"
    )
    settings = ", ".join(f"{name}={value}" for name, value in protocol.settings.items())
    facts = {
        "source": protocol.source,
        "BibTeX": f"semmetrics cite {protocol.name}",
        "fixed": settings or "nothing but the measures",
        **kind.explain_protocol(protocol),
    }
    return "\n\n".join(
        [
            f"{protocol.name}: {protocol.title}\n{_draw_facts(facts)}",
            f"measures, under their headings\n{align(rows, left=True, indent='  ')}",
            f"for example\n  semmetrics score --protocol {protocol.name} {files}",
        ]
    )


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
        + protocols.OWN_REFERENCES[protocol.own_references],
        "columns": ", ".join(
            f"{role}={name}" for role, name in protocol.columns.items()
        ),
        "groups": protocol.group_by or "",
        "ids": protocol.ids or "",
    }
    command = f"semmetrics meta --protocol {protocol.name} -m 'CIDEr-D ROUGE-L' {protocol.files}"
    return f"{protocol.name}: {protocol.title}\n{_draw_facts(facts)}\n\nfor example\n  {command}"


@takes_options()
def validate(data: Any, **options: Unpack[Options]) -> dict[str, Any]:
    """Describe predictions or ground truth, and find what is odd in them.

    Parameters
    ----------
    data : path, mapping, sequence, Series, matrix, Lists or Matrix
        One side, as ``score`` takes it.
    **options

    Returns
    -------
    dict
        Plain values: "file" (None for an object), "error" (None), "task", "understood", "notes",
        "items" and "odd", a line for each oddity; of labels and of captions different numbers.

    Raises
    ------
    InputError
        If the data cannot be read, or an option is wrong.

    Examples
    --------
    >>> found = validate({"a": ["cat", "cat"], "b": ["Cat "]})
    >>> for line in found["odd"]:
    ...     print(line)
    1 of 2 items with a repeated label: 'a'
    1 label with blanks around: 'Cat '
    1 group of labels differing only by case or white space: 'cat', 'Cat '
    """
    from semmetrics.data.inputs import open_input
    from semmetrics.data.side_inputs import read_class_list
    from semmetrics.kinds import resolve_kind

    classes, task = options.get("classes"), options.get("task")
    files, notes = options.get("read") or ReadOptions(), []
    side = open_input(data, files)
    if isinstance(classes, (str, os.PathLike)):
        classes = read_class_list(classes, files.beside())
    with_classes = OPTIONS["classes"].kinds
    if task is None and classes is None:
        found = resolve_kind(side, options=files)
        task = found.kind
        if found.others:
            values = {
                "understood": found.understood,
                "kind": task,
                "others": found.others,
            }
            notes.append(Fact("kind-guessed", values=values))
    task = task or with_classes[0]
    if classes is not None and task not in with_classes:
        notes.append(Fact("no-effect-on", values={"option": "classes", "on": task}))
        classes = None
    kind = find_kind(task)
    lists = kind.read(
        side, "input", resolve_options({"classes": classes, "read": files}, task)
    )
    if classes is not None and getattr(lists, "order", "columns") != "columns":
        values = {"option": "classes", "on": "lists, whose labels have names"}
        notes.append(Fact("no-effect-on", values=values))
    if not len(lists):
        raise InputError(
            "nothing-given", "input", what="items", remedy="give at least one"
        )
    record = kind.describe(lists)
    record["notes"] += [fact.text(lambda name, _: OPTIONS[name].both) for fact in notes]
    path = os.fspath(data) if isinstance(data, (str, os.PathLike)) else None
    return {
        "schema": VALIDATION_SCHEMA,
        "file": path,
        "error": None,
        "task": task,
        **record,
    }


def tabulate_order(data: Any, read: ReadOptions | None = None) -> Records:
    """Return how often one label of each pair precedes the other, the most ordered pairs first.

    Parameters
    ----------
    data : path, mapping, sequence, Series or Lists
        Lists of labels, whose order means something.
    read : ReadOptions, optional

    Returns
    -------
    Records
        Columns "first", "second", "before" and "after" (lists in which the first precedes the
        second, and the other way round) and "order", the larger over their sum: from 0.5 to 1.

    Raises
    ------
    InputError
        If the data are a matrix, which has no order.

    References
    ----------
    Pineda, Salvador et al., 2019, supplement A.1 and figure 5.

    Examples
    --------
    >>> tabulate_order([["cat", "dog"], ["dog", "cat"], ["cat", "dog"]])[0]
    {'first': 'cat', 'second': 'dog', 'before': 2, 'after': 1, 'order': 0.6666666666666666}
    """
    from semmetrics.kinds.labels import as_labels
    from semmetrics.kinds.labels.normalization import class_name
    from semmetrics.metrics.label_statistics import label_order

    lists = as_labels(data, options=read or ReadOptions())
    if lists.order == "columns":
        raise InputError("not-applicable", lists.source, name="order", what="a matrix")
    found, names = (
        label_order(lists.side.indptr, lists.side.codes),
        [*map(class_name, lists.terms)],
    )
    first, second = (
        [names[code] for code in codes] for codes in found.pairs.T.tolist()
    )
    return Records(
        {
            "first": first,
            "second": second,
            "before": found.a,
            "after": found.b,
            "order": found.order,
        }
    )


def report_validation(record: dict[str, Any]) -> str:
    """Write what `validate` found as a person reads it."""
    facts = find_kind(record["task"]).format_description(record)
    width = max(map(len, facts))
    lines = [f"{record['file'] or 'data'}: {record['understood']}"]
    lines += [f"  {name.ljust(width)}  {text}" for name, text in facts.items() if text]
    lines += [f"  note: {note}" for note in record["notes"]]
    lines += [f"  odd: {line}" for line in record["odd"]]
    return "\n".join(
        map(visible, lines if record["odd"] else [*lines, "  nothing is odd"])
    )
