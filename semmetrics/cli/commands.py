"""The commands ``score``, ``merge`` and ``compare``."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from semmetrics.cli import output
from semmetrics.cli.generate import SCALED, SCORES, command
from semmetrics.cli.output import EXACT
from semmetrics.cli.run import Run
from semmetrics.errors import InputError
from semmetrics.messages import listing, pluralize
from semmetrics.options import COMMAND_OPTIONS, KINDS, OPTIONS, flag

if TYPE_CHECKING:
    from semmetrics.scoring.table import ScoreTable

_DETAILS = [
    name
    for name, option in COMMAND_OPTIONS["score"].items()
    if option.output_extensions and name != "state"
]
"""Options of ``score`` that write details to a file, each a method of `ScoreTable`."""
_TESTING = ("baseline", "test", "correction")
"""Options of ``compare`` that are not options of a score."""


# ---- score and merge --------------------------------------------------------


@command("score", {"preds": "PRED...?", "gt": "GT?"}, reads=KINDS, output=SCORES)
def score(run: Run) -> None:
    r"""Score predictions against ground truth.

    Each PRED file is a system, named after its file. The last file is the ground truth (GT). Items
    are joined by id. "-" is standard input, and all formats can be gzipped (.gz).

    Labels: JSON ({"id": ["label", ...]}), JSONL, CSV, TSV, Parquet, COCO instances, or a matrix
    (.npy, .npz).

    Captions: {"id": "caption"} against {"id": ["reference", ...]}, COCO results and annotations,
    JSONL, CSV, TSV, Parquet, or lines of text.

    Retrieval (--task retrieval): PRED has a matrix of similarities (.npy, .npz, .h5, JSON), ranked
    lists, or a TREC run. GT has the positives: {"query": ["candidate", ...]}.

    Classes (--task classes): PRED has a matrix of scores, or a class or ranked classes for each
    image. GT has the class of each image, for example one per line (.txt).

    Without -m and --protocol, default measures are computed. With --top-k 1,3,5, F1 stands for
    F1@1, F1@3 and F1@5.

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
    has_predictions = bool(run["preds"]) or _replaces_predictions(run)
    if run["gt"] is None or not has_predictions:
        raise click.UsageError(
            "Give at least one file of predictions and, last, the ground truth."
        )
    run.check_positions("preds", "gt")
    if any(run[name] for name in ("stream", "shard", "state", "engine")):
        _score_parts(run)
    else:
        _score_all(run)


def _score_all(run: Run) -> None:
    """Score all items at once, and write the scores."""
    from semmetrics.scoring.rescore import rescore_systems
    from semmetrics.scoring.score import score_systems

    needs_items = any(run[name] is not None for name in ("worst", "html", *_DETAILS))
    options = run.values()
    options["keep_rows"] = needs_items or bool(run.plots)
    measures_are_fixed = run["protocol"] is not None or run["rescore"] is not None
    if run["classification_report"] and not measures_are_fixed:
        options.setdefault("measures", ["MacroF1"])
    compute: Callable[..., ScoreTable] = score_systems
    if run["rescore"] is not None:
        compute = partial(rescore_systems, run["rescore"])
    with run.progress() as progress:
        table = compute(run.systems(), run["gt"], progress=progress, **options)
    _write_table(run, table)


def _replaces_predictions(run: Run) -> bool:
    """Return whether an option such as ``--queries-embeddings`` replaces the predictions."""
    for name, option in OPTIONS.items():
        if option.replaces_predictions and run[name] is not None:
            return True
    return False


@command("merge", {"states": "STATE..."}, output=SCORES, imports=True)
def merge(run: Run) -> None:
    """Merge states of parts of the data, and print the scores of all data.

    Each STATE is a file of 'semmetrics score --state' for some items of one or more systems. The
    scores equal those of one run with all items, to the last digit. With --state, the merged
    state is written instead of scores.

    Examples
    --------
    semmetrics score --stream --shard 1/8 --state part-1.state preds.jsonl gt.jsonl
    semmetrics merge part-*.state
    semmetrics merge --state left.state part-1.state part-2.state
    """
    from semmetrics.scoring.scorer import Scorer

    scorer = Scorer.load(*run["states"], max_bytes=run["max_bytes"])
    _write_sums(run, scorer)


# ---- parts of the data ------------------------------------------------------


