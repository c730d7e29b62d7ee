"""The commands that score and compare: each is its options, one call, and how the result looks."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from semmetrics.cli import output
from semmetrics.cli.generate import RESULT, command
from semmetrics.cli.output import EXACT, complain
from semmetrics.cli.run import Run
from semmetrics.errors import Fact, InputError, render_facts
from semmetrics.messages import listing, pluralize
from semmetrics.options import COMMAND_OPTIONS, KINDS, OPTIONS, flag

if TYPE_CHECKING:
    from semmetrics.reports.page import Pictures
    from semmetrics.scoring.table import ScoreTable
    from semmetrics.studies.competition_state import DiscrepancySelection

SCALED = (
    "signatures",
    "form",
    "output",
    "digits",
    "percent",
    "plot",
    "html",
    "images",
    "quiet",
)
DRAWN = (*RESULT, "plot")
SCORES = (*SCALED, "systems")
_DETAILS = [
    n for n, one in COMMAND_OPTIONS["score"].items() if one.written and n != "state"
]


@command("score", {"preds": "PRED...?", "gt": "GT?"}, reads=KINDS, output=SCORES)
def score(run: Run) -> None:
    r"""Score predictions against ground truth.

    Each PRED file is a system, named by its file; the last file is the ground truth (GT). Both hold
    the labels of items, joined by id: JSON ({"id": ["label", ...]}), JSONL, CSV, TSV, Parquet, COCO
    instances, or a matrix (.npy, .npz), each also with .gz; "-" is standard input.

    Or they hold captions: {"id": "caption"} against {"id": ["reference", ...]}, COCO results and
    annotations, JSONL, CSV, TSV, Parquet, or lines of text.

    Or PRED ranks candidates for queries (--task retrieval): a matrix of similarities (.npy, .npz,
    .h5, JSON), ranked lists, or a TREC run; GT has the positives: {"query": ["candidate", ...]}.

    Or PRED classifies images (--task classes): a matrix of scores, or a class or ranked classes for
    each image; GT has the class of each, such as one a line (.txt).

    Without -m and --protocol a default set of measures is computed. With --top-k 1,3,5 a measure F1
    is F1@1, F1@3 and F1@5.

    Examples
    --------
    semmetrics score preds.json gt.json
    semmetrics score -m F1 -m 'F1(average=macro)' --top-k 1,3,5 a.csv b.csv gt.csv
    semmetrics score --protocol kubany2020 --format latex preds.csv gt.csv
    semmetrics score -m F1 --threshold 0.3,0.5,best --classes labels.txt scores.npy gt.npy
    semmetrics score -m 'SemF1 WMD' --matches matches.csv --worst 3 preds.json gt.json
    semmetrics score --protocol kubany2020 --embedding GoogleNews.bin preds.csv gt.csv
    semmetrics score --ci --per-item items.csv --format json -o out.json preds.json gt.json
    zcat preds.jsonl.gz | semmetrics score - gt.json
    semmetrics score --protocol coco-caption captions.json references.json
    semmetrics score --protocol f30k sims.npy positives.json
    semmetrics score --task retrieval --queries-embeddings q.npy --gallery-embeddings g.npy \
        qrels.trec
    semmetrics score --protocol xian2018 --classes all.txt --seen seen.txt --unseen unseen.txt \
        scores.npy truth.txt
    """
    instead = any(run[name] is not None for name, one in OPTIONS.items() if one.instead)
    if run["gt"] is None or not (run["preds"] or instead):
        raise click.UsageError(
            "name at least one file of predictions and, last, the ground truth"
        )
    if any(run[name] for name in ("stream", "shard", "state", "engine")):
        _score_parts(run)
        return
    from semmetrics.scoring.rescore import rescore_systems
    from semmetrics.scoring.score import score_systems

    detailed = any(run[name] is not None for name in ("worst", "html", *_DETAILS))
    options = run.values() | {"keep_rows": detailed or bool(run.plots)}
    if (
        run["classification_report"]
        and run["protocol"] is None
        and run["rescore"] is None
    ):
        options.setdefault("measures", ["MacroF1"])
    compute: Callable[..., ScoreTable] = score_systems
    if run["rescore"] is not None:
        compute = partial(rescore_systems, run["rescore"])
    with run.progress() as progress:
        table = compute(run.systems(), run["gt"], progress=progress, **options)
    _write_table(run, table)


def _score_parts(run: Run) -> None:
    """Score files in parts that are not kept, and write the sums or the scores."""
    for name in ("rescore", "classification_report", "worst", *_DETAILS):
        if run[name]:
            raise InputError(
                "not-applicable",
                name=name,
                what="items that are not kept",
                fix="remove --stream, --shard, --state and --engine",
            )
    if run["engine"] is not None:
        if given := next((n for n in ("stream", "shard", "state") if run[n]), ""):
            raise InputError(
                "not-applicable", name=given, what="--engine", fix="remove one"
            )
        _write_table(run, _score_on_cluster(run))
        return
    scorer = (_read_stream if run["stream"] else _read_whole)(run, shard=run["shard"])
    if run["shard"] and run["state"] is None:
        output.say([f"shard {run['shard']} alone"], quiet=run.quiet)
    _write_sums(run, scorer)


def _score_on_cluster(run: Run) -> ScoreTable:
    """Return the scores that Ray's tasks computed."""
    from semmetrics.scale.cluster import score_dataset

    more = {
        name: run[name] for name in ("address", "num_gpus") if run[name] is not None
    }
    with output.show_progress(quiet=run.quiet, at_once=True) as progress:

        def advance(what: str, done: int, total: int) -> None:
            if progress is not None:
                progress(done, total, prefix=what, unit="task")

        return score_dataset(
            run.systems(), run["gt"], advance=advance, **more, **run.values()
        )


