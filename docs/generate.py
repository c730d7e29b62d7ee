"""Pages made of the code: ``python docs/generate.py`` writes ``options.md``, a build the names."""

from __future__ import annotations

import re
import sys
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path
from typing import Any

# Document the package next to this folder, not an installed one.
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from semmetrics.arguments import describe_type
from semmetrics.cli.app import load_commands
from semmetrics.cli.generate import options_of
from semmetrics.metrics import registry
from semmetrics.metrics.measure_table import ROWS
from semmetrics.options import (
    COMMAND_OPTIONS,
    COMMAND_TITLES,
    FILES_OF_SIDE,
    OPTIONS,
    OUTPUT,
    READING,
    SIDED,
    SIDES,
    TITLES,
    Option,
    hint_of,
)
from semmetrics.scoring.protocols import PROTOCOLS

SPECS = load_commands()

PAGE = Path(__file__).with_name("options.md")
_KINDS = {
    "labels": "Label sets",
    "captions": "Captions",
    "retrieval": "Retrieval",
    "classes": "Classes",
}
# Where a family is explained; captions without an entry are on their kind's page.
_PAGES = {
    "sets": "labels",
    "semantic": "semantic",
    "bags": "semantic",
    "ranking": "ranking",
    "hierarchical": "hierarchical",
    "spice": "spice",
    "retrieval": "retrieval",
    "semantic_retrieval": "semantic-recall",
    "classes": "zero-shot",
}
# Other names of measures in the literature.
_ALSO = {
    ("labels", "Jaccard"): "example-based accuracy, IoU",
    ("labels", "SubsetAccuracy"): "exact match ratio, EMR",
    ("labels", "F1"): "samples F1",
    ("labels", "mAP"): "mean average precision (of classes)",
    ("labels", "ROC-AUC"): "AUC, AUROC",
    ("captions", "BLEU-4"): "B@4, BLEU@4",
    ("captions", "BLEU-1"): "B@1, BLEU@1",
    ("retrieval", "HitRate"): "R@K, Recall@K of image-text retrieval, success@K",
    ("retrieval", "Precision"): "P@K",
    ("retrieval", "MAP"): "mean average precision (of queries)",
    ("retrieval", "MedR"): "median rank, Med r",
    ("retrieval", "MeanR"): "mean rank, Mean r",
    ("retrieval", "nDCG"): "NDCG@K",
    ("retrieval", "Rsum"): "RSUM",
    ("classes", "Accuracy"): "top-1 accuracy, top-K accuracy",
    (
        "classes",
        "PerClassAccuracy",
    ): "mean class accuracy, balanced accuracy of classes",
}


def page() -> str:
    """Return the page: its introduction as it is now, then a section per group of options."""
    introduction = PAGE.read_text(encoding="utf-8").partition("\n## ")[0]
    sections = [introduction.rstrip()]
    for title in [*TITLES, ""]:
        options = [option for option in OPTIONS.values() if option.group == title]
        if options:
            sections.append(_shared_section(title or "Python only", options))
    sections.append(_shared_section("Reading files", _without_sides(READING.values())))
    sections.append(_sides_section())
    sections.append(_shared_section("How results are written", OUTPUT.values()))
    for command in SPECS:
        options = _own_options(command)
        if options:
            sections.append(_command_section(command, options))
    return "\n\n".join(sections) + "\n"


def _shared_section(title: str, options: Iterable[Option]) -> str:
    """Return the section of options that several commands have."""
    facts_by_option = {}
    for option in options:
        facts_by_option[option] = _facts(option) | _audience(option)
    shared = _shared_facts(list(facts_by_option.values()))
    entries = []
    for option, facts in facts_by_option.items():
        own = {name: text for name, text in facts.items() if name not in shared}
        entries.append(_entry_of_option(_term(option), option.help, own))
    introduction = ""
    if shared:
        introduction = f"All options of this section: {_fact_line(shared)}."
    return _section(title, introduction, entries)


