"""The commands for thresholds, human ratings and ranks, and ``validate``."""

from __future__ import annotations

from typing import Any

import click

from semmetrics.cli import output
from semmetrics.cli.generate import DRAWN, SCALED, command
from semmetrics.cli.output import EXACT, complain
from semmetrics.cli.run import Run
from semmetrics.errors import InputError
from semmetrics.options import KINDS, flag

# ---- thresholds -------------------------------------------------------------


@command(
    "sweep",
    {"preds": "PRED...", "gt": "GT"},
    api_function="sweep_systems",
    reads=("labels",),
    output=DRAWN,
)
def sweep(run: Run) -> None:
    """Compute semantic measures at many thresholds of similarity, in one pass over the data.

    Each PRED is a system and GT the ground truth, as for 'semmetrics score'. Labels are joined and
    looked up once. Values equal those of 'semmetrics score' with the same threshold. Lower
    thresholds give more matches, so the highest value does not show the best threshold. To find
    it, use 'semmetrics calibrate'.

    Examples
    --------
    semmetrics sweep a.json b.json gt.json
    semmetrics sweep -m 'SemF1 SemRecall' --thresholds 0:1:0.05 preds.json gt.json
    semmetrics sweep --embedding words.bin --format csv -o sweep.csv preds.json gt.json
    """
    from semmetrics.studies.sweeps import sweep_systems

    result = run.call(sweep_systems, run.systems(), run["gt"])
    run.write_text(run.render(result), result=result)


@command(
    "calibrate",
    {"preds": "[PRED?", "gt": "GT]?"},
    api_function="calibrate_threshold",
    reads=("labels",),
    output=("output", "plot", "quiet"),
)
def calibrate(run: Run) -> None:
    """Find the threshold of similarity of an embedding, and save it.

    With labelled pairs (--pairs), it is the cosine that best separates pairs with the same meaning
    from the others. Without pairs, a part of the predictions and the ground truth is used. The
    threshold is the one with the largest difference between the measure with the references of the
    same item and the measure with the references of another item.

    Examples
    --------
    semmetrics calibrate --pairs pairs.csv -o threshold.json
    semmetrics calibrate --pairs pairs.csv --criterion youden --embedding words.bin
    semmetrics calibrate --holdout 0.2 --seed 7 -o threshold.json preds.json gt.json
    semmetrics score -m SemF1 --calibration threshold.json preds.json gt.json
    """
    from semmetrics.studies.thresholds import report_calibration

    if run["output"] == "-":
        raise InputError("wrong-ending", "-o -", known=["a name of a file"])
    calibration = _compute_calibration(run)
    if run["output"] is not None:
        calibration.save(run["output"])
    else:
        output.report(
            ["the calibration is not saved. To save it, add -o FILE."], quiet=run.quiet
        )
    if run["form"] == "json":
        text = calibration.to_json()
    else:
        text = report_calibration(calibration)
    # The file of -o has the calibration, so the report goes to standard output.
    run.params["output"] = None
    run.write_text(text, result=calibration)


def _compute_calibration(run: Run) -> Any:
    """Return the calibration on labelled pairs, or on predictions and ground truth."""
    from semmetrics.studies import thresholds

    if run["pairs"] is None:
        run.needs(
            "name a file of pairs (--pairs), or predictions and ground truth",
            "preds",
            "gt",
        )
        return run.call(thresholds.calibrate_threshold, run["preds"], run["gt"])
    if run["preds"] is not None:
        raise InputError("conflicting-options", names="--pairs and predictions")
    return run.call(thresholds.calibrate_threshold_on_pairs, run["pairs"])


# ---- human ratings ----------------------------------------------------------