def _read_whole(run: Run, shard: str | None) -> Any:
    """Return the scorer of a shard of files that are read whole."""
    from semmetrics.scoring.scorer import Scorer

    given = run.values() | {"keep_rows": False}
    weights = given.pop("weights", None)
    scorer = Scorer(**given)
    for system, path in run.systems().items():
        scorer.update(path, run["gt"], system=system, shard=shard, weights=weights)
    return scorer


def _read_stream(run: Run, **more: Any) -> Any:
    """Return the scorer of files that were read block by block; say how far a stopped run came."""
    from semmetrics.scale.stream import score_stream

    given, scored = run["preds"], 0
    systems = run.systems() if given else {}
    plain = [
        name for name, path in systems.items() if path in given and Path(path).is_file()
    ]
    if len(plain) > 1 and len({re.sub(r"\d+", "", name) for name in plain}) == 1:
        hint = "are scored as systems; quote a pattern to score them as one"
        output.say([f"{listing(plain)} {hint}"], quiet=run.quiet)
    with output.show_progress(quiet=run.quiet, at_once=True) as progress:

        def advance(what: str, read: int, items: int, size: int | None) -> None:
            nonlocal scored
            scored = items
            if progress is not None:
                form = {
                    "unit": "B",
                    "unit_scale": True,
                    "postfix": pluralize(items, "item"),
                }
                progress(read, size or 0, prefix=what, **form)

        try:
            values = run.values("baseline", "test", "correction")
            return score_stream(systems, run["gt"], advance=advance, **values, **more)
        except KeyboardInterrupt:
            complain(f"{pluralize(scored, 'item')} were scored; nothing is written")
            raise


def _write_sums(run: Run, scorer: Any) -> None:
    """Write the scores of items that were summed, or their sums."""
    if run["state"] is None:
        _write_table(run, scorer.compute())
        return
    asked = {
        "plot": run.plots,
        "html": run["html"],
        "output": run["output"],
        "form": run["form"] != "table",
    }
    if name := next((name for name, given in asked.items() if given), ""):
        raise InputError(
            "not-applicable",
            name=name,
            what="--state",
            fix="write the scores with 'semmetrics merge'",
        )
    scorer.save(run["state"], shard=run["shard"])
    output.echo(f"{run['state']}: {pluralize(len(scorer), 'item')}")


def _write_table(run: Run, table: ScoreTable) -> None:
    """Write scores, and what was asked for beside them."""
    output.say_understood(table, quiet=run.quiet)
    worst, details = _collect_details(run, table)
    run.write_text(_render(run, table, worst), details, of=table)
    _say_remarks(run, table, worst)


@command("merge", {"states": "STATE..."}, output=SCORES, imports=True)
def merge(run: Run) -> None:
    """Merge the sums of parts of the data, and print the scores of the whole.

    Each STATE is what 'semmetrics score --state' wrote of some items, of one system or several. The
    scores are those of one process that has all items, to the last digit. With --state the merged
    sums are written in place of scores, to be merged again.

    Examples
    --------
    semmetrics score --stream --shard 1/8 --state part-1.state preds.jsonl gt.jsonl
    semmetrics merge part-*.state
    semmetrics merge --state left.state part-1.state part-2.state
    """
    from semmetrics.scoring.scorer import Scorer

    _write_sums(run, Scorer.load(*run["states"], max_bytes=run["max_bytes"]))