def _score_parts(run: Run) -> None:
    """Score items without storing them, and write the sums or the scores."""
    for name in ("rescore", "classification_report", "worst", *_DETAILS):
        if run[name]:
            raise InputError(
                "not-applicable",
                name=name,
                what="items that are not stored",
                fix="remove --stream, --shard, --state and --engine",
            )
    if run["engine"] is not None:
        for name in ("stream", "shard", "state"):
            if run[name]:
                raise InputError(
                    "not-applicable", name=name, what="--engine", fix="remove one"
                )
        _write_table(run, _score_on_cluster(run))
        return
    if run["stream"]:
        scorer = _score_stream(run, shard=run["shard"])
    else:
        scorer = _score_shard(run)
    if run["shard"] and run["state"] is None:
        output.report([f"shard {run['shard']} alone"], quiet=run.quiet)
    _write_sums(run, scorer)


def _score_on_cluster(run: Run) -> ScoreTable:
    """Return scores that tasks of Ray computed."""
    from semmetrics.scale.cluster import score_dataset

    settings = {}
    for name in ("address", "num_gpus"):
        if run[name] is not None:
            settings[name] = run[name]
    with output.show_progress(quiet=run.quiet, at_once=True) as progress:
        advance = partial(_show_tasks, progress)
        return score_dataset(
            run.systems(), run["gt"], advance=advance, **settings, **run.values()
        )


def _show_tasks(
    progress: output.Progress | None, what: str, done: int, total: int
) -> None:
    """Show how many tasks are done."""
    if progress is not None:
        progress(done, total, prefix=what, unit="task")


def _score_shard(run: Run) -> Any:
    """Return the scorer of files that are read as a whole, for one shard or all items."""
    from semmetrics.scoring.scorer import Scorer

    options = run.values()
    options["keep_rows"] = False
    weights = options.pop("weights", None)
    scorer = Scorer(**options)
    for system, path in run.systems().items():
        scorer.update(
            path, run["gt"], system=system, shard=run["shard"], weights=weights
        )
    return scorer


class _StreamProgress:
    """Shows how much of a stream is read, and counts the scored items."""

    def __init__(self, progress: output.Progress | None) -> None:
        self._progress = progress
        self.n_items = 0

    def __call__(self, what: str, read: int, items: int, size: int | None) -> None:
        """Show the number of bytes that are read, of ``size`` bytes if it is known."""
        self.n_items = items
        if self._progress is None:
            return
        labels = {
            "unit": "B",
            "unit_scale": True,
            "postfix": pluralize(items, "item"),
        }
        self._progress(read, size or 0, prefix=what, **labels)


def _score_stream(run: Run, **settings: Any) -> Any:
    """Return the scorer of files that are read block by block."""
    from semmetrics.scale.stream import score_stream

    systems: dict[str, Any] = {}
    if run["preds"]:
        systems = run.systems()
    _note_numbered_files(run, systems)
    with output.show_progress(quiet=run.quiet, at_once=True) as progress:
        advance = _StreamProgress(progress)
        try:
            options = run.values(*_TESTING)
            return score_stream(
                systems, run["gt"], advance=advance, **options, **settings
            )
        except KeyboardInterrupt:
            n_items = pluralize(advance.n_items, "item")
            output.complain(f"{n_items} were scored, but nothing is written")
            raise


def _note_numbered_files(run: Run, systems: dict[str, Any]) -> None:
    """Report systems whose names differ only by numbers, which may be parts of one system."""
    names = []
    for name, path in systems.items():
        if path in run["preds"] and Path(path).is_file():
            names.append(name)
    names_without_numbers = {re.sub(r"\d+", "", name) for name in names}
    if len(names) > 1 and len(names_without_numbers) == 1:
        hint = "are scored as systems. To score them as one, quote a pattern."
        output.report([f"{listing(names)} {hint}"], quiet=run.quiet)


def _write_sums(run: Run, scorer: Any) -> None:
    """Write the scores of a scorer, or its sums if ``--state`` is set."""
    if run["state"] is None:
        _write_table(run, scorer.compute())
        return
    conflicting = {
        "plot": bool(run.plots),
        "html": bool(run["html"]),
        "output": bool(run["output"]),
        "form": run["form"] != "table",
    }
    for name, is_set in conflicting.items():
        if is_set:
            raise InputError(
                "not-applicable",
                name=name,
                what="--state",
                fix="write the scores with `semmetrics merge`",
            )
    scorer.save(run["state"], shard=run["shard"])
    output.echo(f"{run['state']}: {pluralize(len(scorer), 'item')}")


# ---- the result of a score --------------------------------------------------


