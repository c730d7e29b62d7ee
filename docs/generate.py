"""Pages made of the code: ``python docs/generate.py`` writes ``options.md``, a build the names."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from semmetrics.arguments import describe_type
from semmetrics.cli import commands, tools  # noqa: F401 - they register the commands
from semmetrics.cli.generate import SPECS, options_of
from semmetrics.metrics import registry
from semmetrics.options import COMMAND_OPTIONS, OPTIONS, OUTPUT, READING, TITLES, Option, hint_of
from semmetrics.scoring.protocols import PROTOCOLS

PAGE = Path(__file__).with_name("options.md")
_KINDS = {
    "labels": "Label sets",
    "captions": "Captions",
    "retrieval": "Retrieval",
    "classes": "Classes",
}
# Where a family is explained; captions without an entry are on their kind's page.
_PAGES = {
    "sets": "labels", "semantic": "semantic", "bags": "semantic", "ranking": "ranking",
    "hierarchical": "hierarchical", "spice": "spice", "retrieval": "retrieval",
    "semantic_retrieval": "semantic-recall", "classes": "zero-shot",
}  # fmt: skip
# What the literature calls a measure beside our names and those of protocols.
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
    ("classes", "PerClassAccuracy"): "mean class accuracy, balanced accuracy of classes",
}


def page() -> str:
    """Return the page: what stands before its first table, then the tables."""
    head = PAGE.read_text(encoding="utf-8").partition("\n## ")[0]
    return "\n".join([head, *_scores(), *_others()])


def _scores() -> Iterator[str]:
    for title in [*TITLES, ""]:
        group = [one for one in OPTIONS.values() if one.group == title]
        if group:
            names = ["keyword", "flag", "type", "applies to", "default", "signature", "meaning",
                     "commands"]  # fmt: skip
            yield from _table(title or "Python only", names, map(_score_row, group))


def _score_row(one: Option) -> list[str]:
    hint = hint_of(one.name)
    kind = _choices(one) or ("" if hint is Any else describe_type(hint))
    key = f"`{one.key}:`" if one.key else ""
    kinds = ", ".join(one.kinds) or "all"
    return [
        f"`{one.name}`",
        _flags(one),
        kind,
        kinds,
        f"`{one.default!r}`",
        key,
        one.help,
        _taken(one),
    ]


def _others() -> Iterator[str]:
    names = ["keyword", "flag", "default", "meaning"]
    for title, options in {
        "How files are read": READING,
        "How results are written": OUTPUT,
    }.items():
        yield from _table(
            title, [*names, "commands"], ([*_row(o), _taken(o)] for o in options.values())
        )
    for name in SPECS:
        changed = {
            n: o for n, o in options_of(name).items() if o.default != OPTIONS.get(n, o).default
        }
        if own := COMMAND_OPTIONS.get(name, {}) | changed:
            yield from _table(f"`semmetrics {name}`", names, map(_row, own.values()))


def _row(one: Option) -> list[str]:
    meaning = f"{one.help} {f'One of {_choices(one)}.' if one.choices else ''}".strip()
    return [f"`{one.name}`", _flags(one), f"`{one.default!r}`", meaning]


def _choices(one: Option) -> str:
    return ", ".join(f"`{choice}`" for choice in one.choices)


def _taken(one: Option) -> str:
    """Name the commands that have an option as it stands in a table."""
    having = [n for n in SPECS if one.name in {*options_of(n)} - {*COMMAND_OPTIONS.get(n, {})}]
    return ", ".join(having)


def _flags(one: Option) -> str:
    flags = one.flags or (one.flag,) if one.group else ()
    return ", ".join(f"`{flag}`" for flag in flags)


def _table(title: str, names: list[str], rows: Iterable[list[str]]) -> Iterator[str]:
    yield from (f"## {title}", "", f"| {' | '.join(names)} |", "|---" * len(names) + "|")
    yield from (
        f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in row)} |" for row in rows
    )
    yield ""


def measures() -> str:
    """Return a glossary of all measures: their names, those of papers, and where to read on."""
    papers = defaultdict(dict)  # kind, measure -> name in papers -> what it is there
    for protocol in PROTOCOLS.values():
        for heading, text in protocol.entries.items():
            text = re.sub(r",?\w+=\{\w+\}", "", text).replace("()", "")  # what the data fill in
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
    page = _PAGES.get(registry._ROWS[one.kind, one.name][1], one.kind)
    told = [one.summary]
    told += [f"{alias} is `{text}`." for alias, text in one.aliases.items()]
    told += [f"{name} is {what}." for name, what in papers.items() if name != one.name]
    told += [f"Papers also say {', '.join(also)}, which `-m` does not take."] if also else []
    told += [f"Source: {one.source}." if one.source else "", f"[Read on](measures/{page}.md)"]
    return [*terms, f"  {' '.join(part for part in told if part)}", ""]


def write(page: Path, text: str) -> None:
    """Write a page unless it stands there already, so that it is not built again."""
    if not page.exists() or page.read_text(encoding="utf-8") != text:
        page.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