def _collect_details(run: Run, table: ScoreTable) -> tuple[list[str], dict[str, Any]]:
    """Return the worst items, drawn, and what files beside the result are to hold, by path."""
    from semmetrics.scoring.table import draw_worst

    worst, details = list[str](), dict[str, Any]()
    for name in ("worst", *_DETAILS):
        if (value := run[name]) is None:
            continue
        try:
            if name == "worst":
                worst = [draw_worst(table, value, **run.shape)]
                continue
            details[value] = getattr(table, name)()
        except InputError as error:  # which option asks for what does not exist
            raise error.placed(flag(name)) from None
        if name == "matches" and len(table.systems) == 1:
            details[value] = details[value].drop("system")
    return worst, details


def _render(run: Run, table: ScoreTable, worst: Sequence[str]) -> str:
    """Write the result in the form asked for."""
    from semmetrics.reports import draw_signatures
    from semmetrics.scoring import table as text

    form, shape = run["form"], {**run.shape, "systems": run["systems"]}
    if run["graded"] and (run["runs"] or form in ("table", "json")):
        what = "--runs" if run["runs"] else f"the format {form}"
        raise InputError("not-applicable", name="graded", what=what)
    if run["classification_report"]:
        if other := next((name for name in ("runs", "graded") if run[name]), ""):
            raise InputError(
                "not-applicable", name=other, what="--classification-report"
            )
        drawn = text.draw_report(table.classification_report(), form, **run.shape)
        return "\n\n".join([drawn, *worst]) if form == "table" else drawn
    if run["runs"]:
        return text.draw_runs(table, form, spell=flag, **run.shape)
    if form == "json":
        found = table._entry(flag)
        for entry, one in zip(found["scores"], table, strict=True):
            if run["per_item"] is not None and one.items is not None:
                entry["rows"] = run["per_item"]
        return output.to_json(found)
    if form != "table":
        return table.render(form, graded=run["graded"], **shape)
    width = None
    if run["output"] is None and sys.stdout.isatty():
        import shutil

        width = shutil.get_terminal_size().columns
    parts = [
        text.draw_systems(table, width=width, **shape),
        *text.report_gaps(table),
        *worst,
    ]
    parts += [text.report_shared(table)] if len(table) else []
    parts += (
        [draw_signatures(table.to_records().drop("part"))] if run["signatures"] else []
    )
    return "\n\n".join(parts)


def _say_remarks(run: Run, table: ScoreTable, worst: list[str]) -> None:
    """Say what a table would show, then which options have no effect or need a word."""
    from semmetrics.reports import draw_signatures
    from semmetrics.scoring import table as text

    form, lines = run["form"], list[str]()
    if form != "table" or run["runs"]:
        output.say(output.split_lines(text.report_gaps(table)), quiet=run.quiet)
        if run["signatures"] and form not in EXACT:
            worst = [*worst, draw_signatures(table.to_records().drop("part"))]
        output.say(output.split_lines(worst), quiet=run.quiet)
    if run["runs"] and any(one.ci is not None for one in table):
        lines.append("--ci has no effect on the result of --runs")
    if run["runs"] and len(table.systems) == 1:
        lines.append("one run has no standard deviation: give the file of each run")
    shaped = form == "csv" and run["systems"] is not None
    if form in EXACT and not shaped and (run["percent"] or run["digits"] is not None):
        lines.append(f"--percent and --digits have no effect on {form}: full precision")
    if run["matches"] is not None:
        lines.append(
            f"{run['matches']}: the matches of {text.find_matching_heading(table.scores)}"
        )
    lines += [f"warning: {line}" for line in table.differences]
    output.say(lines, quiet=run.quiet)


