"""An output file is complete or absent, and closed streams and wrong paths are errors."""

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from cli.processes import (
    ENVIRONMENT,
    finish,
    hidden_files,
    limit_file_size,
    posix,
    start,
)

from semmetrics.errors import InputError
from semmetrics.store.files import check_output, open_output, replacing


def write(path, text):
    with open_output(path) as out:
        out.write(text)


# ---- one file ------------------------------------------------------------------------------------


@pytest.mark.parametrize("error", [RuntimeError, KeyboardInterrupt, SystemExit])
def test_the_old_file_is_there_until_the_new_one_is_complete(tmp_path, error):
    path = tmp_path / "x"
    write(path, "old")

    with pytest.raises(error), open_output(path) as out:  # noqa: PT012
        out.write("new" * 10**6)
        out.flush()
        assert path.read_text() == "old"
        raise error

    assert path.read_text() == "old"
    assert hidden_files(tmp_path) == []


@posix
@pytest.mark.parametrize("name", ["a" * 256, "é" * 128, "no/x", "", "file/x"])
def test_a_wrong_name_is_an_error_before_and_while_writing(tmp_path, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    Path("file").write_text("old")

    with pytest.raises(InputError):
        check_output(name)
    with pytest.raises(InputError):
        write(name, "new")

    assert [path.name for path in tmp_path.iterdir()] == ["file"]
    assert Path("file").read_text() == "old"


def test_a_name_with_a_slash_at_its_end_is_an_error(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    with pytest.raises(InputError):
        check_output("x/")


@posix
def test_a_new_file_has_the_permissions_of_the_user(tmp_path):
    before = os.umask(0o027)
    try:
        write(tmp_path / "x", "new")
    finally:
        os.umask(before)

    assert stat.S_IMODE((tmp_path / "x").stat().st_mode) == 0o640


@posix
def test_a_replaced_file_has_the_old_permissions_and_links(tmp_path):
    path = tmp_path / "x"
    write(path, "old")
    path.chmod(0o604)
    link = tmp_path / "link"
    link.symlink_to("x")

    write(link, "new")

    assert (link.is_symlink(), path.read_text()) == (True, "new")
    assert stat.S_IMODE(path.stat().st_mode) == 0o604


@posix
def test_a_link_to_a_missing_file_creates_that_file(tmp_path):
    link = tmp_path / "link"
    link.symlink_to("y")

    write(link, "new")

    assert (link.is_symlink(), (tmp_path / "y").read_text()) == (True, "new")


@posix
def test_a_link_to_itself_is_an_error(tmp_path):
    (tmp_path / "loop").symlink_to("loop")

    with pytest.raises(InputError):
        write(tmp_path / "loop", "new")


@posix
def test_hidden_files_of_a_killed_run_are_removed(tmp_path):
    path = tmp_path / "x"
    (tmp_path / ".x.0123abcd.part").write_text("partial")
    folder = tmp_path / ".x.4567cdef.part"
    folder.mkdir()
    (folder / "inside").write_text("partial")
    others = [".x.0123abcd.part.txt", ".x.part", ".y.0123abcd.part"]
    for name in others:
        (tmp_path / name).write_text("of the user")

    write(path, "new")

    assert hidden_files(tmp_path) == others


@posix
def test_the_hidden_file_of_another_run_is_not_removed(tmp_path):
    path = tmp_path / "x"

    with open_output(path) as first:
        first.write("first")
        running = hidden_files(tmp_path)
        write(path, "second")
        assert hidden_files(tmp_path) == running

    assert path.read_text() == "first"


@posix
@pytest.mark.parametrize("folder", [False, True])
def test_a_signal_while_the_hidden_file_is_created_leaves_nothing(
    tmp_path, monkeypatch, folder
):
    class Signal(BaseException):
        pass

    def receive_signal(*_):
        raise Signal

    monkeypatch.setattr("semmetrics.store.files.open_locked", receive_signal)

    with pytest.raises(Signal), replacing(tmp_path / "x", folder=folder):
        pass

    assert hidden_files(tmp_path) == []


# ---- full disks ----------------------------------------------------------------------------------


@posix
@pytest.mark.parametrize(
    ("line", "name"),
    [
        ("score -q -m F1 --per-item OUT p.json g.json", "x.csv"),
        ("pairs -q --overwrite -o OUT c.json r.json", "x.npy"),
        pytest.param(
            "score -q -m F1 -o OUT --format json p.json g.json",
            "x.json",
            marks=pytest.mark.slow,
        ),
        pytest.param(
            "calibrate -q -o OUT p.json g.json", "x.json", marks=pytest.mark.slow
        ),
        pytest.param("doc-freq -q -o OUT r.json", "x.npz", marks=pytest.mark.slow),
    ],
)
@pytest.mark.parametrize("n_bytes", [0, 2000])
def test_a_full_disk_leaves_the_old_file(many_images, tmp_path, line, name, n_bytes):
    out = tmp_path / name
    out.write_bytes(b"old")

    process = start(line, many_images, out, preexec_fn=limit_file_size(n_bytes))
    error = process.communicate()[1].decode()

    if process.returncode == 0:  # The result is small.
        assert 0 < len(out.read_bytes()) <= n_bytes
        return
    assert process.returncode == 2, error
    assert "cannot be written: " in error
    assert out.read_bytes() == b"old"
    assert hidden_files(tmp_path) == []


@pytest.fixture
def full_disk(tmp_path):
    """Return the folder of a disk of 100 kB, which only root can mount."""
    disk = tmp_path / "disk"
    disk.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=100k", "tmpfs", str(disk)]
    try:
        process = subprocess.run(mount, check=False, capture_output=True)
    except OSError:
        pytest.skip("there is no program mount")
    if process.returncode:
        pytest.skip("only root can mount a disk")
    yield disk
    subprocess.run(["umount", str(disk)], check=True)


@posix
def test_a_conversion_on_a_full_disk_leaves_nothing(tmp_path, full_disk):
    """Memory maps of files would end the process here."""
    numbers = " ".join(["0.5"] * 200)
    lines = [f"w{number} {numbers}" for number in range(500)]
    (tmp_path / "large.txt").write_text("\n".join(lines))

    process = start("embed convert -q large.txt OUT", tmp_path, full_disk / "x")
    error = process.communicate()[1]

    assert process.returncode == 2
    assert b"x: the file cannot be written: No space left" in error
    assert list(full_disk.iterdir()) == []


@posix
def test_the_files_of_one_command_appear_together_or_not_at_all(many_images, tmp_path):
    line = f"mad select -q -k 2 -o OUT --sheet {tmp_path}/sheet.csv c.json d.json"
    state = tmp_path / "x.json"
    sheet = tmp_path / "sheet.csv"
    finish(line, many_images, state)
    middle = (state.stat().st_size + sheet.stat().st_size) // 2
    state.write_text("old")
    sheet.write_text("old")

    process = start(line, many_images, state, preexec_fn=limit_file_size(middle))

    assert b"cannot be written: " in process.communicate()[1]
    assert process.returncode == 2
    assert (state.read_text(), sheet.read_text()) == ("old", "old")
    assert hidden_files(tmp_path) == []


# ---- paths and streams ---------------------------------------------------------------------------

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
        (f"{SCORE} -o $(mktemp -d)/{'a' * 255}", 0),
        (f"{SCORE} -o /proc/x", 2),
        ("semmetrics pairs -q -o /dev/null c.json r.json", 2),
        (f"semmetrics pairs -q -o $(mktemp -d)/{'a' * 245}.npy c.json r.json", 2),
        ("semmetrics list >/dev/full", 2),
        ("semmetrics --help >&-", 2),
        ("semmetrics nonsense 2>&-", 2),
        ("set -o pipefail; semmetrics list | true", 141),
        ("semmetrics validate - <&-", 2),
        ("semmetrics calibrate --pairs c.json -o -", 2),
    ],
)
def test_the_exit_code_reports_wrong_paths_and_closed_streams(many_images, line, code):
    line = line.replace("semmetrics", f"{sys.executable} -m semmetrics")

    process = subprocess.run(
        ["bash", "-c", line],
        check=False,
        cwd=many_images,
        capture_output=True,
        text=True,
        env=ENVIRONMENT,
    )

    assert process.returncode == code, process.stderr
    for word in ("Traceback", "fault", "Exception ignored"):
        assert word not in process.stderr


WITHOUT_HOME = """
import os, pwd, sys

def getpwuid(number):
    raise KeyError(number)

pwd.getpwuid = getpwuid
for name in ("HOME", "SEMMETRICS_HOME", "XDG_CACHE_HOME"):
    os.environ.pop(name, None)
from semmetrics.cli import main
main(sys.argv[1:])
"""


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
def test_a_user_without_a_home_needs_a_folder_for_downloads(many_images, line, code):
    """In containers, the user has no entry and HOME is not set."""
    process = subprocess.run(
        [sys.executable, "-c", WITHOUT_HOME, *line.split()],
        check=False,
        cwd=many_images,
        capture_output=True,
        text=True,
        env=ENVIRONMENT,
    )

    assert process.returncode == code, process.stderr
    assert "Traceback" not in process.stderr
    assert ("SEMMETRICS_HOME" in process.stderr) == (code == 2)
