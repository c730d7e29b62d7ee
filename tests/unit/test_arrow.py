"""Partial sums of record batches: any partition gives one call, on any engine."""

from collections.abc import Iterable
from functools import partial

import numpy as np
import pyarrow as pa
import pytest
from refusals import refused
from scaled import CI, asked, check_same, draw

import semmetrics
from semmetrics import score
from semmetrics.scale.partitions import merge_states, partial_scores


def table_of(kind, n=60):
    """Return both sides in a row, and what one call takes."""
    preds, gts = draw(kind, n=n)
    if kind == "classes":
        preds, gts = ({i: one for i, (one,) in side.items()} for side in (preds, gts))
    given = asked(kind)
    if kind == "captions":
        given["doc_freq"] = semmetrics.fit_document_frequencies([*gts.values()])
    table = pa.table({"id": [*gts], "preds": [*preds.values()], "gts": [*gts.values()]})
    return table, (preds, gts), given


def scored(table, seed=0, columns=None, **given):
    """Score random partitions, each of some random batches; one has no row."""
    rng = np.random.default_rng(seed)
    part, parts = rng.integers(0, 5, len(table)), []
    for number in (3, 0, 5, 4, 1, 2):  # nothing is in 5
        rows = table.filter(pa.array(part == number))
        batches = rows.to_batches(max_chunksize=int(rng.integers(1, 9)))
        parts += partial_scores(iter(batches), columns=columns, **given)
    return merge_states(parts).compute()


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("kind", ["labels", "captions", "classes"])
def test_partitions_say_what_one_call_says(kind, seed):
    table, sides, given = table_of(kind)
    check_same(scored(table, seed, **given), score(*sides, keep_rows=False, **given))


def test_scores_weights_and_other_names():
    table, (preds, gts), _ = table_of("labels")
    rng, n = np.random.default_rng(1), len(table)
    values = [np.round(rng.random(len(some)), 2).tolist() for some in preds.values()]
    weight = rng.integers(0, 4, n) / 2
    names = {
        "id": "key",
        "preds": "out",
        "gts": "truth",
        "scores": "logits",
        "weights": "w",
    }
    short = pa.list_(pa.dictionary(pa.int8(), pa.string()))
    renamed = pa.table(
        {
            "w": weight,
            "truth": table["gts"],
            "key": table["id"].dictionary_encode(),
            "out": pa.array(table["preds"].to_pylist(), short),
            "logits": values,
            "ids": ["x"] * n,
        }
    )
    given = {
        "measures": ["F1", "Recall", "SemF1"],
        "task": "labels",
        "threshold": 0.4,
        **CI,
    }
    ranked = {
        i: list(map(list, zip(some, one, strict=True)))
        for (i, some), one in zip(preds.items(), values, strict=True)
    }
    whole = score(
        ranked,
        gts,
        weights=dict(zip(gts, weight.tolist(), strict=True)),
        keep_rows=False,
        **given,
    )
    check_same(scored(renamed, columns=names, **given), whole)


@pytest.mark.parametrize("type_", [pa.int64(), pa.string(), pa.large_string()])
def test_ids_are_texts_or_whole_numbers(type_):
    table, (preds, gts), _ = table_of("labels")
    ids = pa.array([str(10 * k) for k in range(len(table))]).cast(type_)
    found = scored(table.set_column(0, "id", ids), measures="F1", task="labels")
    preds, gts = (
        dict(zip(map(str, ids.to_pylist()), side.values(), strict=True))
        for side in (preds, gts)
    )
    check_same(found, score(preds, gts, measures="F1", keep_rows=False))


def test_what_is_wrong_is_refused():
    table, *_ = table_of("labels", n=4)
    twice, given = (
        pa.concat_tables([table, table.slice(2)]),
        {"measures": "F1", "task": "labels"},
    )
    for code, some, more in [
        ("rows-apart", twice, given),
        ("rows-apart", twice.combine_chunks(), given),
        ("needs-option", table, {}),
        ("missing-column", table.drop_columns("gts"), given),
        ("missing-column", table, {**given, "columns": {"scores": "logits"}}),
        ("bad-choice", table, {**given, "columns": {"role": "preds"}}),
    ]:
        with refused(code):
            next(partial_scores(some.to_batches(), **more))
    with refused("nothing-given"):
        merge_states([])
    part = next(partial_scores(table.to_batches(), **given))
    with refused("merged-twice"):
        merge_states([part, part["state"][0].as_py()])
    with refused("no-state"):
        merge_states([b"nothing"])


def on_spark(table, work):
    sql = pytest.importorskip("pyspark.sql")
    session = sql.SparkSession.builder.master("local[2]").config(
        "spark.ui.enabled", "false"
    )
    spark = session.getOrCreate()
    try:
        frame = spark.createDataFrame(table).repartition(3)
        return frame.mapInArrow(work, "state binary").toArrow()["state"].to_pylist()
    finally:
        spark.stop()


def on_dask(table, work):
    dask = pytest.importorskip("dask.dataframe")
    pandas = pytest.importorskip("pandas")

    def one(part):
        rows = pa.Table.from_pandas(part, preserve_index=False)
        return pa.Table.from_batches(work(rows.to_batches())).to_pandas()

    frame = dask.from_pandas(
        table.to_pandas(types_mapper=pandas.ArrowDtype), npartitions=3
    )
    return frame.map_partitions(one, meta={"state": object}).compute()["state"].tolist()


def on_fugue(table, work):
    fugue = pytest.importorskip("fugue.api")

    def one(tables: Iterable[pa.Table]) -> Iterable[pa.Table]:
        yield pa.Table.from_batches(
            work(b for some in tables for b in some.to_batches())
        )

    return fugue.as_arrow(fugue.transform(table, one, schema="state:binary"))[
        "state"
    ].to_pylist()


def on_ray(table, work):
    ray = pytest.importorskip("ray")
    data = pytest.importorskip("ray.data")

    def one(some):
        return pa.Table.from_batches(work(some.to_batches()))

    ray.init("local", num_cpus=2, include_dashboard=False, log_to_driver=False)
    try:
        rows = data.from_arrow(table).repartition(3)
        found = rows.map_batches(one, batch_format="pyarrow", batch_size=None)
        return [row["state"] for row in found.take_all()]
    finally:
        ray.shutdown()


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("engine", [on_spark, on_dask, on_fugue, on_ray])
def test_engines_say_what_one_call_says(engine):
    table, sides, given = table_of("labels", n=300)
    found = merge_states(engine(table, partial(partial_scores, **given))).compute()
    check_same(found, score(*sides, keep_rows=False, **given))