@command("compare", {"preds": "PRED PRED...?", "gt": "GT?"}, reads=KINDS, output=SCALED)
def compare(run: Run) -> None:
    """Compare systems, and say which differences are more than chance.

    Each PRED file is a system, named by its file; the last file is the ground truth (GT), as for
    'semmetrics score'. All pairs of systems are compared, each system with those before it; with
    --baseline all are compared with that one alone. A row has the difference of a measure, its
    interval, p, p corrected for the number of comparisons, the effect size (difference over its
    standard error and the root of the number of items), and the items won, tied and lost.

    Examples
    --------
    semmetrics compare -m 'F1 MicroF1' old.json new.json gt.json
    semmetrics compare --baseline ours a.json b.json ours.json gt.json
    semmetrics compare -m 'BLEU-4 CIDEr-D' --test randomization a.json b.json references.json
    semmetrics compare -m F1 --differing 5 --format csv -o found.csv a.json b.json gt.json
    semmetrics compare -m 'F1 MicroF1' --format latex -o table.tex a.json b.json c.json gt.json
    semmetrics compare --table results.csv
    semmetrics compare -m O-F1 --table lstm.json --table transformer.json
    semmetrics compare a.state b.state
    """
    from semmetrics.studies.comparison_table import draw_differing, draw_rank_matrix
    from semmetrics.studies.comparisons import compare as compare_systems

    if run["table"]:
        from semmetrics.studies.values import compare_values, draw_values

        idle = [
            n
            for n in (
                "preds",
                "gt",
                "differing",
                "ranks",
                "signatures",
                "percent",
                "html",
            )
            if run[n]
        ]
        if idle:
            raise InputError("not-applicable", name=idle[0], what="--table")
        if len(run["measures"]) > 1:
            raise InputError(
                "wrong-count", "-m", found="several measures", wanted="--table"
            )
        tables = output.name_systems(run["table"], "--table")
        # may have blanks
        measure, run.given["measures"] = (
            next(iter(run["measures"]), None),
            (),
        )
        # of means the interval and Student's test are the same
        given = {
            "measure": measure,
            "table": None,
            "test": "t" if run["test"] == "interval" else run["test"],
        }
        found = run.call(
            compare_values, tables if len(tables) > 1 else run["table"][0], **given
        )
        run.write_text(
            draw_values(found, run["form"], digits=run.shape["digits"]), of=found
        )
        return
    shape, table = run.shape, None
    if run["gt"] is not None and run["gt"].endswith(".state"):
        if idle := [
            n for n in run.values("baseline", "test", "correction") if n != "read"
        ]:
            raise InputError(
                "not-applicable",
                name=idle[0],
                what="states",
                fix="give it to 'semmetrics score', which writes them",
            )
        from semmetrics.scoring.scorer import Scorer

        table = Scorer.load(
            *run["preds"], run["gt"], max_bytes=run["max_bytes"]
        ).compute()
    else:
        run.needs(
            "name files of predictions and, last, the ground truth; states; or --table",
            "preds",
            "gt",
        )
    if run["stream"]:
        table = _read_stream(run, ci=True).compute()
    if table is None:
        found = run.call(compare_systems, run.systems(), run["gt"])
    else:
        chosen = {name: run[name] for name in ("baseline", "test", "correction")}
        found = compare_systems(table, None, **chosen)
        output.say_understood(found, quiet=run.quiet)
    beside = [draw_rank_matrix(found, digits=shape["digits"])] if run["ranks"] else []
    if run["differing"] is not None:
        beside.append(draw_differing(found, run["differing"], **shape))
    run.write(found, beside)


@command(
    "sweep",
    {"preds": "PRED...", "gt": "GT"},
    takes="sweep_systems",
    reads=("labels",),
    output=DRAWN,
)
def sweep(run: Run) -> None:
    """Compute semantic measures at many thresholds of similarity, in one pass over the data.

    Each PRED is a system and GT the ground truth, as for 'semmetrics score'. Labels are joined and
    looked up once; a value is that of 'semmetrics score' with the same threshold. The highest
    value is not the best threshold: the lower a threshold, the more matches. See 'semmetrics
    calibrate'.

    Examples
    --------
    semmetrics sweep a.json b.json gt.json
    semmetrics sweep -m 'SemF1 SemRecall' --thresholds 0:1:0.05 preds.json gt.json
    semmetrics sweep --embedding words.bin --format csv -o sweep.csv preds.json gt.json
    """
    from semmetrics.studies import thresholds as api

    found = run.call(api.sweep_systems, run.systems(), run["gt"])
    run.write_text(run.render(found), of=found)


@command(
    "calibrate",
    {"preds": "[PRED?", "gt": "GT]?"},
    takes="calibrate_threshold",
    reads=("labels",),
    output=("output", "plot", "quiet"),
)
def calibrate(run: Run) -> None:
    """Find the threshold of similarity of an embedding, and save it.

    On labelled pairs (--pairs): the cosine that best separates those that mean the same from the
    others. Or on predictions and ground truth, without labelled pairs: on a part of the items, the
    threshold at which a measure of predictions with their own references is most above that with
    the references of another item.

    Examples
    --------
    semmetrics calibrate --pairs pairs.csv -o threshold.json
    semmetrics calibrate --pairs pairs.csv --criterion youden --embedding words.bin
    semmetrics calibrate --holdout 0.2 --seed 7 -o threshold.json preds.json gt.json
    semmetrics score -m SemF1 --calibration threshold.json preds.json gt.json
    """
    from semmetrics.studies import thresholds as api

    if run["output"] == "-":
        raise InputError("wrong-ending", "-o -", known=["a name of a file"])
    if run["pairs"] is not None:
        if run["preds"] is not None:
            raise InputError("conflicting-options", names="--pairs and predictions")
        found = run.call(api.calibrate_threshold_on_pairs, run["pairs"])
    else:
        run.needs(
            "name a file of pairs (--pairs), or predictions and ground truth",
            "preds",
            "gt",
        )
        found = run.call(api.calibrate_threshold, run["preds"], run["gt"])
    if run["output"] is not None:
        found.save(run["output"])
    else:
        output.say(["the calibration is not saved; give -o FILE"], quiet=run.quiet)
    text = found.to_json() if run["form"] == "json" else api.report_calibration(found)
    run.given["output"] = None  # which has the calibration
    run.write_text(text, of=found)