@command("correlate", {"ratings": "RATINGS", "phi": "[NAME=]PHI..."}, output=DRAWN)
def correlate(run: Run) -> None:
    r"""Correlate phi, NCS or binary relevance with ratings of the same pairs by people.

    RATINGS is a CSV, TSV, JSON or JSONL file with two ids and a score in each row. PHI is a matrix
    of 'semmetrics pairs' (a .npy file with its .ids.json), a JSON object {id: [ids]} of related
    ids, or a file of scores like RATINGS. Pairs without a value of PHI are counted.

    Examples
    --------
    semmetrics pairs --phi CIDEr-D -o phi.npy captions.json references.json
    semmetrics correlate ratings.csv phi.npy
    semmetrics correlate ratings.csv SPICE=spice.npy CIDEr=cider.npy binary=positives.json
    semmetrics correlate --columns caption,image,agg_score --group-by sampling_method --ids \
        '0*(\d+)(?:[.]jpg)?$' sits_test.csv phi.npy
    """
    from semmetrics.reports import draw
    from semmetrics.studies.pair_correlations import correlate as correlate_ratings

    columns = None
    if run["columns"]:
        columns = run["columns"].split(",")
    result = run.call(correlate_ratings, run["ratings"], run.systems(), columns=columns)
    form = run["form"]
    if form in EXACT:
        text = result.render(form)
    else:
        digits = run.shape["digits"]
        rows = [result.columns]
        for row in result:
            rows.append([_format_cell(value, digits) for value in row.values()])
        text = draw(rows, form)
    run.write_text(text, result=result)


def _format_cell(value: Any, digits: int) -> str:
    """Return the text of a cell in a table of correlations."""
    if value is None:
        return "-"
    if isinstance(value, str):
        return value or "-"
    if isinstance(value, float):
        return f"{value:.{digits}f}"
    return f"{value:,}"


