"""Run the workloads and write benchmarks/RESULTS.md: ``python -m benchmarks``."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

import semmetrics
from benchmarks import (
    agreement,
    captions,
    captions_cider,
    captions_ngram,
    classes,
    comparison,
    device,
    discrepancy,
    embedding,
    labels,
    reading,
    retrieval,
    semantic,
    semantic_recall,
    spice,
    tokenizers,
    transport,
)
from benchmarks.timing import Row, machine

RESULTS = Path(__file__).with_name("RESULTS.md")
MODULES = (
    labels,
    reading,
    embedding,
    semantic,
    transport,
    device,
    tokenizers,
    captions_ngram,
    captions_cider,
    spice,
    captions,
    comparison,
    agreement,
    retrieval,
    semantic_recall,
    classes,
    discrepancy,
)
WORKLOADS = {
    f"{module.__name__.rpartition('.')[2]}.{name}": run
    for module in MODULES
    for name, run in module.WORKLOADS.items()
}
QUICK = labels.Scale(examples=50_000, repeats=3)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run what is asked for and write or print the tables."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument(
        "--only",
        nargs="+",
        choices=[*WORKLOADS],
        metavar="WORKLOAD",
        help=f"only these, printed and not written: {', '.join(WORKLOADS)}",
    )
    parser.add_argument(
        "--quick",
        action="store_true",
        help=f"{QUICK.examples:,} examples and {QUICK.repeats} runs, printed and not written",
    )
    parser.add_argument(
        "-o", "--output", type=Path, help="write the results to this file"
    )
    parser.add_argument(
        "--update",
        action="store_true",
        help=f"write those of --only into {RESULTS.name}, on the same machine as the others",
    )
    options = parser.parse_args(arguments)
    if options.update and (options.quick or options.output or not options.only):
        parser.error("--update goes with --only alone")
    scale = QUICK if options.quick else labels.Scale()
    rows: dict[str, list[Row]] = {}
    for name in options.only or WORKLOADS:
        sys.stderr.write(f"{name} ...\n")
        rows[name] = WORKLOADS[name](scale)
    text = report(rows, scale)
    if options.update:
        text = updated(RESULTS.read_text(encoding="utf-8"), text)
    partial = (options.only and not options.update) or options.quick
    output = options.output or (None if partial else RESULTS)
    if output is None:
        sys.stdout.write(text)
    else:
        output.write_text(text, encoding="utf-8")
        sys.stderr.write(f"written: {output}\n")


def report(rows: dict[str, list[Row]], scale: labels.Scale) -> str:
    """Write the results as Markdown."""
    lines = [
        "# Benchmarks",
        "",
        f"Written by `python -m benchmarks`; not edited by hand. Medians of {scale.repeats} runs"
        " where nothing else is said, smallest and largest run in parentheses, each contender in"
        " turn with its peer in the same process. A ratio is the peer's median over ours. The"
        f" label sets are synthetic and seeded, about {labels.SIZES:.1f} labels in a set.",
        "",
        f"semmetrics {semmetrics.__version__}, on:",
        "",
        *(f"- {line}" for line in machine()),
    ]
    for name, table in rows.items():
        lines += [
            "",
            f"## {name}",
            "",
            "| workload | semmetrics | peer | ratio |",
            "|---|---|---|---|",
        ]
        lines += [
            f"| {row.workload} | {row.ours} | {row.peer} | {row.ratio} |"
            for row in table
        ]
    return "\n".join(lines) + "\n"


def updated(old: str, new: str) -> str:
    """Return a report with the tables of another in place of its own, in the usual order.

    Raises
    ------
    SystemExit
        If they are of different machines or versions.
    """
    (head, *tables), (other, *more) = (text.split("\n## ") for text in (old, new))
    if head.strip() != other.strip():
        raise SystemExit(
            f"{RESULTS} is of another machine or version: measure all of it again"
        )
    found = {table.partition("\n")[0]: table.strip("\n") for table in (*tables, *more)}
    order = sorted(found, key=[*WORKLOADS, *found].index)
    return "\n\n## ".join([head.strip(), *(found[name] for name in order)]) + "\n"


if __name__ == "__main__":
    main()