@command("correlate", {"ratings": "RATINGS", "phi": "[NAME=]PHI..."}, output=DRAWN)
def correlate(run: Run) -> None:
    r"""Correlate phi, NCS or binary relevance with ratings of the same pairs by people.

    RATINGS is a CSV, TSV, JSON or JSONL file with two ids and a score in each row. PHI is a matrix
    of 'semmetrics pairs' (a .npy file with its .ids.json), a JSON object {id: [ids]} of what
    belongs together, or a file of scores like RATINGS. Pairs that a PHI lacks are counted.

    Examples
    --------
    semmetrics pairs --phi CIDEr-D -o phi.npy captions.json references.json
    semmetrics correlate ratings.csv phi.npy
    semmetrics correlate ratings.csv SPICE=spice.npy CIDEr=cider.npy binary=positives.json
    semmetrics correlate --columns caption,image,agg_score --group-by sampling_method --ids \
        '0*(\d+)(?:[.]jpg)?$' sits_test.csv phi.npy
    """
    from semmetrics.reports import draw
    from semmetrics.studies.correlations import correlate as api

    columns = run["columns"].split(",") if run["columns"] else None
    found = run.call(api, run["ratings"], run.systems(), columns=columns)
    form, digits = run["form"], run.shape["digits"]

    def shown(value: Any) -> str:
        if value is None or isinstance(value, str):
            return value or "-"
        return f"{value:.{digits}f}" if isinstance(value, float) else f"{value:,}"

    if form in EXACT:
        text = found.render(form)
    else:
        text = draw(
            [found.columns, *(list(map(shown, row.values())) for row in found)], form
        )
    run.write_text(text, of=found)


@command(
    "meta",
    {"ratings": "RATINGS", "preds": "[PRED...?", "gts": "GT]?"},
    reads=KINDS,
    output=SCALED,
)
def meta(run: Run) -> None:
    """Measure how well measures agree with people, and whether one agrees better than another.

    RATINGS is a public file (Flickr8k-Expert, Flickr8k-CF, Composite, Pascal-50S), or a CSV, TSV,
    JSON or JSONL table: ratings of ids, with PRED and GT as for 'semmetrics score'; ratings of
    captions that stand there with their references; or preferences a, b, preferred. With several
    PRED, the column system of RATINGS names the PRED of each rating. Intervals and the bootstrap
    test resample images, each with all of its judgements.

    Examples
    --------
    semmetrics meta --protocol flickr8k-expert -m 'CIDEr-D ROUGE-L BLEU-4' flickr8k.json
    semmetrics meta --protocol pascal-50s -m 'CIDEr-D ROUGE-L' pyCIDErConsensus/
    semmetrics meta -m 'F1 SemF1' --statistics kendall-b ratings.csv preds.json gt.json
    semmetrics meta --protocol cxc-sits -m CIDEr-D sits_test.csv captions.json refs.json
    semmetrics meta -m 'BLEU-4 CIDEr-D METEOR' ratings.csv A=a.json B=b.json C=c.json refs.json
    """
    from semmetrics.studies.agreement import meta as api

    _check_rated_files(run)
    preds = run["preds"]
    is_single = len(preds) == 1 and output.path_of(preds[0]) == preds[0]
    systems = run.systems() if preds and not is_single else None
    columns = None
    if run["columns"] is not None:
        parts = (part.partition("=") for part in run["columns"].split(","))
        columns = {role.strip(): name.strip() for role, _, name in parts}
    pred = preds[0] if is_single else None
    run.write(
        run.call(
            api, run["ratings"], pred, run["gts"], systems=systems, columns=columns
        )
    )


def _check_rated_files(run: Run) -> None:
    """Raise if ratings have a name, as a PRED may have, or GT is given without PRED."""
    if output.path_of(run["ratings"]) != run["ratings"]:
        raise click.UsageError(
            "the ratings come first, without a name: RATINGS PRED... GT"
        )
    if run["gts"] is not None:
        run.needs("after the ratings, name PRED... and GT, or neither", "preds")


