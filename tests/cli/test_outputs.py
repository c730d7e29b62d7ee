"""What becomes of an output: whole or not there, whoever kills the run and whatever is full."""

import contextlib
import json
import os
import random
import signal
import stat
import subprocess
import sys
import time
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from semmetrics import cli
from semmetrics.cli import app
from semmetrics.errors import InputError
from semmetrics.store.files import check_output, open_output, replacing

ROOT = Path(__file__).resolve().parents[2]
posix = pytest.mark.skipif(
    sys.platform == "win32", reason="signals and permissions of POSIX"
)
KILLS = int(os.environ.get("SEMMETRICS_KILLS", "3"))  # of each command; more to attack


@pytest.fixture
def signals_as_usual():
    """Signals end a program, also where nohup or a job in the background has them ignored."""
    names = ("SIGINT", "SIGTERM", "SIGHUP", "SIGALRM")
    before = {
        number: signal.getsignal(number)
        for number in map(partial(getattr, signal), names)
    }
    for number in before:
        usual = (
            signal.default_int_handler if number == signal.SIGINT else signal.SIG_DFL
        )
        signal.signal(number, usual)
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


def hidden(folder):
    return sorted(path.name for path in folder.iterdir() if path.name.startswith("."))


# ---- one file -----------------------------------------------------------------------------------


def write(path, text):
    with open_output(path) as out:
        out.write(text)


@pytest.mark.parametrize("error", [RuntimeError, KeyboardInterrupt, SystemExit])
def test_what_was_there_stays_until_the_end(tmp_path, error):
    path = tmp_path / "x"
    write(path, "old")
    with pytest.raises(error), open_output(path) as out:  # noqa: PT012
        out.write("new" * 10**6)
        out.flush()
        assert path.read_text() == "old"
        raise error
    assert path.read_text() == "old"
    assert hidden(tmp_path) == []


