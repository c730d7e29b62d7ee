"""The program on files in parts: streams, shards, states, and what it says meanwhile."""

import io
import json
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from scaled import check_same, draw, shuffled, write

import semmetrics
from semmetrics.cli import output

OPTIONS = (
    "-m",
    "F1 MicroF1 SemF1",
    "--ci",
    "--ci-method",
    "poisson",
    "--resamples",
    50,
)
JSON = ("--format", "json")
BOTH = ("a.jsonl", "b.jsonl", "gt.jsonl")


@pytest.fixture(autouse=True)
def parts(tmp_path, monkeypatch):
    """Write two systems, one also in two parts, into what becomes the working directory."""
    monkeypatch.chdir(tmp_path)
    (preds, gts), (others, _) = draw("labels"), draw("labels", seed=7)
    items = [*preds.items()]
    named = {
        "a": preds,
        "b": shuffled(others),
        "gt": gts,
        "part-1": dict(items[:9]),
        "part-2": dict(items[9:]),
    }
    Path("folder").mkdir()
    for name, side in named.items():
        write(Path(f"{name}.jsonl"), side, "labels")
        if "part" in name:
            write(Path(f"folder/{name}.jsonl"), side, "labels")


@pytest.mark.parametrize(
    ("given", "name"),
    [
        ("a.jsonl", "a"),
        ("ours=folder/*.jsonl", "ours"),
        ("folder", "folder"),
        ("part-*.jsonl", "part"),
        ("-", "preds"),
    ],
)
def test_streams_are_scored_as_whole_files_are(ok, given, name):
    stdin = Path("a.jsonl").read_bytes() if given == "-" else None
    found = ok("score", "--stream", *OPTIONS, *JSON, given, "gt.jsonl", stdin=stdin)
    assert json.loads(found)["scores"][0]["system"] == name
    check_same(found, ok("score", *OPTIONS, *JSON, "a.jsonl", "gt.jsonl"), names=False)


@pytest.mark.parametrize("given", [["--stream"], []])
def test_states_of_shards_are_merged_in_trees(ok, refused, given):
    for k in (1, 2, 3):
        ok(
            "score",
            *given,
            "--shard",
            f"{k}/3",
            "--state",
            f"{k}.state",
            *OPTIONS,
            *BOTH,
        )
    assert refused("merge", "1.state", "3.state").code == "missing-shards"
    assert "items" in ok("merge", "--state", "13.state", "3.state", "1.state")
    ok("merge", *JSON, "-o", "all.json", "13.state", "2.state")
    found = Path("all.json").read_text(encoding="utf-8")
    check_same(found, ok("score", *OPTIONS, *JSON, *BOTH))
    assert refused("merge", "13.state", "1.state").code == "merged-twice"


def test_streams_and_states_are_compared(ok):
    options = ("-m", "F1 SemF1", "--resamples", 200)
    whole = semmetrics.compare(
        {"a": "a.jsonl", "b": "b.jsonl"},
        "gt.jsonl",
        measures="F1 SemF1",
        ci_method="poisson",
        resamples=200,
    ).to_dicts()
    for name in "ab":
        ok(
            "score",
            "--stream",
            *options,
            "--ci",
            "--state",
            f"{name}.state",
            f"{name}.jsonl",
            "gt.jsonl",
        )
    for command in (("--stream", *options, *BOTH), ("a.state", "b.state")):
        found = json.loads(ok("compare", *JSON, *command))["differences"]
        for one, other in zip(found, whole, strict=True):
            lost = {name for name in one if one[name] is None}  # no item is kept
            assert lost <= {"wins", "ties", "losses", "undefined"}
            for name in one.keys() - lost:
                number = isinstance(one[name], float)
                assert one[name] == (
                    pytest.approx(other[name]) if number else other[name]
                )


def test_what_is_noted_and_refused(run, refused):
    stream = ("score", "--stream", "-m", "F1")
    said = run(*stream, "--missing", "skip", "part-1.jsonl", "part-2.jsonl", "gt.jsonl")
    assert (
        "'part-1', 'part-2' are scored as systems. To score them as one, quote a pattern"
        in said.stderr
    )
    assert "as systems" not in run(*stream, *BOTH).stderr
    state = ("--state", "x.state")  # in place of scores
    for more in (
        ("--per-item", "x.csv"),
        ("--worst", 2),
        ("--engine", "ray"),
        (*state, *JSON),
        (*state, "-o", "x.json"),
    ):
        assert refused(*stream, *more, *BOTH).code == "not-applicable"
    assert refused(*stream, "--shard", "4/3", *BOTH).code == "bad-option"


def test_piped_progress_is_a_line_each_half_minute():
    now, out = [0.0], io.StringIO()
    progress = output.Progress(out, lambda: now[0])
    for second in range(200):
        now[0] = float(second)
        progress(second, 0, prefix="reading", postfix=f"{second} items")
    progress.close()
    assert re.findall(r"(\d+) items\]\n", out.getvalue()) == [
        "30",
        "60",
        "90",
        "120",
        "150",
        "180",
    ]
    assert "\r" not in out.getvalue()


def test_a_stream_ends_though_its_pipe_stays_open():
    command = ["score", "--stream", "-m", "F1", "-", "gt.jsonl"]
    code = f"from semmetrics.cli import main; print('started', flush=True); main({command})"
    pipes = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
    with subprocess.Popen([sys.executable, "-c", code], **pipes) as running:
        running.stdout.readline()
        running.stdin.write(Path("a.jsonl").read_bytes())
        running.stdin.flush()
        time.sleep(2)  # it waits for more
        running.terminate()
        assert running.wait(timeout=30) == 143
        assert b"fault" not in running.stderr.read()


def test_an_interrupted_stream_says_how_far_it_came():
    lines = [
        b'{"id": "%d", "labels": ["cat"]%s}\n' % (k, b" " * 150) for k in range(40_000)
    ]
    Path("many.jsonl").write_bytes(b"".join(lines))
    command = ["score", "--stream", "-m", "F1", "--state", "x.state", "-", "many.jsonl"]
    code = (  # a parent in the background leaves the signal ignored
        "import signal; signal.signal(signal.SIGINT, signal.default_int_handler);"
        "from semmetrics.data import blocks; blocks.BLOCK = 1 << 16;"
        f"from semmetrics.cli import main; main({command})"
    )
    pipes = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
    with subprocess.Popen([sys.executable, "-c", code], **pipes) as running:
        running.stdin.write(b"".join(lines[:30_000]))
        running.stdin.flush()  # it has read all but a pipe's size
        running.send_signal(signal.SIGINT)
        out, error = running.communicate(timeout=60)
    assert (running.returncode, out) == (130, b"")
    said = re.search(
        r"([\d,]+) items were scored, but nothing is written", error.decode()
    )
    assert 0 < int(said[1].replace(",", "")) <= 30_000
    assert not [*Path().glob("*x.state*")]