@command("rank", {"files": "SCORES.json...?"}, output=DRAWN)
def rank(run: Run) -> None:
    """Rank systems over several data sets, and test whether their ranks are chance.

    Each file is what 'semmetrics score --format json' wrote for one data set, which is named by the
    file; or, with --runs, for one system, which is named by the file, on the data set that the
    folder names: its mean is ranked. The values of a data set are divided by its best; a system's
    value is the mean over all data sets (Pineda, Salvador et al. 2019). With --by rank it is the
    mean rank. A system that lacks a data set is listed and not ranked. Below are how often each
    system has each rank, the Friedman test, and the critical difference of mean ranks (Nemenyi;
    Demšar 2006).

    Examples
    --------
    semmetrics score -m O-F1 --format json -o voc.json bce.json lstm.json gt.json
    semmetrics rank voc.json coco.json
    semmetrics rank --by rank --diagram ranks.svg -m F1 voc.json coco.json nus.json
    semmetrics rank voc/bce.json voc/lstm.json coco/bce.json coco/lstm.json
    semmetrics rank --table results.csv
    semmetrics rank --differences coco other -m CIDEr-D coco.json other.json
    """
    from semmetrics.studies import ranks as api

    if len(run["files"][:1]) + len(run["table"]) != 1:
        raise click.UsageError("name files of scores, or one --table")
    of = next(iter(run["table"]), None) or api.group_files(
        run.systems(), run["max_bytes"]
    )
    form, digits = run["form"], run.shape["digits"]
    given = {name: run[name] for name in ("by", "level", "max_bytes")}
    found = api.rank_systems(of, run["measure"], **given)
    drawn = {} if run["diagram"] is None else {run["diagram"]: found.to_svg()}
    if run["differences"]:
        first, second = run["differences"]
        rows = found.differences(first, second)
        result = api.draw_rank_differences(rows, first, second, form, digits=digits)
        every = dict.fromkeys(
            name for one in (first, second) for name in found.values[one]
        )
        lacking = [name for name in every if name not in rows.column("system")]
        beside = (
            [f"not on both data sets, and left out: {', '.join(lacking)}"]
            if lacking
            else []
        )
    else:
        result = run.render(found)
        beside = [] if form == "table" else api.report_ranks(found)
    run.write_text(result, drawn, of=found)
    output.say(output.split_lines(beside), quiet=run.quiet)


@command("validate", {"files": "FILE..."}, reads=KINDS, output=())
def validate(run: Run) -> int:
    """Say what was read of each file, how it was understood, and what is odd.

    Numbers of items and labels, labels per item, the most frequent labels, how consistently labels
    are ordered; repeated labels, empty lists, labels that differ only by case or blanks, ids with
    blanks, scores out of order. Of captions: words a caption, repeated and empty captions, control
    characters. All files are tried; the exit code is 2 if one of them is bad.

    Examples
    --------
    semmetrics validate preds.json gt.json
    semmetrics validate --format json gt.csv > gt.report.json
    semmetrics validate --classes labels.txt scores.npy
    semmetrics validate --task captions captions.json references.json
    """
    from semmetrics.studies import explain as api

    if run["order"] is not None and len(run["files"]) > 1:
        raise InputError("not-applicable", name="order", what="several files")
    records: list[dict[str, Any]] = []
    read = run.values()["read"]
    for path in run["files"]:
        try:
            record = api.validate(
                path, classes=run["classes"], task=run["task"], read=read
            )
            if run["form"] == "table":
                output.echo(("\n" if records else "") + api.report_validation(record))
        except InputError as error:
            record = {
                "schema": api.VALIDATION_SCHEMA,
                "file": path,
                "error": error.text(flag),
            }
            complain(f"error: {error.text(flag)}")
        records.append(record)
    if run["order"] is not None and not any(record["error"] for record in records):
        pairs, path = api.tabulate_order(run["files"][0], read), run["order"]
        with output.open_output(path) as out:
            pairs.write(out, output.ending(path)[1:] or run["form"])
    if run["form"] == "json":
        output.echo(output.to_json(records), "json")
    return 2 if any(record["error"] for record in records) else 0


@command("mad", {})
def mad(run: Run) -> None:
    """Compare systems on the images on which they differ most (Wan et al. 2022).

    Systems answer for any number of images without references. For each pair of systems the k
    images are selected on which their answers are least alike; these few are annotated, and the
    systems are ranked by them.

    Examples
    --------
    semmetrics mad select -k 70 -o state.json --sheet sheet.csv a.json b.json c.json
    semmetrics mad rank -m CIDEr-D --references sheet.csv state.json
    semmetrics mad add -o more.json --sheet new.csv state.json a.json b.json c.json d.json
    """


@command(
    "mad select",
    {"systems": "FILE..."},
    takes="select_discrepant",
    reads=KINDS,
    output=RESULT,
)
def mad_select(run: Run) -> None:
    """Select the images on which systems differ most.

    Each FILE holds what a system answers for the same images: a caption each, or labels (with -m
    SemF1, F1 and the like). The state and the sheets that are asked for are written; annotators
    fill the rows, and 'semmetrics mad rank' reads them back.

    Examples
    --------
    semmetrics mad select -o state.json --sheet sheet.csv a.json b.json c.json
    semmetrics mad select -k 20 -o state.json --rating-page rate.html a.json b.json
    semmetrics mad select -m SemF1 -o state.json a.json b.json
    """
    from semmetrics.studies.discrepancy import select_discrepant

    _select(run, select_discrepant, run.systems())