@posix
@pytest.mark.parametrize("name", ["a" * 256, "é" * 128, "no/x", "x/", "", "file/x"])
def test_names_that_are_none(tmp_path, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    Path("file").write_text("old")
    for check in (check_output, lambda path: write(path, "new")):
        if name == "x/" and check is not check_output:
            continue  # only the check sees it: a path has no slash at its end
        with pytest.raises(InputError):
            check(name)
    assert [path.name for path in tmp_path.iterdir()] == ["file"]
    assert Path("file").read_text() == "old"


@posix
def test_permissions_and_links(tmp_path):
    path, link, dangling = tmp_path / "x", tmp_path / "link", tmp_path / "dangling"
    before = os.umask(0o027)
    try:
        write(path, "old")
        assert stat.S_IMODE(path.stat().st_mode) == 0o640
        path.chmod(0o604)
        link.symlink_to("x")
        write(link, "new")
        dangling.symlink_to("y")
        write(dangling, "made")
    finally:
        os.umask(before)
    assert (link.is_symlink(), path.read_text()) == (True, "new")
    assert stat.S_IMODE(path.stat().st_mode) == 0o604
    assert (dangling.is_symlink(), (tmp_path / "y").read_text()) == (True, "made")
    (tmp_path / "loop").symlink_to("loop")
    with pytest.raises(InputError):
        write(tmp_path / "loop", "new")


@posix
def test_what_a_killed_run_left_is_removed_and_that_of_another_run_is_not(tmp_path):
    path = tmp_path / "x"
    left = tmp_path / ".x.0123abcd.part"
    left.write_text("stub")
    folder = tmp_path / ".x.4567cdef.part"
    folder.mkdir()
    (folder / "inside").write_text("stub")
    mine = [
        tmp_path / ".y.0123abcd.part",
        tmp_path / ".x.part",
        tmp_path / ".x.0123abcd.part.txt",
    ]
    for other in mine:
        other.write_text("mine")
    with open_output(path) as first:
        first.write("first")
        running = set(hidden(tmp_path))
        write(path, "second")
        assert set(hidden(tmp_path)) == running  # that of the first run is still there
    assert path.read_text() == "first"
    assert not left.exists()
    assert not folder.exists()
    assert hidden(tmp_path) == sorted(other.name for other in mine)


# ---- commands that are killed -------------------------------------------------------------------

IMAGES = 400


@pytest.fixture(scope="module")
def inputs(tmp_path_factory):
    folder = tmp_path_factory.mktemp("inputs")
    random.seed(1)
    words = [f"w{number}" for number in range(300)]
    captions = {str(i): " ".join(random.choices(words, k=9)) for i in range(IMAGES)}
    references = {
        i: [caption, " ".join(random.choices(words, k=9))]
        for i, caption in captions.items()
    }
    labels = {str(i): random.sample(words, 4) for i in range(IMAGES)}
    truth = {i: [*some[:3], "cat"] for i, some in labels.items()}
    for name, value in {
        "c": captions,
        "r": references,
        "p": labels,
        "g": truth,
    }.items():
        (folder / f"{name}.json").write_text(json.dumps(value))
    vectors = [f"{word} {number} 0.5 1" for number, word in enumerate(words * 1)]
    (folder / "v.txt").write_text("\n".join(vectors))
    return folder


COMMANDS = {
    "score": ("score -q -m F1 -o OUT --format json p.json g.json", "x.json"),
    "per item": ("score -q -m F1 --per-item OUT p.json g.json", "x.csv"),
    "per label": ("score -q -m MacroF1 --per-label OUT p.json g.json", "x.json"),
    "matches": ("score -q -m SemF1 --matches OUT p.json g.json", "x.jsonl"),
    "sweep": ("sweep -q --format csv -o OUT p.json g.json", "x.csv"),
    "calibrate": ("calibrate -q -o OUT p.json g.json", "x.json"),
    "doc-freq": ("doc-freq -q -o OUT r.json", "x.npz"),
    "doc-freq as JSON": ("doc-freq -q -o OUT r.json", "x.json"),
    "pairs": ("pairs -q --overwrite -o OUT c.json r.json", "x.npy"),
    "best pairs": ("pairs -q --top-k 3 -o OUT c.json r.json", "x.jsonl"),
}
OFTEN = "per item", "pairs"  # a file made at once, and one that grows
NAMES = [
    pytest.param(n, marks=() if n in OFTEN else pytest.mark.slow) for n in COMMANDS
]


def start(command, inputs, out, **options):
    words = [str(out) if word == "OUT" else word for word in command.split()]
    return subprocess.Popen(
        [sys.executable, "-m", "semmetrics", *words],
        cwd=inputs,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        **options,
    )


def finish(command, inputs, out):
    run = start(command, inputs, out)
    assert (run.communicate()[1], run.returncode) == (b"", 0)


@posix
@pytest.mark.usefixtures("signals_as_usual")
@pytest.mark.parametrize("name", NAMES)
def test_a_killed_command_leaves_the_old_file_or_the_new_one(inputs, tmp_path, name):
    command, file = COMMANDS[name]
    out = tmp_path / file
    began = time.monotonic()
    finish(command, inputs, out)
    seconds, new = time.monotonic() - began, out.read_bytes()
    rng = random.Random(name)
    for number in range(KILLS):
        kind = (signal.SIGKILL, signal.SIGTERM, signal.SIGINT)[number % 3]
        out.write_bytes(b"old")
        # of a run killed outright; one that writes again removes it
        before = hidden(tmp_path)
        run = start(command, inputs, out)
        time.sleep(rng.uniform(0.3, 1.05) * seconds)
        run.send_signal(kind)
        said = run.communicate()[1]
        if out.exists() or name != "pairs":  # its ids are exchanged before it appears
            assert out.read_bytes() in (b"old", new)
        assert run.returncode in (0, -kind, 128 + kind), said
        if kind != signal.SIGKILL and run.returncode == 128 + kind:
            assert {*hidden(tmp_path)} <= {*before}
            assert b"Traceback" not in said
    out.write_bytes(b"old")
    finish(command, inputs, out)
    assert out.read_bytes() == new
    assert {path.name for path in tmp_path.iterdir()} <= {file, f"{file}.ids.json"}


@posix
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("room", [0, 2000])
def test_a_full_disk_leaves_the_old_file(inputs, tmp_path, name, room):
    """The size of files is limited, which is told like a full disk: by errors of writing."""
    import resource

    command, file = COMMANDS[name]
    out = tmp_path / file
    out.write_bytes(b"old")
    limit = partial(resource.setrlimit, resource.RLIMIT_FSIZE, (room, room))
    run = start(command, inputs, out, preexec_fn=limit)
    said = run.communicate()[1].decode()
    if run.returncode == 0:  # a small result
        assert 0 < len(out.read_bytes()) <= room
        return
    assert run.returncode == 2, said
    assert "cannot be written: " in said
    assert out.read_bytes() == b"old"
    assert hidden(tmp_path) == []


@posix
def test_a_conversion_on_a_full_disk(inputs, tmp_path):
    """On a disk that is really full: maps of files end the process there."""
    disk = tmp_path / "disk"
    disk.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=100k", "tmpfs", str(disk)]
    try:
        mounted = (
            subprocess.run(mount, check=False, capture_output=True).returncode == 0
        )
    except OSError:
        mounted = False
    if not mounted:
        pytest.skip("only root makes small disks, on Linux")
    try:
        words = (f"w{number} " + " ".join(["0.5"] * 200) for number in range(500))
        (tmp_path / "large.txt").write_text("\n".join(words))
        run = start(
            f"embed convert -q {tmp_path / 'large.txt'} OUT", inputs, disk / "x"
        )
        said = run.communicate()[1]
        assert (
            run.returncode,
            b"x: the file cannot be written: No space left" in said,
        ) == (
            2,
            True,
        )
        assert list(disk.iterdir()) == []
    finally:
        subprocess.run(["umount", str(disk)], check=True)


@posix
def test_killed_conversions_leave_nothing_for_ever(inputs, tmp_path):
    rng, began = random.Random(2), time.monotonic()
    finish("embed convert -q v.txt OUT", inputs, tmp_path / "first")
    seconds = time.monotonic() - began
    for _ in range(KILLS):
        run = start("embed convert -q v.txt OUT", inputs, tmp_path / "x")
        time.sleep(rng.uniform(0.5, 1.05) * seconds)
        run.kill()
        run.communicate()
        if (tmp_path / "x").exists():  # all of it, or nothing
            assert {part.name for part in (tmp_path / "x").iterdir()} == {
                part.name for part in (tmp_path / "first").iterdir()
            }
            (tmp_path / "x").rename(tmp_path / f"done{rng.random()}")
    (tmp_path / ".x.0123abcd.part").mkdir()
    finish("embed convert -q v.txt OUT", inputs, tmp_path / "x")
    assert hidden(tmp_path) == []


@posix
def test_killed_pairs_are_continued(inputs, tmp_path):
    out = tmp_path / "phi.npy"
    for pause in (0.5, 0.7, 0.9, 1.1):
        run = start("pairs -q -o OUT c.json r.json", inputs, out)
        time.sleep(pause)
        run.kill()
        run.communicate()
        if out.exists():
            break
    else:
        start("pairs -q -o OUT c.json r.json", inputs, out).communicate()
    start("pairs -q -o OUT c.json r.json", inputs, tmp_path / "whole.npy").communicate()
    np.testing.assert_array_equal(np.load(out), np.load(tmp_path / "whole.npy"))


@posix
def test_files_of_one_command_appear_together_or_not_at_all(inputs, tmp_path):
    import resource

    command = "mad select -q -k 2 -o x.json --sheet beside.csv c.json d.json"
    for file in inputs.iterdir():
        (tmp_path / file.name).write_bytes(file.read_bytes())
    captions = json.loads((inputs / "c.json").read_text())
    others = dict(zip(captions, reversed(captions.values()), strict=True))
    (tmp_path / "d.json").write_text(json.dumps(others))
    first, second = tmp_path / "x.json", tmp_path / "beside.csv"
    finish(command, tmp_path, "")
    small, large = sorted(path.stat().st_size for path in (first, second))
    first.write_text("old")
    second.write_text("old")
    limit = partial(
        resource.setrlimit, resource.RLIMIT_FSIZE, ((small + large) // 2,) * 2
    )
    run = start(command, tmp_path, "", preexec_fn=limit)
    assert (b"cannot be written: " in run.communicate()[1], run.returncode) == (True, 2)
    assert (first.read_text(), second.read_text()) == ("old", "old")
    assert hidden(tmp_path) == []


@posix
def test_a_signal_while_the_hidden_file_is_made_leaves_nothing(tmp_path, monkeypatch):
    class Signal(BaseException):
        pass

    def arrives(*_):
        raise Signal

    monkeypatch.setattr("semmetrics.store.files._open_locked", arrives)
    for folder in (False, True):
        with pytest.raises(Signal), replacing(tmp_path / "x", folder=folder):
            pass
        assert hidden(tmp_path) == []


# ---- places that cannot be written, and streams that are closed ---------------------------------


def shell(line, folder, **env):
    line = line.replace("semmetrics", f"{sys.executable} -m semmetrics")
    return subprocess.run(
        ["bash", "-c", line],
        check=False,
        cwd=folder,
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT), **env},
    )