def _sides_section() -> str:
    """Return the section of the options that read one side, two sides to an entry."""
    first, second = SIDES
    entries = []
    for name in SIDED:
        sides = [READING[f"{first}_{name}"], READING[f"{second}_{name}"]]
        terms = " and ".join(_term(option) for option in sides)
        meaning = (
            f"{READING[name].flag} for the {SIDES[first]} or the {SIDES[second]} only."
        )
        entries.append(_entry_of_option(terms, meaning, _audience(sides[0])))
    introduction = (
        "These options override an option above for one side, if the predictions and the ground "
        "truth are written differently."
    )
    return _section("Reading the files of one side", introduction, entries)


def _command_section(command: str, options: Iterable[Option]) -> str:
    """Return the section of options that only one command has or that it changes."""
    title = f"semmetrics {command}"
    entries = []
    repeated: dict[str, list[str]] = {}
    for option in options:
        earlier = _earlier_command(command, option)
        if earlier:
            repeated.setdefault(earlier, []).append(f"`{option.flag}`")
        else:
            term = _term(option, prefix=title)
            entries.append(_entry_of_option(term, option.help, _facts(option)))
    sentences = []
    for earlier, flags in repeated.items():
        sentences.append(
            f"These options are as for `semmetrics {earlier}`: {', '.join(flags)}."
        )
    return _section(f"`{title}`", " ".join(sentences), entries)


def _earlier_command(command: str, option: Option) -> str:
    """Name the command of the same group that has the same option in an earlier section."""
    group = command.partition(" ")[0]
    for other in SPECS:
        if other == command:
            return ""
        if other.startswith(f"{group} ") and option in _own_options(other):
            return other
    return ""


def _section(title: str, introduction: str, entries: list[str]) -> str:
    parts = [f"## {title}"]
    if introduction:
        parts.append(introduction)
    if entries:
        parts += [":::{div} entries", *entries, ":::"]
    return "\n\n".join(parts)


def _entry_of_option(term: str, meaning: str, facts: dict[str, str]) -> str:
    """Return an entry of a definition list, with the facts as a paragraph of their own."""
    entry = f"{term}\n: {_mark_code(meaning)}"
    if facts:
        entry += f"\n\n  {_fact_line(facts)}"
    return entry


def _term(option: Option, prefix: str = "") -> str:
    """Return the keyword and the flags of an option, with an anchor named after the flag."""
    names = list(_flags(option))
    if option.group not in COMMAND_TITLES:
        names.insert(0, option.name)
    anchor = f"{prefix} {option.flag.removeprefix('--')}".strip()
    anchor = re.sub(r"[ _]", "-", anchor)
    listing = ", ".join(f"`{name}`" for name in names)
    return f"[{listing}]{{#{anchor}}}"


def _flags(option: Option) -> tuple[str, ...]:
    if not option.group:
        return ()
    return option.flags or (option.flag,)


def _facts(option: Option) -> dict[str, str]:
    """Return the values, the default and the signature key of an option, by the fact's name."""
    facts = {}
    values = _values(option)
    if values:
        facts["values"] = values
    default = _default(option)
    if default:
        facts["default"] = f"`{default}`"
    if option.key:
        facts["in signatures"] = f"`{option.key}:`"
    return facts


def _values(option: Option) -> str:
    if option.choices:
        return ", ".join(f"`{choice}`" for choice in option.choices)
    if OPTIONS.get(option.name) is not option:
        return ""  # an option without a type in Python
    hint = hint_of(option.name)
    if hint is Any:
        return ""
    return describe_type(hint)


def _default(option: Option) -> str:
    """Return the default as a user writes it, or an empty string if it is off or unset."""
    default = option.default
    if default is None or default is False:
        return ""
    if isinstance(default, tuple):
        return " ".join(default)
    return str(default)


def _audience(option: Option) -> dict[str, str]:
    """Return the kinds of data and the commands that an option is for, by the fact's name."""
    audience = {}
    if option.kinds:
        audience["data"] = ", ".join(option.kinds)
    users = []
    for command in SPECS:
        is_own = option.name in COMMAND_OPTIONS.get(command, {})
        if option.name in options_of(command) and not is_own:
            users.append(command)
    if users:
        audience["commands"] = _join_commands(users)
    return audience


