"""Downloads of vectors from a server on this machine: continued, checked, converted."""

import gzip
import hashlib
import subprocess
import sys
import time
from pathlib import Path

import pytest
from refusals import refused
from web_server import RawServer, Server, http_answer

from semmetrics.embed.converted import open_converted, read_meta
from semmetrics.embed.manifest import Entry, fetch
from semmetrics.errors import InputError
from semmetrics.store.downloads import download, download_path, record_path

GLOVE = b"".join(b"word%d %d 0.5 -1\n" % (number, number) for number in range(5000))
PACKED = gzip.compress(GLOVE, mtime=0)
SIZE = len(PACKED)
SHA256 = hashlib.sha256(PACKED).hexdigest()
ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def server():
    server = Server(PACKED)
    yield server
    server.close()


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    monkeypatch.setenv("SEMMETRICS_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    return tmp_path / "home"


def entry(server, **fields):
    fields = {"url": server.url, "dimension": 3, **fields}
    return Entry(name="toy-3", kind="glove", licence="CC0", **fields)


def downloads(home):
    return list((home / "downloads").iterdir())


def test_vectors_are_downloaded_checked_and_converted(server, home):
    fetched = fetch(entry(server, sha256=SHA256))

    assert fetched.folder == home / "vectors" / "toy-3"
    assert (fetched.sha256, fetched.checked) == (SHA256, "manifest")
    model = open_converted(fetched.folder)
    assert model.embed(["word7"]).vectors.tolist() == [[7, 0.5, -1]]
    assert model.identity.startswith("toy-3@")
    metadata = read_meta(fetched.folder)
    assert (metadata["licence"], metadata["source"]) == ("CC0", server.url)
    assert metadata["sha256"] == hashlib.sha256(GLOVE).hexdigest()
    assert downloads(home) == []


def test_fetched_vectors_are_not_downloaded_again(server):
    fetch(entry(server))

    assert fetch(entry(server)).sha256 == ""
    assert server.ranges == [None]


def test_a_download_may_be_kept_for_other_vectors(server, home):
    fetched = fetch(entry(server), max_words=10, folder=home / "first", keep=True)
    assert (fetched.sha256, fetched.checked) == (SHA256, "")
    assert len(open_converted(home / "first")) == 10

    fetch(entry(server))

    assert server.ranges == [None]


def test_later_downloads_are_compared_with_the_first(server, home):
    fetch(entry(server), folder=home / "first")
    again = fetch(entry(server), folder=home / "second")
    assert again.checked == "first download"
    server.data = gzip.compress(GLOVE[:1000], mtime=0)
    server.tag = '"2"'

    with refused("wrong-digest") as caught:
        fetch(entry(server), folder=home / "third")

    record = record_path(server.url)
    assert str(record) in caught.value.remedy
    assert downloads(home) == []
    record.unlink()
    assert fetch(entry(server), folder=home / "third").checked == ""


def test_a_first_download_without_vectors_is_not_recorded(server, home):
    server.data = b"<html>We are closed</html>"

    with pytest.raises(InputError):
        fetch(entry(server))

    assert downloads(home) == []
    assert not record_path(server.url).exists()


def test_another_dimension_is_an_error(server):
    with refused("wrong-shape"):
        fetch(entry(server, dimension=300))


def test_a_file_name_does_not_leave_the_folder(server, home):
    fetch(entry(server, url=f"{server.url}/..%2F..%2Fout.txt"), keep=True)

    (kept,) = downloads(home)
    assert kept.name.endswith("-out.txt")
    assert not (home.parent / "out.txt").exists()


def test_a_used_folder_is_an_error_before_the_download(server, home):
    (home / "mine").mkdir(parents=True)

    with refused("exists"):
        fetch(entry(server), folder=home / "mine")

    assert server.ranges == []


def test_other_vectors_in_the_cache_are_an_error(server, home):
    fetch(entry(server), max_words=10)

    with refused("other-vectors"):
        fetch(entry(server))

    assert fetch(entry(server), max_words=10).folder == home / "vectors" / "toy-3"


# ---- several processes ---------------------------------------------------------------

FETCH = """
import sys
from semmetrics.embed.manifest import Entry, fetch
url, folder, limit = sys.argv[1:]
entry = Entry(name="toy-3", url=url, kind="glove", dimension=3, licence="CC0")
print(fetch(entry, folder=folder, max_words=int(limit)).sha256)
"""


def start_fetch(server, folder, limit):
    command = [sys.executable, "-c", FETCH, server.url, str(folder), str(limit)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT)


def outputs(processes):
    return sorted(process.communicate()[0].strip() for process in processes)


def test_several_processes_download_a_file_once(server, home):
    server.pause = 0.5
    (home / "downloads").mkdir(parents=True)

    processes = [start_fetch(server, home / "toy", 10) for _ in range(3)]

    assert outputs(processes) == ["", "", SHA256]
    assert server.ranges == [None]
    assert len(open_converted(home / "toy")) == 10
    assert downloads(home) == []


def test_processes_may_convert_a_file_in_different_ways(server, home):
    server.pause = 0.5

    processes = [start_fetch(server, home / f"toy{n}", n) for n in (10, 20)]

    assert outputs(processes) == [SHA256, SHA256]
    assert [len(open_converted(home / f"toy{n}")) for n in (10, 20)] == [10, 20]


def test_the_lock_of_a_killed_process_is_released(server, home):
    server.pause = 60
    process = start_fetch(server, home / "toy", 10)
    while not list((home / "downloads").glob("*.part")):
        time.sleep(0.01)
    process.kill()
    process.communicate()
    assert list((home / "downloads").glob("*.lock"))
    server.pause = 0

    assert fetch(entry(server), folder=home / "toy").sha256 == SHA256
    assert downloads(home) == []


# ---- incomplete downloads ------------------------------------------------------------


@pytest.fixture
def partial(server, home):
    """A download that ended after 1,000 bytes."""
    file = home / "toy.txt.gz"
    server.stop = 1000
    with refused("fetch-failed"):
        download(server.url, file)
    server.stop = None
    assert not file.exists()
    return file


def test_a_download_is_continued(server, partial):
    progress = []

    download(server.url, partial, progress=lambda *call: progress.append(call))

    assert server.ranges == [None, "bytes=1000-"]
    assert partial.read_bytes() == PACKED
    assert progress[-1] == (SIZE, SIZE)
    names = sorted(path.name for path in partial.parent.iterdir())
    assert names == ["checksums", "toy.txt.gz"]


def test_a_part_that_is_too_long_is_discarded(server, partial):
    part = partial.with_name("toy.txt.gz.part")
    part.write_bytes(PACKED + b"more")

    with refused("http-error"):
        download(server.url, partial)
    download(server.url, partial)

    assert partial.read_bytes() == PACKED


LENGTH = f"Content-Length: {SIZE}"
TAG = 'ETag: "1"'


@pytest.mark.parametrize(
    ("answer", "code"),
    [
        (http_answer(PACKED), "no-length"),
        (http_answer(PACKED, f"Content-Length: {SIZE + 9}"), "fetch-failed"),
        (http_answer(PACKED, "Content-Length: many"), "no-length"),
        (http_answer(PACKED[:1000], "Content-Length: 1000"), "damaged"),
        (
            http_answer(b"800\r\n" + PACKED[:2000], "Transfer-Encoding: chunked"),
            "fetch-failed",
        ),
        (http_answer(b"", "Location: /loop", status="302 Found"), "http-error"),
        (
            http_answer(b"", "Location: file:///etc/passwd", status="302 Found"),
            "http-error",
        ),
        (b"nonsense\r\n", "fetch-failed"),
        (b"", "fetch-failed"),
    ],
)
def test_an_incomplete_download_is_not_kept(home, answer, code):
    server = RawServer(*[answer] * 13)  # a redirection may be followed

    with refused(code):
        fetch(entry(server), folder=home / "toy")

    assert not download_path(server.url).exists()
    assert not record_path(server.url).exists()
    assert not (home / "toy").exists()


@pytest.mark.parametrize(
    "header",
    [
        f"Content-Range: bytes 5-{SIZE - 1}/{SIZE}",  # another start
        f"Content-Range: bytes 1000-1500/{SIZE}",  # another end
        "Content-Range: bytes 1000-*/*",
        "X: no range",
    ],
)
def test_the_rest_of_another_file_is_not_appended(home, header):
    rest = http_answer(
        PACKED[1000:],
        header,
        f"Content-Length: {SIZE - 1000}",
        TAG,
        status="206 Partial Content",
    )
    start = http_answer(PACKED[:1000], LENGTH, TAG)
    server = RawServer(start, rest, http_answer(PACKED, LENGTH, TAG))
    file = home / "toy.txt.gz"

    for _ in range(2):
        with refused("fetch-failed"):
            download(server.url, file)
    assert not file.exists()
    download(server.url, file)

    assert file.read_bytes() == PACKED