SCORE = "semmetrics score -q -m F1 p.json g.json"


@posix
@pytest.mark.parametrize(
    ("line", "code"),
    [
        (f"{SCORE} >/dev/full", 2),
        (f"{SCORE} >&-", 2),
        (f"{SCORE} 2>&-", 0),
        (f"{SCORE} 2>/dev/full", 0),
        (f"{SCORE} <&- >&- 2>&-", 2),
        (f"{SCORE} -o /dev/full", 2),
        (f"{SCORE} -o /dev/null", 0),
        (f"{SCORE} -o /dev/stdout | cat >/dev/null", 0),
        (f"{SCORE} -o >(cat >/dev/null)", 0),
        (f"{SCORE} -o .", 2),
        (f"{SCORE} -o ''", 2),
        (f"{SCORE} -o no/x", 2),
        (f"{SCORE} -o x/", 2),
        (f"{SCORE} -o {'a' * 256}", 2),
        (f"{SCORE} -o $(mktemp -d)/{'a' * 255}", 0),
        (f"{SCORE} -o /proc/x", 2),
        ("semmetrics pairs -q -o /dev/null c.json r.json", 2),
        (f"semmetrics pairs -q -o $(mktemp -d)/{'a' * 245}.npy c.json r.json", 2),
        ("semmetrics list >/dev/full", 2),
        ("semmetrics --help >&-", 2),
        ("semmetrics validate g.json >/dev/full", 2),
        ("semmetrics nonsense 2>&-", 2),
        ("set -o pipefail; semmetrics list | true", 141),
        ("set -o pipefail; semmetrics --help | true", 141),
        ("semmetrics validate - <&-", 2),
        ("semmetrics calibrate --pairs c.json -o -", 2),
    ],
)
def test_exit_codes_of_places_and_streams(inputs, line, code):
    found = shell(line, inputs)
    assert found.returncode == code, found.stderr
    assert "Traceback" not in found.stderr
    assert "fault" not in found.stderr
    assert "Exception ignored" not in found.stderr