def _join_commands(names: Iterable[str]) -> str:
    """Join the names of commands, with one entry for each group.

    Examples
    --------
    >>> _join_commands(["score", "mad select", "mad add"])
    'score, mad select/add'
    """
    members_by_group: dict[str, list[str]] = {}
    texts = []
    for command in names:
        group, _, member = command.partition(" ")
        if member:
            members_by_group.setdefault(group, []).append(member)
        else:
            texts.append(command)
    for group, members in members_by_group.items():
        texts.append(f"{group} {'/'.join(members)}")
    return ", ".join(texts)


def _shared_facts(facts_of_options: list[dict[str, str]]) -> dict[str, str]:
    """Return the kinds of data and the commands, if all options of a section have the same."""
    first, *others = facts_of_options
    shared = {}
    for name in ("data", "commands"):
        if name in first and all(first[name] == facts.get(name) for facts in others):
            shared[name] = first[name]
    return shared


def _fact_line(facts: dict[str, str]) -> str:
    return " · ".join(f"{name}: {text}" for name, text in facts.items())


def _mark_code(meaning: str) -> str:
    """Write flags and quoted examples of a help text as code."""
    meaning = re.sub(r"(?<!\w)'([^']+)'(?!\w)", r"`\1`", meaning)
    parts = meaning.split("`")
    for number in range(0, len(parts), 2):  # outside the code
        parts[number] = re.sub(r"(?<![\w-])(--?[a-z][a-z-]*)", r"`\1`", parts[number])
    return "`".join(parts)


def _without_sides(options: Iterable[Option]) -> list[Option]:
    return [option for option in options if option.group != FILES_OF_SIDE]


def _own_options(command: str) -> list[Option]:
    """Return the options that only one command has, and those with another default there."""
    options = dict(COMMAND_OPTIONS.get(command, {}))
    for name, option in options_of(command).items():
        if name in OPTIONS and option.default != OPTIONS[name].default:
            options.setdefault(name, option)
    return list(options.values())


def measures() -> str:
    """Return a glossary of all measures: their names here and in papers, with links."""
    papers = defaultdict(dict)  # kind, measure -> name in papers -> description
    for protocol in PROTOCOLS.values():
        for heading, text in protocol.entries.items():
            # remove placeholders that are completed from the data
            text = re.sub(r",?\w+=\{\w+\}", "", text).replace("()", "")
            name = text if text == "mAP@R" else re.split(r"[(@]", text)[0]
            page = (
                protocol.name
                if (PAGE.parent / f"protocols/{protocol.name}.md").exists()
                else "retrieval"
            )
            link = f"[{protocol.name}](protocols/{page}.md)"
            told = f"`{re.sub(r'@[0-9]+', '@K', text)}` in {link}"
            papers[protocol.kind, name].setdefault(re.sub(r"@\d+", "@K", heading), told)
    lines: list[str] = []
    taken: set[str] = set()
    for kind, title in _KINDS.items():
        lines += [f"## {title}", "", "```{glossary}"]
        for one in registry.all_definitions(kind):
            if not registry.is_own(one):
                lines += _entry(one, papers[kind, one.name], taken)
        lines += ["```", ""]
    return "\n".join(lines)


def _entry(one: Any, papers: dict[str, str], taken: set[str]) -> list[str]:
    also = [name for name in _ALSO.get((one.kind, one.name), "").split(", ") if name]
    names = [one.name, *one.aliases, *papers, *also]
    terms = [name if name not in taken else f"{name} ({one.kind})" for name in names]
    terms = [term for term in dict.fromkeys(terms) if term not in taken]
    taken.update(terms)
    page = _PAGES.get(ROWS[one.kind, one.name].module, one.kind)
    told = [one.summary]
    told += [f"{alias} is `{text}`." for alias, text in one.aliases.items()]
    told += [f"{name} is {what}." for name, what in papers.items() if name != one.name]
    told += (
        [f"Papers also say {', '.join(also)}, which `-m` does not take."]
        if also
        else []
    )
    told += [
        f"Source: {one.source}." if one.source else "",
        f"[Read on](measures/{page}.md)",
    ]
    return [*terms, f"  {' '.join(part for part in told if part)}", ""]


def write(page: Path, text: str) -> None:
    """Write a page if its content has changed, so that other pages are not built again."""
    if not page.exists() or page.read_text(encoding="utf-8") != text:
        page.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