@command(
    "mad add",
    {"state": "STATE", "systems": "FILE..."},
    takes="add_systems",
    reads=KINDS,
    output=RESULT,
)
def mad_add(run: Run) -> None:
    """Add systems to a competition; its own pairs are not compared again.

    STATE is what 'semmetrics mad select' wrote. Each FILE is a system: all those of the
    competition, with the same names and answers as then, and the new ones. Sheets have only the
    rows that are not in those of STATE.

    Examples
    --------
    semmetrics mad add -o more.json --sheet new.csv state.json a.json b.json c.json
    """
    from semmetrics.studies.competition_state import DiscrepancySelection
    from semmetrics.studies.discrepancy import add_systems

    before = DiscrepancySelection.load(run["state"], max_bytes=run["max_bytes"])
    _select(run, add_systems, before, run.systems(), before=before)


@command(
    "mad replace",
    {"state": "STATE", "systems": "FILE..."},
    takes="add_systems",
    reads=KINDS,
    output=RESULT,
)
def mad_replace(run: Run) -> None:
    """Take images out of a competition; each is replaced by the next one of its pair.

    STATE is what 'semmetrics mad select' or 'add' wrote, and each FILE a system, with the same
    names and answers as then. Sheets have only the rows that are not in those of STATE.

    Examples
    --------
    semmetrics mad replace --exclude bad.txt -o more.json --sheet new.csv state.json a.json b.json
    """
    mad_add(run)


@command("mad inspect", {"files": "SHEET..."}, takes="inspect_sheets")
def mad_inspect(run: Run) -> None:
    """Let inspectors vote on annotations, and keep those that most of them keep.

    Given filled sheets of references, it writes a sheet of votes: a row for each reference and
    inspector, who write yes or no into the column keep. Given that sheet, filled, it writes the
    references that more than half of the inspectors keep.

    Examples
    --------
    semmetrics mad inspect -o votes.csv sheet.csv
    semmetrics mad inspect -o kept.csv votes.csv
    semmetrics mad rank -m CIDEr-D --references kept.csv state.json
    """
    from semmetrics.studies.sheets import inspect_sheets

    read, path = run.values()["read"], run["output"]
    found = inspect_sheets(list(run["files"]), inspectors=run["inspectors"], read=read)
    output.write_text(f"{path}: {pluralize(len(found), 'row')}", beside={path: found})


def _select(
    run: Run,
    make: Callable[..., Any],
    *files: Any,
    before: DiscrepancySelection | None = None,
) -> None:
    """Select, and write the sheets, then the state, then what is shown."""
    if run["images"] is not None and not (run["page"] or run["rating_page"]):
        raise InputError("needs-option", what="--images", name="page")
    page = run["page"] or run["rating_page"]
    if page is not None:  # a missing folder is an error before long work
        _addresses([], run["images"], Path(page).parent)
    state = run.call(make, *files, exclude=run["exclude"] or ())
    sheets = dict(_sheets(run, state, before))
    _note_odd_pictures(run, list(state.images))
    lost = run["output"] is None and run["form"] != "json"
    if not lost:
        output.write_text(state.to_json(), run["output"], "json", sheets)
    if lost or run["output"] not in (None, "-"):  # where the state is
        shown = state.render(run["form"], **run.shape)
        if run["form"] == "table":
            new = len({*state.images} - {*before.images}) if before else 0
            shown += (
                f"\n\n{pluralize(len(state.images), 'image')} to annotate"
                f"{f' ({new:,} of them new)' if before else ''}, of {state.n:,}; "
                f"{state.measure}, k={state.k}, ties by {state.ties}"
            )
        output.write_text(shown, form=run["form"], beside=sheets if lost else None)
    output.say(
        ["the selection is not saved; give -o state.json"] * lost, quiet=run.quiet
    )


def _sheets(
    run: Run, state: DiscrepancySelection, before: DiscrepancySelection | None
) -> Iterator[tuple[str, str]]:
    """Yield the sheets asked for, each behind its path."""
    from semmetrics.studies.sheets import write_annotation_page

    for ratings in (False, True):
        prefix = "rating_" if ratings else ""
        path, page = run[f"{prefix}sheet"], run[f"{prefix}page"]
        if path is None and page is None:
            continue
        sheet = state.sheet(ratings=ratings, annotators=run["annotators"], since=before)
        if path is not None:
            yield path, getattr(sheet, f"to_{output.ending(path)[1:]}")()
        people = [] if page is None else list(dict.fromkeys(sheet.column("annotator")))
        images = list(dict.fromkeys(sheet.column("image_id")))
        for who in people:
            place = Path(page).with_stem(
                Path(page).stem + (f"-{who}" if people[1:] else "")
            )
            yield (
                str(place),
                write_annotation_page(
                    sheet,
                    annotator=who,
                    images=_addresses(images, run["images"], place.parent),
                    title=f"Annotator {who}",
                    scale=run["scale"],
                    name=f"{place.stem}.csv",
                ),
            )


