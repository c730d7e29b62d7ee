"""The command meta: what it prints, its formats, and the same values as from Python."""

import json


def test_ratings_of_ids(run, tmp_path):
    (tmp_path / "r.csv").write_text("image name,stars\n1.jpg,5\n2.jpg,1\n3.jpg,4\n")
    sides = {
        "p": {"1": ["cat"], "2": ["dog", "bus"], "3": ["cow", "car"]},
        "g": {"1": ["cat"], "2": ["house"], "3": ["cow"]},
    }
    for name, value in sides.items():
        (tmp_path / f"{name}.json").write_text(json.dumps(value))
    files = [tmp_path / name for name in ("r.csv", "p.json", "g.json")]
    done = run(
        "meta",
        "-m",
        "F1",
        "--columns",
        "id=image name,rating=stars",
        "--ids",
        r"\d+",
        "--statistics",
        "all",
        *files,
    )
    assert "3 ratings of 3 distinct candidates of 3 images" in done.stdout
    assert done.stdout.count("F1 ") == 5
