"""Retrieval judged by phi, by the command line."""

import json

import numpy as np

import semmetrics

RNG = np.random.default_rng(5)
N = 12
SIMS, PHI = RNG.random((N, 60)), RNG.random((N, 60))
POSITIVES = [list(range(5 * row, 5 * row + 5)) for row in range(N)]


def test_the_command_line_takes_phi(tmp_path, ok):
    np.save(tmp_path / "sims.npy", SIMS)
    np.save(tmp_path / "phi.npy", PHI)
    (tmp_path / "positives.json").write_text(json.dumps(POSITIVES), encoding="utf-8")
    files = tmp_path / "sims.npy", tmp_path / "positives.json"
    text = ok(
        "score",
        *map(str, files),
        "--task",
        "retrieval",
        "--phi",
        f"x={tmp_path}/phi.npy",
        "-m",
        "NCS(phi=x)@5",
        "--format",
        "json",
    )
    found = json.loads(text)["scores"][0]["value"]
    here = semmetrics.score(
        SIMS, POSITIVES, task="retrieval", measures="NCS@5", phi=PHI
    )
    assert found == here[0].value
    text = ok(
        "score",
        *map(str, files),
        "--protocol",
        "biten2022",
        "--phi",
        f"{tmp_path}/phi.npy",
    )
    assert all(
        name in text for name in ("R@1", "N@10", "N@5, without GT", "Rsum", "Nsum")
    )
    text = ok("score", *map(str, files), "--protocol", "biten2022")
    assert "needs phi" in text


def test_pairs_takes_one_measure_and_files_in_their_order(tmp_path, refused):
    several = {"i1": ["a cat", "the cat"], "i2": ["two dogs"]}
    for name, content in (
        ("several", several),
        ("single", {"i1": "a cat", "i2": "dogs"}),
    ):
        (tmp_path / f"{name}.json").write_text(json.dumps(content), encoding="utf-8")
    files = f"{tmp_path}/several.json", f"{tmp_path}/single.json"
    out = ("-o", f"{tmp_path}/phi.npy")
    assert (
        refused("pairs", "--phi", "CIDEr", "-m", "BagSim", *out, *reversed(files)).code
        == "wrong-count"
    )
    assert refused("pairs", *out, *files).code == "swapped-files"
    assert not (tmp_path / "phi.npy").exists()
