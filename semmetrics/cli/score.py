"""The command ``semmetrics score``: its options and help."""

from __future__ import annotations

from typing import Any

import click
from click.shell_completion import CompletionItem

from semmetrics.cli import names
from semmetrics.cli.caption_options import df_option, tokenizer_option
from semmetrics.cli.models import MEANING, meaning_options
from semmetrics.cli.reading import Reading, reading_options
from semmetrics.cli.shape import FILE, Command, option, quiet_option

__all__ = ["command"]

WHAT, DATA = "What is computed", "What the data are"
CAPTIONS = "What captions are compared by"
CERTAIN, OUT = "Confidence intervals and signatures", "Output"
FORMATS = ("table", "json", "csv", "markdown", "latex")
RULES = ("all", "threshold:0.5", "threshold:best", "cumulative:0.5", "cardinality",
         "cardinality+scores")  # fmt: skip


def complete_rules(
    ctx: click.Context, param: click.Parameter, incomplete: str
) -> list[CompletionItem[str]]:
    """Decoding rules."""
    return names.items(RULES, incomplete)


@click.command(
    "score",
    cls=Command,
    no_args_is_help=True,
    examples=[
        "semmetrics score preds.json gt.json",
        "semmetrics score -m F1 -m 'F1(average=macro)' --top-k 1,3,5 a.csv b.csv gt.csv",
        "semmetrics score --protocol kubany2020 --format latex preds.csv gt.csv",
        "semmetrics score -m F1 --threshold 0.3,0.5,best --classes labels.txt scores.npy gt.npy",
        "semmetrics score -m 'SemF1 WMD' --matches matches.csv --worst 3 preds.json gt.json",
        "semmetrics score --protocol kubany2020 --embedding GoogleNews.bin preds.csv gt.csv",
        "semmetrics score --ci --per-item items.csv --format json -o out.json preds.json gt.json",
        "zcat preds.jsonl.gz | semmetrics score - gt.json",
        "semmetrics score --protocol coco-caption captions.json references.json",
    ],
)
@click.argument("preds", nargs=-1, type=FILE, metavar="PRED...")
@click.argument("gt", type=FILE, metavar="GT", required=False)
@option(
    WHAT,
    "-m",
    "--measure",
    "measures",
    multiple=True,
    metavar="MEASURE",
    shell_complete=names.complete(names.measures),
    help="Such as F1, MacroF1, Recall@5, 'F1(average=macro)@1,3'; may be repeated, or hold "
    "several with blanks between. See: semmetrics list.",
)
@option(
    WHAT,
    "--protocol",
    metavar="P",
    shell_complete=names.complete(names.protocols),
    help="All measures and conventions of a paper: kubany2020, pineda2019, coco-caption.",
)
@option(
    WHAT,
    "--top-k",
    metavar="K,...",
    help="Every measure on the first k predictions, for each k: 1,3,5.",
)
@option(
    WHAT,
    "--threshold",
    metavar="T,...",
    help="Predicted are the labels that score above T, for each T; 'best' is the one with the "
    "best F1 (of semantic measures the best SemF1).",
)
@option(
    WHAT,
    "--decode",
    multiple=True,
    metavar="RULE",
    shell_complete=complete_rules,
    help="Another rule that makes sets of scores: cumulative:0.5, cardinality, "
    "cardinality+scores; may be repeated.",
)
@option(WHAT, "--min-labels", type=int, metavar="N", help="Labels that a rule always keeps.")
@option(
    WHAT,
    "--cardinality",
    multiple=True,
    type=FILE,
    metavar="FILE",
    help="Probabilities of each set size (.npy), for the rules that use them: one file, or "
    "one for each PRED.",
)
@option(
    DATA,
    "--task",
    type=click.Choice(["labels", "captions"]),
    help="What is evaluated, where neither the measures nor the shape of the data tell.",
)
@option(
    DATA,
    "--normalize",
    metavar="N",
    shell_complete=names.complete(names.normalizations),
    help="What is done to labels before they are compared: none (the default), lower, kubany2020.",
)
@option(
    DATA,
    "--missing",
    type=click.Choice(["error", "skip", "empty"]),
    help="An id that only one side has is an error (the default), is left out, or has an "
    "empty list (of captions: an empty candidate, or no reference) on the other side.",
)
@option(
    DATA,
    "--unpredicted",
    type=click.Choice(["keep", "skip"]),
    help="Whether items with an empty prediction count (keep, the default).",
)
@option(
    DATA,
    "--ignore",
    multiple=True,
    metavar="LABEL,...|@FILE",
    help="Labels left out on both sides; @FILE has one a line.",
)
@option(
    DATA,
    "--weights",
    type=FILE,
    metavar="FILE",
    help="A weight for each item: {id: number}, CSV, or a vector.",
)
@meaning_options
@option(
    MEANING,
    "--calibration",
    multiple=True,
    type=FILE,
    metavar="FILE",
    help="The threshold of similarity that 'semmetrics calibrate' saved, in place of the "
    "embedding's own; may be repeated, once for each embedding.",
)
@option(
    MEANING,
    "--taxonomy",
    type=FILE,
    metavar="FILE",
    help="Parents of labels, for hierarchical measures such as hF: JSON {child: parent or "
    "[parents]}, CSV or TSV with the columns child and parent, wordnet, or wordnet:FOLDER.",
)
@tokenizer_option(CAPTIONS)
@df_option(CAPTIONS)
@option(
    CAPTIONS,
    "--human",
    is_flag=True,
    help="Score the references too, each against the others of its image, as the system 'human'.",
)
@reading_options
@option(CERTAIN, "--ci", is_flag=True, help="Bootstrap confidence intervals.")
@option(CERTAIN, "--seed", type=int, metavar="N", help="Of the resamples; 12345 when left out.")
@option(CERTAIN, "--resamples", type=int, metavar="N", help="1000 when left out.")
@option(CERTAIN, "--level", type=float, metavar="X", help="0.95 when left out.")
@option(
    CERTAIN,
    "--signature",
    metavar="STR",
    help="Compute that signature again on these files, and say where they differ from it.",
)
@option(CERTAIN, "--signatures", is_flag=True, help="Show the whole signature of each score.")
@option(
    OUT,
    "--format",
    "form",
    type=click.Choice(FORMATS),
    default="table",
    show_default=True,
    help="json and csv have full precision.",
)
@option(OUT, "-o", "--output", type=FILE, metavar="FILE", help="Write there instead.")
@option(
    OUT,
    "--digits",
    type=click.IntRange(0, 17),
    metavar="N",
    help="After the point: 4, or 2 with --percent, when left out.",
)
@option(OUT, "--percent", is_flag=True, help="Values in [0, 1] times 100.")
@option(
    OUT,
    "--runs",
    is_flag=True,
    help="The PRED files are runs of one system: mean (std, n-1) over them.",
)
@option(
    OUT, "--per-item", type=FILE, metavar="FILE", help="The values of each item, as .jsonl or .csv."
)
@option(
    OUT,
    "--per-label",
    type=FILE,
    metavar="FILE",
    help="The values and counts of each label, as .json or .csv.",
)
@option(
    OUT,
    "--matches",
    type=FILE,
    metavar="FILE",
    help="Which prediction matched which true label, how similar they are, and what nothing "
    "matched, by the first semantic measure; .csv, .json or .jsonl.",
)
@option(
    OUT,
    "--worst",
    type=click.IntRange(min=1),
    metavar="N",
    help="Show the N items with the worst values of the first measure that items have a value of, "
    "with their labels.",
)
@quiet_option()
def command(**given: Any) -> None:
    """Score predictions against ground truth.

    Each PRED file is a system, named by its file; the last file is the ground truth (GT). Both hold
    the labels of items, joined by id: JSON ({"id": ["label", ...]}), JSONL, CSV, TSV, Parquet, COCO
    instances, or a matrix (.npy, .npz), each also with .gz; "-" is standard input.

    Or they hold captions: {"id": "caption"} against {"id": ["reference", ...]}, COCO results and
    annotations, JSONL, CSV, TSV, Parquet, or lines of text.

    Without -m and --protocol a default set of measures is computed. With --top-k 1,3,5 a measure F1
    is F1@1, F1@3 and F1@5.
    """
    from semmetrics.cli.job import Request, run

    reading = Reading.taken(given)
    run(Request(reading=reading, **given))
