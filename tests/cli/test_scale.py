"""Large data: streams, shards, states that are merged, and interrupted streams."""

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

OPTIONS = "-m 'F1 MicroF1 SemF1' --ci --ci-method poisson --resamples 50 --format json"
FILES = "a.jsonl b.jsonl gt.jsonl"


@pytest.fixture(autouse=True)
def inputs(tmp_path, monkeypatch):
    """Write two systems. The first one is also in two parts."""
    monkeypatch.chdir(tmp_path)
    preds, gts = draw("labels")
    other_preds, _ = draw("labels", seed=7)
    items = list(preds.items())
    Path("folder").mkdir()
    write(Path("a.jsonl"), preds, "labels")
    write(Path("b.jsonl"), shuffled(other_preds), "labels")
    write(Path("gt.jsonl"), gts, "labels")
    for folder in (Path(), Path("folder")):
        write(folder / "part-1.jsonl", dict(items[:9]), "labels")
        write(folder / "part-2.jsonl", dict(items[9:]), "labels")


@pytest.mark.parametrize(
    ("source", "name"),
    [
        ("a.jsonl", "a"),
        ("ours=folder/*.jsonl", "ours"),
        ("folder", "folder"),
        ("part-*.jsonl", "part"),
        ("-", "preds"),
    ],
)
def test_a_stream_has_the_scores_of_the_whole_file(ok, source, name):
    stdin = Path("a.jsonl").read_bytes() if source == "-" else None

    streamed = ok(f"score --stream {OPTIONS}", source, "gt.jsonl", stdin=stdin)

    assert json.loads(streamed)["scores"][0]["system"] == name
    whole = ok(f"score {OPTIONS} a.jsonl gt.jsonl")
    check_same(streamed, whole, names=False)


@pytest.fixture
def states(ok):
    """Write the states of three shards."""
    for shard in (1, 2, 3):
        options = f"--stream --shard {shard}/3 --state {shard}.state"
        ok(f"score {options} {OPTIONS.removesuffix('--format json')} {FILES}")


def test_merged_states_have_the_scores_of_the_whole_file(ok, states):
    ok("merge --state 13.state 3.state 1.state")
    ok("merge --format json -o all.json 13.state 2.state")

    merged = Path("all.json").read_text(encoding="utf-8")
    check_same(merged, ok(f"score {OPTIONS} {FILES}"))


def test_shards_of_whole_files_can_be_merged(ok):
    options = OPTIONS.removesuffix("--format json")
    for shard in (1, 2):
        ok(f"score --shard {shard}/2 --state {shard}.state {options} {FILES}")

    merged = ok("merge --format json 1.state 2.state")

    check_same(merged, ok(f"score {OPTIONS} {FILES}"))


def test_a_missing_shard_is_an_error(refused, states):
    assert refused("merge 1.state 3.state").code == "missing-shards"


def test_a_state_that_is_merged_twice_is_an_error(ok, refused, states):
    ok("merge --state 13.state 3.state 1.state")

    assert refused("merge 13.state 1.state").code == "merged-twice"


COMPARISON = "-m 'F1 SemF1' --resamples 200"


@pytest.fixture
def differences():
    """Return the differences of the whole files."""
    return semmetrics.compare(
        {"a": "a.jsonl", "b": "b.jsonl"},
        "gt.jsonl",
        measures="F1 SemF1",
        ci_method="poisson",
        resamples=200,
    ).to_dicts()


def check_differences(text, expected):
    """Check the differences in JSON, which have no counts of items."""
    unknown = {"wins", "ties", "losses", "undefined"}
    for found, whole in zip(json.loads(text)["differences"], expected, strict=True):
        for name, value in found.items():
            if value is None:
                assert name in unknown
            elif isinstance(value, float):
                assert value == pytest.approx(whole[name])
            else:
                assert value == whole[name]


def test_a_comparison_of_streams_equals_the_one_of_files(ok, differences):
    text = ok(f"compare --format json --stream {COMPARISON} {FILES}")

    check_differences(text, differences)


def test_a_comparison_of_states_equals_the_one_of_files(ok, differences):
    for name in ("a", "b"):
        state = f"--ci --state {name}.state {name}.jsonl gt.jsonl"
        ok(f"score --stream {COMPARISON} {state}")

    text = ok("compare --format json a.state b.state")

    check_differences(text, differences)


def test_a_note_asks_whether_several_parts_are_one_system(run):
    note = "'part-1', 'part-2' are scored as systems. To score them as one, quote"
    line = "score --stream -m F1 --missing skip part-1.jsonl part-2.jsonl gt.jsonl"

    assert note in run(line).stderr
    assert "as systems" not in run(f"score --stream -m F1 {FILES}").stderr


@pytest.mark.parametrize(
    ("options", "code"),
    [
        ("--per-item x.csv", "not-applicable"),
        ("--worst 2", "not-applicable"),
        ("--engine ray", "not-applicable"),
        ("--state x.state --format json", "not-applicable"),
        ("--state x.state -o x.json", "not-applicable"),
        ("--shard 4/3", "bad-option"),
    ],
)
def test_options_that_need_all_items_are_an_error(refused, options, code):
    assert refused(f"score --stream -m F1 {options} {FILES}").code == code


def test_progress_in_a_pipe_is_one_line_per_half_minute():
    out = io.StringIO()
    seconds = 0.0
    progress = output.Progress(out, lambda: seconds)

    for second in range(200):
        seconds = float(second)
        progress(second, 0, prefix="reading", postfix=f"{second} items")
    progress.close()

    lines = re.findall(r"(\d+) items\]\n", out.getvalue())
    assert lines == ["30", "60", "90", "120", "150", "180"]
    assert "\r" not in out.getvalue()


def start(command, preparation="pass"):
    """Start a command in a process with pipes, with the usual signals."""
    # A parent in the background leaves the signal ignored.
    code = (
        "import signal; signal.signal(signal.SIGINT, signal.default_int_handler);"
        f"{preparation}; print('started', flush=True);"
        f"from semmetrics.cli import main; main({command.split()})"
    )
    return subprocess.Popen(
        [sys.executable, "-c", code],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )


def test_a_stream_can_be_ended_while_its_pipe_is_open():
    with start("score --stream -m F1 - gt.jsonl") as process:
        process.stdout.readline()
        process.stdin.write(Path("a.jsonl").read_bytes())
        process.stdin.flush()
        time.sleep(2)  # until it waits for more
        process.terminate()
        code = process.wait(timeout=30)
        error = process.stderr.read()

    assert code == 128 + signal.SIGTERM
    assert b"fault" not in error


def test_an_interrupted_stream_reports_how_many_items_were_scored():
    spaces = b" " * 150
    lines = []
    for number in range(40_000):
        lines.append(b'{"id": "%d", "labels": ["cat"]%s}\n' % (number, spaces))
    Path("many.jsonl").write_bytes(b"".join(lines))
    small_blocks = "from semmetrics.data import blocks; blocks.BLOCK_BYTES = 1 << 16"

    with start(
        "score --stream -m F1 --state x.state - many.jsonl", small_blocks
    ) as process:
        process.stdin.write(b"".join(lines[:30_000]))
        process.stdin.flush()  # The process has read all but the size of a pipe.
        process.send_signal(signal.SIGINT)
        _, error = process.communicate(timeout=60)

    assert process.returncode == 128 + signal.SIGINT
    note = re.search(
        r"([\d,]+) items were scored, but nothing is written", error.decode()
    )
    assert 0 < int(note[1].replace(",", "")) <= 30_000
    assert not list(Path().glob("*x.state*"))
