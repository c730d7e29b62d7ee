"""Retrieval judged by phi, by the command line."""

import json
import re

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
    text = ok("score", *map(str, files), "--task", "retrieval", "--phi", f"x={tmp_path}/phi.npy",
              "-m", "NCS(phi=x)@5", "--format", "json")  # fmt: skip
    found = json.loads(text)[0]["value"]
    here = semmetrics.score(SIMS, POSITIVES, task="retrieval", measures="NCS@5", phi=PHI)
    assert found == here[0].value
    text = ok("score", *map(str, files), "--protocol", "biten2022", "--phi", f"{tmp_path}/phi.npy")
    assert all(name in text for name in ("R@1", "N@10", "N@5, without GT", "Rsum", "Nsum"))
    text = ok("score", *map(str, files), "--protocol", "biten2022")
    assert "needs phi" in text


def test_the_command_line_computes_it(tmp_path, ok):
    captions = {f"c{one}": f"a {one % 7} on the {one % 5} mat {one % 3}" for one in range(60)}
    positives = {f"i{row}": [f"c{one}" for one in some] for row, some in enumerate(POSITIVES)}
    names = {"queries": [*positives], "gallery": [*captions]}
    np.save(tmp_path / "sims.npy", SIMS)
    for name, content in (("positives", positives), ("captions", captions)):
        (tmp_path / f"{name}.json").write_text(json.dumps(content), encoding="utf-8")
    for name, lines in names.items():
        (tmp_path / f"{name}.txt").write_text("\n".join(lines), encoding="utf-8")
    references = {i: [captions[c] for c in some] for i, some in positives.items()}
    (tmp_path / "references.json").write_text(json.dumps(references), encoding="utf-8")
    command = ["score", f"{tmp_path}/sims.npy", f"{tmp_path}/positives.json", "--task", "retrieval",
               "--queries", f"{tmp_path}/queries.txt", "--gallery", f"{tmp_path}/gallery.txt",
               "--format", "json", "--direction", "both", "-m", "NCS@5 Nsum"]  # fmt: skip
    found = ok(*command, "--captions", f"{tmp_path}/captions.json", "--phi", "CIDEr(stem=porter)")
    ok("pairs", "--phi", "CIDEr(stem=porter)", "-o", f"{tmp_path}/phi.npy",
       f"{tmp_path}/captions.json", f"{tmp_path}/references.json")  # fmt: skip
    given = ok(*command, "--phi", f"{tmp_path}/phi.npy")
    first, second = ([one["value"] for one in json.loads(text)] for text in (found, given))
    assert first == second


def test_pairs_say_what_they_are_of(tmp_path, run):
    for name, content in (("c", {"1": "a cat"}), ("r", {"i1": ["a cat", "the cat"]})):
        (tmp_path / f"{name}.json").write_text(json.dumps(content), encoding="utf-8")
    files = ("--tokenizer", "whitespace", f"{tmp_path}/c.json", f"{tmp_path}/r.json")
    result = run("pairs", "-m", "CIDEr(stem=porter)", "-o", f"{tmp_path}/phi.npy", *files)
    (phi,) = re.findall(r"phi.npy: 1 x 1, float64, (CIDEr\(stem=porter\);tok:whitespace;df@\S+)",
                        result.stdout)  # fmt: skip
    beside = json.loads((tmp_path / "phi.npy.ids.json").read_text(encoding="utf-8"))
    assert beside == {"phi": phi, "images": ["i1"], "captions": ["1"]}
    best = run("pairs", "-m", "CIDEr(stem=porter)", "--top-k", "1", "-o", "-", *files)
    assert f"phi is {phi}" in best.stderr


def test_pairs_takes_one_measure_and_files_in_their_order(tmp_path, refused):
    several = {"i1": ["a cat", "the cat"], "i2": ["two dogs"]}
    for name, content in (("several", several), ("single", {"i1": "a cat", "i2": "dogs"})):
        (tmp_path / f"{name}.json").write_text(json.dumps(content), encoding="utf-8")
    files = f"{tmp_path}/several.json", f"{tmp_path}/single.json"
    out = ("-o", f"{tmp_path}/phi.npy")
    assert (
        refused("pairs", "--phi", "CIDEr", "-m", "BagSim", *out, *reversed(files)).code
        == "wrong-count"
    )
    assert refused("pairs", *out, *files).code == "swapped-files"
    assert not (tmp_path / "phi.npy").exists()
