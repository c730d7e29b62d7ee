"""A Ray cluster gives the scores of one process, even if one of its nodes dies."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from refusals import refused
from scaled import CI, asked, check_same, draw, shuffled, write

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
    """Start four nodes of one processor. Each stores the results of its tasks."""
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
    """Return a function that kills a node once a stage has begun."""
    killed = []

    def kill_in(stage):
        def advance(what, done, total):
            if what == stage and done == 1 and not killed:
                node = min(cluster.worker_nodes, key=str)
                cluster.remove_node(node, allow_graceful=False)
                killed.append(node)

        return advance

    yield kill_in
    assert killed
    cluster.add_node(num_cpus=1)


def write_in_three_files(folder, kind, form="jsonl", **options):
    """Write each side in three files, which have the items in different orders."""
    preds, gts = draw(kind, n=60, **options)
    sides = {"preds": shuffled(preds), "gts": gts}
    paths = []
    for name, side in sides.items():
        (folder / name).mkdir(parents=True)
        items = list(side.items())
        for k in range(3):
            write(folder / name / f"{k}.{form}", dict(items[k::3]), kind)
        paths.append(str(folder / name))
    return paths


# ---- nodes that die -----------------------------------------------------------------------------


@pytest.mark.parametrize("stage", ["reading", "scoring"])
@pytest.mark.parametrize("kind", ["labels", "captions", "classes"])
def test_if_a_node_dies_the_scores_are_those_of_one_process(
    tmp_path, killing, kind, stage
):
    paths = write_in_three_files(tmp_path, kind)

    table = score_dataset(*paths, partitions=9, advance=killing(stage), **asked(kind))

    check_same(table, score(*draw(kind, n=60), keep_rows=False, **asked(kind)))


def test_if_a_node_dies_matrices_are_scored_again(tmp_path, killing):
    rng = np.random.default_rng(0)
    pred = str(tmp_path / "preds.npy")
    phi = str(tmp_path / "phi.npy")
    np.save(pred, rng.random((40, 20)))
    np.save(phi, rng.random((40, 20)))
    truth = tmp_path / "truth.json"
    truth.write_text(json.dumps([[k % 20] for k in range(40)]))
    options = {
        "task": "retrieval",
        "phi": phi,
        **CI,
        "measures": ["HitRate@1", "NCS@2"],
        "direction": "both",
    }

    table = score_dataset(
        pred, str(truth), partitions=12, advance=killing("scoring"), **options
    )

    check_same(table, score(pred, str(truth), keep_rows=False, **options))


# ---- inputs -------------------------------------------------------------------------------------


def test_datasets_of_ray_are_scored(cluster):
    ray_data = pytest.importorskip("ray.data")
    preds, gts = draw("labels", n=30)
    datasets = []
    for side in (shuffled(preds), gts):
        table = pa.table({"id": [*side], "labels": [*side.values()]})
        datasets.append(ray_data.from_arrow(table).repartition(3))

    table = score_dataset(
        {"preds": datasets[0]}, datasets[1], partitions=4, **asked("labels")
    )

    check_same(table, score(preds, gts, keep_rows=False, **asked("labels")))


def test_one_machine_needs_no_cluster(tmp_path):
    ray = pytest.importorskip("ray")
    ray.shutdown()
    paths = write_in_three_files(tmp_path, "labels", "csv")
    for path in paths:
        Path(path, "empty.csv").write_text("id,label\n")
    steps = []

    try:
        table = score_dataset(
            *paths, advance=lambda *step: steps.append(step), **asked("labels")
        )
    finally:
        ray.shutdown()

    preds, gts = draw("labels", n=60)
    check_same(table, score(preds, gts, keep_rows=False, **asked("labels")))
    finished_stages = {what for what, done, total in steps if done == total}
    assert finished_stages == {"reading", "scoring"}


# ---- errors -------------------------------------------------------------------------------------


def error_of_a_cluster(paths):
    """Return the error of a cluster, which is the same as the error of one process."""
    with pytest.raises(InputError) as of_one_process:
        score_stream(*paths, measures="F1")
    with pytest.raises(InputError) as of_a_cluster:
        score_dataset(*paths, measures="F1", partitions=4)

    error = of_a_cluster.value
    assert error.code == of_one_process.value.code
    assert error.where == of_one_process.value.where
    return error


def test_an_error_names_the_file_and_the_line(tmp_path, cluster):
    paths = write_in_three_files(tmp_path, "labels")
    path = Path(paths[0], "1.jsonl")
    lines = path.read_text().splitlines(keepends=True)
    lines.insert(4, '{"id": "x", "labels": 7}\n')
    path.write_text("".join(lines))

    assert re.search(r"1\.jsonl.*line 5", error_of_a_cluster(paths).where)


def test_an_id_in_two_files_raises_an_error(tmp_path, cluster):
    paths = write_in_three_files(tmp_path, "labels")
    line = Path(paths[0], "0.jsonl").read_text().splitlines()[2]
    with Path(paths[0], "1.jsonl").open("a") as file:
        file.write(line + "\n")

    error = error_of_a_cluster(paths)

    assert error.code == "rows-apart"
    assert json.loads(line)["id"] in error.where


def test_resources_that_no_node_has_raise_an_error(tmp_path, cluster):
    paths = write_in_three_files(tmp_path, "labels")

    with refused("cluster-failed"):
        score_dataset(*paths, measures="F1", num_gpus=1)