@posix
@pytest.mark.parametrize(
    ("line", "code"),
    [
        ("score -m SemF1 p.json g.json", 0),
        ("embed list", 0),
        ("embed fetch glove-6b-50", 2),
        ("score -m SemF1 --embedding glove-6b-50 p.json g.json", 2),
    ],
)
def test_a_user_without_a_home(inputs, line, code):
    """As in a container: the user has no entry, and HOME is not set."""
    program = """
import os, pwd, sys

def getpwuid(number):
    raise KeyError(number)

pwd.getpwuid = getpwuid
for name in ("HOME", "SEMMETRICS_HOME", "XDG_CACHE_HOME"):
    os.environ.pop(name, None)
from semmetrics.cli import main
main(sys.argv[1:])
"""
    found = subprocess.run(
        [sys.executable, "-c", program, *line.split()],
        check=False,
        cwd=inputs,
        capture_output=True,
        text=True,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
    )
    assert found.returncode == code, found.stderr
    assert "Traceback" not in found.stderr
    if code:
        assert "SEMMETRICS_HOME" in found.stderr


@posix
@pytest.mark.usefixtures("signals_as_usual")
@pytest.mark.parametrize("kind", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
@pytest.mark.parametrize("dropped_by", ["a callback", "a library"])
def test_signals_that_are_dropped_are_repeated(monkeypatch, kind, dropped_by):
    """Python drops what callbacks raise, as its imports do; pyarrow, while it loads pandas."""

    class Callback:
        def __del__(self):
            signal.raise_signal(kind)

    def loop():
        # In a function of its own: from the last jump of a loop, Python 3.13 leaves its function
        # without a look at the handlers there.
        end = time.monotonic() + 60
        while time.monotonic() < end:
            pass

    def wait():
        with cli._ending_in_order():
            if dropped_by == "a callback":
                Callback()
            else:
                with contextlib.suppress(BaseException):
                    signal.raise_signal(kind)
            loop()

    if dropped_by == "a library":
        monkeypatch.setattr(cli, "_SECONDS_TO_REPEAT_SIGNAL", 0.05)
    with pytest.raises((KeyboardInterrupt, SystemExit)) as caught:
        wait()
    assert (caught.type is KeyboardInterrupt) == (kind == signal.SIGINT)
    assert kind == signal.SIGINT or caught.value.code == 128 + kind
    assert signal.getitimer(signal.ITIMER_REAL) == (0, 0)


@posix
@pytest.mark.usefixtures("signals_as_usual")
@pytest.mark.parametrize("kind", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_signals_while_modules_are_loaded_leave_no_traceback(inputs, kind):
    for pause in (0.15, 0.25, 0.35):
        run = start("score -q -m SemF1 --ci p.json g.json", inputs, "")
        time.sleep(pause)
        run.send_signal(kind)
        said = run.communicate()[1]
        # before the program began, Python itself answers
        if run.returncode not in (
            -kind,
            1,
        ):
            assert run.returncode in (0, 128 + kind)
            assert b"Traceback" not in said


@posix
@pytest.mark.parametrize("again", [[], ["--overwrite"]])
def test_a_matrix_is_never_without_its_ids(inputs, tmp_path, monkeypatch, again):
    """Each step at the end of a run is where it is killed; the same command then continues."""
    monkeypatch.chdir(inputs)
    out, ids = tmp_path / "x.npy", tmp_path / "x.npy.ids.json"
    command = ["pairs", "-q", "-o", str(out), *again, "c.json", "r.json"]
    replace, steps = Path.replace, []
    if again:
        write(ids, "old")

    def killed(place, target):
        if len(steps) == number:
            raise KeyboardInterrupt
        steps.append(Path(target).name)
        return replace(place, target)

    for number in (0, 1):
        if again:
            out.write_bytes(b"old")
        monkeypatch.setattr(Path, "replace", killed)
        steps.clear()
        assert app.program.main(command, standalone_mode=False) == 128 + signal.SIGINT
        assert not out.exists()
        assert steps == [ids.name][:number]
    monkeypatch.undo()
    monkeypatch.chdir(inputs)
    assert app.program.main(command, standalone_mode=False) == 0
    assert np.load(out).shape == (IMAGES, IMAGES)
    assert len(json.loads(ids.read_text())["images"]) == IMAGES
    assert len(list(tmp_path.iterdir())) == 2


# ---- figures ------------------------------------------------------------------------------------


def test_figures_appear_beside_the_result(ok, refused, files):
    score = "score", "-mF1", "--plot"
    ok(*score, "v.svg", "--plot", "items=i.png", "-o", "o.txt", "a.json", "gt.json")
    shown = [Path(name).read_bytes()[:5] for name in ("v.svg", "i.png", "o.txt")]
    assert shown == [b"<?xml", b"\x89PNG\r", b"measu"]
    ok("score", "-mF1", "--state", "a.state", "a.json", "gt.json")
    ok("merge", "--plot", "merged.png", "a.state")
    ok("sweep", "--thresholds=0:1:0.5", "--plot", "sweep.pdf", "a.json", "gt.json")
    Path("table.csv").write_text("dataset,A,B\nx,0.5,0.6\ny,0.4,0.8\n")
    for command in ("rank", "compare"):
        ok(command, "--table", "table.csv", "--plot", f"{command}.svg")
        assert "<svg" in Path(f"{command}.svg").read_text()
    for code, given in {
        "no-figure": "labels=b.png",
        "bad-choice": "label=b.png",
        "wrong-ending": "b.jpg",
        "output-is-input": "items=gt.json",
    }.items():
        assert refused(*score, given, "a.json", "gt.json").code == code
    both = refused(*score, "z.png", "--plot", "items=z.png", "a.json", "gt.json")
    assert both.code == "output-is-output"
