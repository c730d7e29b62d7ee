"""Partial scores of record batches: any partition gives the scores of one call, on any engine."""

from collections.abc import Iterable
from functools import partial
from itertools import chain

import numpy as np
import pyarrow as pa
import pytest
from refusals import refused
from scaled import asked, check_same, draw

import semmetrics
from semmetrics import score
from semmetrics.scale.partitions import merge_states, partial_scores

OPTIONS = {"measures": "F1", "task": "labels"}


def table_of(preds, gts, **columns):
    """Return a table with a row for each item."""
    rows = {"id": list(gts), "preds": list(preds.values()), "gts": list(gts.values())}
    return pa.table({**rows, **columns})


def score_partitions(table, seed=0, **options):
    """Score random batches of five random partitions, and an empty one."""
    rng = np.random.default_rng(seed)
    partition_of_row = rng.integers(0, 5, len(table))
    parts = []
    for number in range(6):
        rows = table.filter(pa.array(partition_of_row == number))
        batches = rows.to_batches(max_chunksize=int(rng.integers(1, 9)))
        parts += partial_scores(iter(batches), **options)
    return merge_states(parts).compute()


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("kind", ["labels", "captions", "classes"])
def test_partitions_have_the_scores_of_one_call(kind, seed):
    preds, gts = draw(kind, n=60)
    options = asked(kind)
    if kind == "classes":
        preds = {id_: labels[0] for id_, labels in preds.items()}
        gts = {id_: labels[0] for id_, labels in gts.items()}
    if kind == "captions":
        options["doc_freq"] = semmetrics.fit_document_frequencies(list(gts.values()))

    table = score_partitions(table_of(preds, gts), seed, **options)

    check_same(table, score(preds, gts, keep_rows=False, **options))


def test_columns_may_have_scores_weights_and_other_names():
    columns = {
        "key": pa.array(["a", "b"]).dictionary_encode(),
        "out": [["cat", "dog"], ["bus"]],
        "logits": [[0.3, 0.6], [0.9]],
        "truth": [["cat"], ["bus"]],
        "w": [3.0, 1.0],
    }
    names = {"id": "key", "preds": "out", "gts": "truth"}
    names |= {"scores": "logits", "weights": "w"}
    preds = {"a": [["cat", 0.3], ["dog", 0.6]], "b": [["bus", 0.9]]}
    options = {"measures": ["F1@1", "SemF1"], "task": "labels", "threshold": 0.4}

    partitioned = score_partitions(pa.table(columns), columns=names, **options)

    options |= {"weights": {"a": 3.0, "b": 1.0}, "keep_rows": False}
    truth = {"a": ["cat"], "b": ["bus"]}
    check_same(partitioned, score(preds, truth, **options))


SMALL_TABLE = table_of({"a": ["x"], "b": ["y"]}, {"a": ["x"], "b": ["x"]})
REPEATED = pa.concat_tables([SMALL_TABLE, SMALL_TABLE.slice(1), SMALL_TABLE])


@pytest.mark.parametrize(
    ("table", "options", "code"),
    [
        (REPEATED, OPTIONS, "rows-apart"),
        (REPEATED.combine_chunks(), OPTIONS, "rows-apart"),
        (SMALL_TABLE, {}, "needs-option"),
        (SMALL_TABLE.drop_columns("gts"), OPTIONS, "missing-column"),
        (SMALL_TABLE, {**OPTIONS, "columns": {"scores": "p"}}, "missing-column"),
        (SMALL_TABLE, {**OPTIONS, "columns": {"role": "preds"}}, "bad-choice"),
    ],
)
def test_wrong_tables_and_options_are_an_error(table, options, code):
    with refused(code):
        next(partial_scores(table.to_batches(), **options))


def test_states_that_cannot_be_merged_are_an_error():
    part = next(partial_scores(SMALL_TABLE.to_batches(), **OPTIONS))

    with refused("nothing-given"):
        merge_states([])
    with refused("merged-twice"):
        merge_states([part, part["state"][0].as_py()])
    with refused("no-state"):
        merge_states([b"nothing"])


# Engines


def run_on_spark(table, score_batches):
    sql = pytest.importorskip("pyspark.sql")
    session = sql.SparkSession.builder.master("local[2]")
    spark = session.config("spark.ui.enabled", "false").getOrCreate()
    try:
        frame = spark.createDataFrame(table).repartition(3)
        states = frame.mapInArrow(score_batches, "state binary").toArrow()
        return states["state"].to_pylist()
    finally:
        spark.stop()


def run_on_dask(table, score_batches):
    dask = pytest.importorskip("dask.dataframe")
    pandas = pytest.importorskip("pandas")

    def score_frame(frame):
        rows = pa.Table.from_pandas(frame, preserve_index=False)
        return pa.Table.from_batches(score_batches(rows.to_batches())).to_pandas()

    frame = table.to_pandas(types_mapper=pandas.ArrowDtype)
    partitions = dask.from_pandas(frame, npartitions=3)
    states = partitions.map_partitions(score_frame, meta={"state": object})
    return states.compute()["state"].tolist()


def run_on_fugue(table, score_batches):
    fugue = pytest.importorskip("fugue.api")

    def score_tables(tables: Iterable[pa.Table]) -> Iterable[pa.Table]:
        batches = chain.from_iterable(map(pa.Table.to_batches, tables))
        yield pa.Table.from_batches(score_batches(batches))

    states = fugue.transform(table, score_tables, schema="state:binary")
    return fugue.as_arrow(states)["state"].to_pylist()


def run_on_ray(table, score_batches):
    ray = pytest.importorskip("ray")
    data = pytest.importorskip("ray.data")

    def score_rows(rows):
        return pa.Table.from_batches(score_batches(rows.to_batches()))

    ray.init("local", num_cpus=2, include_dashboard=False, log_to_driver=False)
    try:
        rows = data.from_arrow(table).repartition(3)
        states = rows.map_batches(score_rows, batch_format="pyarrow", batch_size=None)
        return [row["state"] for row in states.take_all()]
    finally:
        ray.shutdown()


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    "run_on_engine", [run_on_spark, run_on_dask, run_on_fugue, run_on_ray]
)
def test_an_engine_has_the_scores_of_one_call(run_on_engine):
    preds, gts = draw("labels", n=300)
    score_batches = partial(partial_scores, **asked("labels"))

    states = run_on_engine(table_of(preds, gts), score_batches)

    whole = score(preds, gts, keep_rows=False, **asked("labels"))
    check_same(merge_states(states).compute(), whole)