def _open_pictures(images: str, folder: Path) -> Pictures:
    """Return the pictures of a folder that is seen from a page's folder or the working folder."""
    from semmetrics.reports.page import Pictures

    try:
        return Pictures(str(folder / images))
    except InputError:
        return Pictures(images)


def _note_odd_pictures(run: Run, ids: Sequence[str]) -> None:
    """Report pictures of annotation pages whose content is not what their extension says."""
    images = run["images"]
    if images is None or re.match(r"[a-z]+:", images):
        return
    from semmetrics.reports.page import is_picture

    page = run["page"] or run["rating_page"]  # one of them is set if there are pictures
    pictures = _open_pictures(images, Path(page).parent)
    paths = {id_: pictures.find(id_) for id_ in ids}
    odd = tuple(
        id_ for id_, path in paths.items() if path is not None and not is_picture(path)
    )
    if odd:
        output.say(render_facts([Fact("odd-pictures", len(odd), odd)]), quiet=run.quiet)


def _addresses(
    ids: Sequence[str], images: str | None, folder: Path
) -> Mapping[str, str] | str | None:
    """Return the addresses of pictures, as a page in a folder sees them.

    Parameters
    ----------
    ids : sequence of str
        The images of the page.
    images : str or None
        A folder of pictures or a path with ``{id}`` in it, seen from the working folder or from
        the page; or an address of the web.
    folder : Path
        The folder of the page.

    Raises
    ------
    InputError
        If there is no such folder, or it has no picture of an image.
    """
    if images is None or re.match(r"[a-z]+:", images):
        return images
    from urllib.parse import quote

    pictures = _open_pictures(images, folder)
    addresses: dict[str, str] = {}
    missing = []
    for id_ in ids:
        path = pictures.find(id_)
        if path is None:
            missing.append(id_)
        else:
            address = Path(os.path.relpath(path, folder)).as_posix()
            addresses[id_] = quote(address, errors="surrogateescape")
    if missing:
        raise InputError("missing-pictures", images, n=len(missing), names=missing)
    return addresses


@command(
    "mad rank", {"state": "STATE"}, takes="rank_competition", reads=KINDS, output=DRAWN
)
def mad_rank(run: Run) -> None:
    """Rank the systems of a competition by what annotators wrote or rated.

    STATE is what 'semmetrics mad select' or 'add' wrote. Both systems of a pair are scored on the
    images of the pair; the ratio of their scores is the dominance of one over the other, and all
    dominances give the global rank (Wan et al. 2022, equation 7).

    Examples
    --------
    semmetrics mad rank -m CIDEr-D --references sheet.csv state.json
    semmetrics mad rank --ratings ratings.csv --stability 5:65:10 state.json
    """
    from semmetrics.studies.competition import rank_competition

    if run["ratings"] and run["measures"]:
        raise InputError("not-applicable", name="measures", what="ratings")
    form = run["form"]
    sheets = {name: list(run[name]) or None for name in ("references", "ratings")}
    stability = _read_stability(run["stability"])
    found = run.call(rank_competition, run["state"], **sheets, stability=stability)
    path = run["pairs_file"]
    pairs = {} if path is None else {path: found.pair_records()}
    run.write_text(run.render(found), pairs, of=found)
    if form == "csv" and run["stability"] is not None:  # which has one table
        drawn = found.stability_records().render("table", digits=run.shape["digits"])
        output.say(output.split_lines([drawn]), quiet=run.quiet)


def _read_stability(text: str | None) -> list[int]:
    """Return the numbers of a list whose parts may be ranges, with both ends.

    Examples
    --------
    >>> _read_stability("5,10:20:5")
    [5, 10, 15, 20]
    """
    found: list[int] = []
    for part in text.split(",") if text is not None else ():
        texts = part.strip().split(":")
        numbers = [
            int(one) if one.isdecimal() and len(one) < 9 else -1 for one in texts
        ]
        start, stop, step = (
            *numbers,
            *([numbers[0], 1] if len(numbers) == 1 else [1]),
        )[:3]
        if (
            len(numbers) > 3
            or min(numbers) < 0
            or not step
            or not 0 <= stop - start <= 10_000
        ):
            wanted = "5,10,20 or 5:65:10"
            raise InputError("bad-option", name="stability", value=part, wanted=wanted)
        found += range(start, stop + 1, step)
    return found
