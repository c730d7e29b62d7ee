"""Scores of a cluster, of which a node may die: the digits of one process."""

import json
import re
import time

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet
from refusals import refused
from scaled import CI, MEASURES, asked, check_same, draw, shuffled, write

from semmetrics import InputError, score
from semmetrics.scale.cluster import score_dataset
from semmetrics.scale.stream import score_stream

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore")]
# A killed node is noticed after 10 s. On a busy machine, a live one can take seconds to answer.
HEALTH_CHECK = {
    "health_check_initial_delay_ms": 0,
    "health_check_period_ms": 1000,
    "health_check_failure_threshold": 10,
}


@pytest.fixture(scope="module")
def cluster():
    """Four nodes of one processor; all that tasks return lies on the node that ran them."""
    ray = pytest.importorskip("ray")
    from ray.cluster_utils import Cluster

    head = {
        "num_cpus": 1,
        "_system_config": {**HEALTH_CHECK, "max_direct_call_object_size": 100},
    }
    nodes = Cluster(initialize_head=True, head_node_args=head)
    for _ in range(3):
        nodes.add_node(num_cpus=1)
    ray.init(nodes.address, log_to_driver=False)
    yield nodes
    ray.shutdown()
    nodes.shutdown()


@pytest.fixture
def killing(cluster):
    """Kill a node once a stage has begun; another takes its place later."""
    killed = []

    def at(stage):
        def advance(what, done, total):
            if what == stage and done == 1 and not killed:
                killed.append(sorted(cluster.worker_nodes, key=str)[0])
                cluster.remove_node(killed[0], allow_graceful=False)

        return advance

    yield at
    assert killed
    cluster.add_node(num_cpus=1)


def write_parts(folder, kind, form="jsonl", files=3, **options):
    """Write both sides in several files each, which have items in other orders."""
    found = []
    for name, side in zip(("preds", "gts"), draw(kind, n=60, **options), strict=True):
        (folder / name).mkdir()
        items = [*(shuffled(side) if name == "preds" else side).items()]
        for k in range(files):
            write(folder / name / f"{k}.{form}", dict(items[k::files]), kind)
        found.append(str(folder / name))
    return found


@pytest.mark.parametrize(
    ("kind", "stage", "measures"),
    [
        *(
            (kind, stage, MEASURES[kind])
            for kind in ("labels", "captions", "classes")
            for stage in ("reading", "scoring")
        ),
        ("captions", "scoring", ["SPICE(parser=offline)"]),
    ],
)
def test_a_node_dies_and_the_digits_are_those_of_one_process(
    tmp_path, killing, kind, stage, measures
):
    pair, given = write_parts(tmp_path, kind), {**asked(kind), "measures": measures}
    found = score_dataset(*pair, partitions=9, advance=killing(stage), **given)
    check_same(found, score(*draw(kind, n=60), keep_rows=False, **given))


def test_a_node_dies_while_matrices_are_scored(tmp_path, killing):
    rng = np.random.default_rng(0)
    for name in ("preds", "phi"):
        np.save(tmp_path / f"{name}.npy", rng.random((40, 20)))
    truth = tmp_path / "truth.json"
    truth.write_text(json.dumps([[k % 20] for k in range(40)]), encoding="utf-8")
    given = {
        "task": "retrieval",
        "phi": str(tmp_path / "phi.npy"),
        **CI,
        "measures": ["HitRate@1", "NCS@2"],
        "direction": "both",
    }
    pair = str(tmp_path / "preds.npy"), str(truth)
    found = score_dataset(*pair, partitions=12, advance=killing("scoring"), **given)
    check_same(found, score(*pair, keep_rows=False, **given))


def test_datasets_of_ray(cluster):
    data, sides = pytest.importorskip("ray.data"), draw("labels", n=30)
    pair = [
        data.from_arrow(
            pa.table({"id": [*some], "labels": [*some.values()]})
        ).repartition(3)
        for some in (shuffled(sides[0]), sides[1])
    ]
    found = score_dataset({"preds": pair[0]}, pair[1], partitions=4, **asked("labels"))
    check_same(found, score(*sides, keep_rows=False, **asked("labels")))


def test_what_is_wrong_is_refused_as_by_one_process(tmp_path, cluster):
    def refusal(preds, gts):
        errors = []
        for call, more in ((score_stream, {}), (score_dataset, {"partitions": 4})):
            with pytest.raises(InputError) as caught:
                call(preds, gts, measures="F1", **more)
            errors.append(caught.value)
        assert [errors[0].code, errors[0].where] == [errors[1].code, errors[1].where]
        return errors[1]

    pair = write_parts(tmp_path, "labels")
    bad = tmp_path / "preds" / "1.jsonl"
    lines = bad.read_text(encoding="utf-8").splitlines(keepends=True)
    bad.write_text(
        "".join([*lines[:4], '{"id": "x", "labels": 7}\n', *lines[4:]]),
        encoding="utf-8",
    )
    assert re.search(r"1\.jsonl.*line 5", refusal(*pair).where)
    other = (tmp_path / "preds" / "0.jsonl").read_text(encoding="utf-8").splitlines()[2]
    bad.write_text("".join([*lines[:4], *lines[5:], other + "\n"]), encoding="utf-8")
    error = refusal(*pair)
    assert (error.code, json.loads(other)["id"] in error.where) == ("rows-apart", True)
    (tmp_path / "tables").mkdir()
    pair = write_parts(tmp_path / "tables", "labels", "parquet", prefix="")
    bad = tmp_path / "tables" / "preds" / "2.parquet"
    good, table = bad.read_bytes(), parquet.read_table(bad)
    parquet.write_table(table.set_column(0, "id", table["id"].cast(pa.int64())), bad)
    assert refusal(*pair).code == "other-column"
    bad.write_bytes(good[:-20])
    assert "2.parquet" in refusal(*pair).where
    with refused("cluster-failed"):
        score_dataset(*pair, measures="F1", num_gpus=1)


def test_one_machine(tmp_path):
    ray = pytest.importorskip("ray")
    ray.shutdown()
    try:
        pair, steps = write_parts(tmp_path, "labels", "csv"), []
        for name in ("preds", "gts"):  # a part without items
            (tmp_path / name / "9.csv").write_text("id,label\n", encoding="utf-8")
        found = score_dataset(
            *pair, advance=lambda *step: steps.append(step), **asked("labels")
        )
    finally:
        ray.shutdown()
    check_same(found, score(*draw("labels", n=60), keep_rows=False, **asked("labels")))
    assert {what for what, done, total in steps if done == total} == {
        "reading",
        "scoring",
    }


@pytest.mark.parametrize(
    "address", ["127.0.0.1:1", "ray://127.0.0.1:1", "127.0.0.1:99999"]
)
def test_an_address_that_nothing_answers_at(tmp_path, address):
    ray = pytest.importorskip("ray")
    ray.shutdown()
    start = time.monotonic()
    with refused("no-cluster"):
        score_dataset(
            *write_parts(tmp_path, "labels", "csv"), address=address, measures="F1"
        )
    assert time.monotonic() - start < 60