def _write_table(run: Run, table: ScoreTable) -> None:
    """Write scores, files of details, and notes. Raise an error if there are no scores."""
    if not table.scores:
        lines = [f"\n  {entry.heading}: {entry.reason}" for entry in table.not_computed]
        raise InputError("nothing-computed", reasons="".join(lines))
    output.report_inputs(table, quiet=run.quiet)
    worst, details = _collect_details(run, table)
    run.write_text(_render(run, table, worst), details, result=table)
    _report_remarks(run, table, worst)


def _collect_details(run: Run, table: ScoreTable) -> tuple[list[str], dict[str, Any]]:
    """Return the rendered table of the worst items, if requested, and other files by path."""
    from semmetrics.scoring.table_text import draw_worst

    worst: list[str] = []
    details: dict[str, Any] = {}
    for name in ("worst", *_DETAILS):
        value = run[name]
        if value is None:
            continue
        try:
            if name == "worst":
                worst = [draw_worst(table, value, **run.shape)]
                continue
            records = getattr(table, name)()
        except InputError as error:
            raise error.placed(flag(name)) from None
        if name == "matches" and len(table.systems) == 1:
            records = records.drop("system")
        details[value] = records
    return worst, details


def _render(run: Run, table: ScoreTable, worst: Sequence[str]) -> str:
    """Return the result in the format of ``--format``."""
    from semmetrics.scoring.runs import draw_runs

    form = run["form"]
    if run["graded"] and (run["runs"] or form in ("table", "json")):
        what = "--runs" if run["runs"] else f"the format {form}"
        raise InputError("not-applicable", name="graded", what=what)
    if run["classification_report"]:
        return _render_classification_report(run, table, worst)
    if run["runs"]:
        return draw_runs(table, form, spell=flag, **run.shape)
    if form == "json":
        return _render_json(run, table)
    if form == "table":
        return _render_for_terminal(run, table, worst)
    return table.render(form, graded=run["graded"], systems=run["systems"], **run.shape)


def _render_classification_report(
    run: Run, table: ScoreTable, worst: Sequence[str]
) -> str:
    """Return the values of each label, followed by the worst items."""
    from semmetrics.scoring.classification_report import draw_report

    for name in ("runs", "graded"):
        if run[name]:
            raise InputError(
                "not-applicable", name=name, what="--classification-report"
            )
    report = draw_report(table.classification_report(), run["form"], **run.shape)
    if run["form"] != "table":
        return report
    return "\n\n".join([report, *worst])


def _render_json(run: Run, table: ScoreTable) -> str:
    """Return the result as JSON, with the path of per-item values."""
    entry = table._entry(flag)
    for score_entry, score_of_table in zip(entry["scores"], table, strict=True):
        if run["per_item"] is not None and score_of_table.items is not None:
            score_entry["rows"] = run["per_item"]
    return output.to_json(entry)


def _render_for_terminal(run: Run, table: ScoreTable, worst: Sequence[str]) -> str:
    """Return the table of scores with the remarks below it."""
    from semmetrics.scoring.table_text import draw_systems, report_gaps, report_shared

    width = None
    if run["output"] is None and sys.stdout.isatty():
        import shutil

        width = shutil.get_terminal_size().columns
    scores = draw_systems(table, width=width, systems=run["systems"], **run.shape)
    parts = [scores, *report_gaps(table), *worst]
    if len(table):
        parts.append(report_shared(table))
    if run["signatures"]:
        parts.append(_draw_signatures(table))
    return "\n\n".join(parts)


def _draw_signatures(table: ScoreTable) -> str:
    from semmetrics.reports import draw_signatures

    return draw_signatures(table.to_records().drop("part"))


def _report_remarks(run: Run, table: ScoreTable, worst: Sequence[str]) -> None:
    """Report remarks that the output does not contain, and options without effect."""
    from semmetrics.scoring.label_records import find_matching_heading

    form = run["form"]
    if form != "table" or run["runs"]:
        _report_omitted_remarks(run, table, worst)
    lines = []
    if run["runs"]:
        lines += _list_remarks_on_runs(table)
    if _has_ignored_precision(run):
        lines.append(f"--percent and --digits have no effect on {form}: full precision")
    if run["matches"] is not None:
        heading = find_matching_heading(table.scores)
        lines.append(f"{run['matches']}: the matches of {heading}")
    lines += [f"warning: {line}" for line in table.differences]
    output.report(lines, quiet=run.quiet)