@command(
    "meta",
    {"ratings": "RATINGS", "preds": "[PRED...?", "gts": "GT]?"},
    reads=KINDS,
    output=SCALED,
)
def meta(run: Run) -> None:
    """Measure how well measures agree with people, and test differences in agreement.

    RATINGS is a public file (Flickr8k-Expert, Flickr8k-CF, Composite, Pascal-50S), or a CSV, TSV,
    JSON or JSONL table. A table has ratings of ids, with PRED and GT as for 'semmetrics score',
    ratings of captions with their references, or preferences a, b, preferred. With several
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
    from semmetrics.studies.meta_evaluation import meta as measure_agreement

    _check_rated_files(run)
    preds = run["preds"]
    pred = None
    systems = None
    if len(preds) == 1 and output.path_of(preds[0]) == preds[0]:
        pred = preds[0]  # One file without a name
    elif preds:
        systems = run.systems()
    result = run.call(
        measure_agreement,
        run["ratings"],
        pred,
        run["gts"],
        systems=systems,
        columns=_read_column_roles(run["columns"]),
    )
    run.write(result)


def _check_rated_files(run: Run) -> None:
    """Raise an error if RATINGS is written as NAME=FILE, or GT is given without PRED."""
    if output.path_of(run["ratings"]) != run["ratings"]:
        raise click.UsageError(
            "put the ratings first, without a name: RATINGS PRED... GT"
        )
    if run["gts"] is not None:
        run.needs("after the ratings, give both PRED... and GT, or neither", "preds")


def _read_column_roles(text: str | None) -> dict[str, str] | None:
    """Return the names of columns by role, from ROLE=NAME,ROLE=NAME."""
    if text is None:
        return None
    columns = {}
    for part in text.split(","):
        role, _, name = part.partition("=")
        columns[role.strip()] = name.strip()
    return columns


# ---- ranks and validation ---------------------------------------------------


@command("rank", {"files": "SCORES.json...?"}, output=DRAWN)
def rank(run: Run) -> None:
    """Rank systems over several datasets, and test whether their ranks differ significantly.

    Each file is the output of 'semmetrics score --format json' for one dataset, named after the
    file. With the output of --runs, a file has one system, named after the file, and its folder is
    the dataset. The values of a dataset are divided by its best value. The value of a system is
    the mean over all datasets (Pineda, Salvador et al. 2019). With --by rank it is the
    mean rank. A system without a value on some dataset is listed but not ranked. The output also
    has the number of times that each system has each rank, the Friedman test, and the critical
    difference of mean ranks (Nemenyi test, Demšar 2006).

    Examples
    --------
    semmetrics score -m O-F1 --format json -o voc.json bce.json lstm.json gt.json
    semmetrics rank voc.json coco.json
    semmetrics rank --by rank --diagram ranks.svg -m F1 voc.json coco.json nus.json
    semmetrics rank voc/bce.json voc/lstm.json coco/bce.json coco/lstm.json
    semmetrics rank --table results.csv
    semmetrics rank --differences coco other -m CIDEr-D coco.json other.json
    """
    from semmetrics.studies.ranked_scores import group_files
    from semmetrics.studies.ranking import report_ranks
    from semmetrics.studies.ranks import rank_systems

    n_sources = len(run["table"])
    if run["files"]:
        n_sources += 1
    if n_sources != 1:
        raise click.UsageError("name files of scores, or one --table")
    source = None
    if run["table"]:
        source = run["table"][0]
    if not source:
        source = group_files(run.systems(), run["max_bytes"])
    options = {name: run[name] for name in ("by", "level", "max_bytes")}
    ranking = rank_systems(source, run["measure"], **options)
    diagrams = {}
    if run["diagram"] is not None:
        diagrams[run["diagram"]] = ranking.to_svg()
    if run["differences"]:
        text, remarks = _render_differences(run, ranking)
    else:
        text = run.render(ranking)
        remarks = []
        if run["form"] != "table":
            remarks = report_ranks(ranking)
    run.write_text(text, diagrams, result=ranking)
    output.report(output.split_lines(remarks), quiet=run.quiet)


def _render_differences(run: Run, ranking: Any) -> tuple[str, list[str]]:
    """Return the table of ranks on two datasets, and a remark on systems that are left out."""
    from semmetrics.studies.ranking import draw_rank_differences

    first, second = run["differences"]
    rows = ranking.differences(first, second)
    text = draw_rank_differences(
        rows, first, second, run["form"], digits=run.shape["digits"]
    )
    systems = dict.fromkeys([*ranking.values[first], *ranking.values[second]])
    ranked_systems = rows.column("system")
    left_out = [system for system in systems if system not in ranked_systems]
    if not left_out:
        return text, []
    return text, [f"not on both datasets, and left out: {', '.join(left_out)}"]


@command("validate", {"files": "FILE..."}, reads=KINDS, output=())
def validate(run: Run) -> int:
    """Describe each file, how it is read, and possible problems.

    The report has numbers of items and labels, labels per item, the most frequent labels, and how
    consistently labels are ordered. Problems are repeated labels, empty lists, labels that differ
    only by case or spaces, ids with spaces, and scores out of order. For captions it has words per
    caption, repeated and empty captions, and control characters. All files are checked. The exit
    code is 2 if one of them is invalid.

    Examples
    --------
    semmetrics validate preds.json gt.json
    semmetrics validate --format json gt.csv > gt.report.json
    semmetrics validate --classes labels.txt scores.npy
    semmetrics validate --task captions captions.json references.json
    """
    from semmetrics.studies import validation

    if run["order"] is not None and len(run["files"]) > 1:
        raise InputError("not-applicable", name="order", what="several files")
    read = run.values()["read"]
    records: list[dict[str, Any]] = []
    for path in run["files"]:
        is_first = not records
        records.append(_validate_file(run, path, read, is_first=is_first))
    has_errors = any(record["error"] for record in records)
    if run["order"] is not None and not has_errors:
        pairs = validation.tabulate_order(run["files"][0], read)
        path = run["order"]
        form = output.extension_of(path).removeprefix(".")
        with output.open_output(path) as out:
            pairs.write(out, form or run["form"])
    if run["form"] == "json":
        output.echo(output.to_json(records), "json")
    return 2 if has_errors else 0


def _validate_file(run: Run, path: str, read: Any, *, is_first: bool) -> dict[str, Any]:
    """Return the record of a file, and print its report or its error."""
    from semmetrics.studies import validation

    try:
        record = validation.validate(
            path, classes=run["classes"], task=run["task"], read=read
        )
        if run["form"] == "table":
            report = validation.report_validation(record)
            output.echo(report if is_first else f"\n{report}")
    except InputError as error:
        text = error.text(flag)
        complain(f"error: {text}")
        return {"schema": validation.VALIDATION_SCHEMA, "file": path, "error": text}
    return record