def _report_omitted_remarks(run: Run, table: ScoreTable, worst: Sequence[str]) -> None:
    """Report the remarks that a table would have below the scores."""
    from semmetrics.scoring.table_text import report_gaps

    output.report(output.split_lines(report_gaps(table)), quiet=run.quiet)
    texts = list(worst)
    if run["signatures"] and run["form"] not in EXACT:
        texts.append(_draw_signatures(table))
    output.report(output.split_lines(texts), quiet=run.quiet)


def _has_ignored_precision(run: Run) -> bool:
    """Return whether the number of digits or the scale is set for a format of full precision."""
    if run["form"] not in EXACT:
        return False
    if run["form"] == "csv" and run["systems"] is not None:
        return False  # A table of systems has rounded values
    return bool(run["percent"]) or run["digits"] is not None


def _list_remarks_on_runs(table: ScoreTable) -> list[str]:
    """Return the remarks on the result of ``--runs``."""
    lines = []
    if any(score.ci is not None for score in table):
        lines.append("--ci has no effect on the result of --runs")
    if len(table.systems) == 1:
        lines.append(
            "a single run has no standard deviation: give the file of each run"
        )
    return lines


# ---- compare ----------------------------------------------------------------


@command("compare", {"preds": "PRED PRED...?", "gt": "GT?"}, reads=KINDS, output=SCALED)
def compare(run: Run) -> None:
    """Compare systems, and test whether their differences are significant.

    Each PRED file is a system, named after its file. The last file is the ground truth (GT), as for
    'semmetrics score'. Each system is compared with all systems before it. With --baseline, all
    systems are compared only with this one. A row has the difference of a measure, its
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
    if run["table"]:
        _compare_tables(run)
        return
    from semmetrics.studies.comparison_table import draw_differing, draw_rank_matrix
    from semmetrics.studies.comparisons import compare as compare_systems

    shape = run.shape
    table = _read_scores_to_compare(run)
    if table is None:
        comparison = run.call(compare_systems, run.systems(), run["gt"])
    else:
        settings = {name: run[name] for name in _TESTING}
        comparison = compare_systems(table, None, **settings)
        output.report_inputs(comparison, quiet=run.quiet)
    texts = []
    if run["ranks"]:
        texts.append(draw_rank_matrix(comparison, digits=shape["digits"]))
    if run["differing"] is not None:
        texts.append(draw_differing(comparison, run["differing"], **shape))
    run.write(comparison, texts)


def _read_scores_to_compare(run: Run) -> ScoreTable | None:
    """Return the scores of states or of a stream, or None for files that are read as a whole."""
    table = None
    if run["gt"] is not None and run["gt"].endswith(".state"):
        table = _load_states(run)
    else:
        run.needs(
            "Give files of predictions and, last, the ground truth. Or give states, or --table.",
            "preds",
            "gt",
        )
        run.check_positions("preds", "gt")
    if run["stream"]:
        try:
            table = _score_stream(run, ci=True).compute()
        except InputError as error:
            if error.code in ("missing-ids", "missing-entries"):
                # Systems need the same items.
                error.values.update(policy="common", how=" without --stream")
            raise
    return table


def _load_states(run: Run) -> ScoreTable:
    """Return the scores of states. Options of a score raise an error, as states contain them."""
    from semmetrics.scoring.scorer import Scorer

    for name in run.values(*_TESTING):
        if name != "read":
            raise InputError(
                "not-applicable",
                name=name,
                what="states",
                fix="set it in `semmetrics score`, which writes them",
            )
    scorer = Scorer.load(*run["preds"], run["gt"], max_bytes=run["max_bytes"])
    return scorer.compute()


def _compare_tables(run: Run) -> None:
    """Compare the values of ``--table``."""
    from semmetrics.studies.values import compare_values, draw_values

    for name in (
        "preds",
        "gt",
        "differing",
        "ranks",
        "signatures",
        "percent",
        "html",
    ):
        if run[name]:
            raise InputError("not-applicable", name=name, what="--table")
    if len(run["measures"]) > 1:
        raise InputError(
            "wrong-count", "-m", found="several measures", wanted="--table"
        )
    tables = output.name_systems(run["table"], "--table")
    if len(tables) == 1:
        tables = run["table"][0]
    measure = None
    if run["measures"]:
        measure = run["measures"][0]
    # ``run.call`` must not parse the measure of a table, since its name may have spaces.
    run.params["measures"] = ()
    test = run["test"]
    if test == "interval":
        test = "t"  # The interval of a mean is Student's
    comparison = run.call(
        compare_values, tables, measure=measure, table=None, test=test
    )
    text = draw_values(comparison, run["form"], digits=run.shape["digits"])
    run.write_text(text, result=comparison)
