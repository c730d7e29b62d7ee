"""Downloads from a server on this machine: resumed, checked, converted."""

import gzip
import hashlib
import socket
import subprocess
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from refusals import refused

from semmetrics.embed.converted import open_converted, read_meta
from semmetrics.embed.manifest import Entry, fetch
from semmetrics.errors import InputError
from semmetrics.store.downloads import download, download_path, record_path

GLOVE = b"".join(b"word%d %d 0.5 -1\n" % (number, number) for number in range(5000))
PACKED = gzip.compress(GLOVE, mtime=0)
SHA256 = hashlib.sha256(PACKED).hexdigest()
ROOT = Path(__file__).resolve().parents[2]


class Server:
    """Serves one file; may stop half way, take its time, refuse ranges, or have changed."""

    def __init__(self, data):
        self.data, self.tag, self.ranges, self.stop = data, '"1"', True, None
        self.pause = 0
        self.asked, server = [], self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self):
                server.answer(self)

            def log_message(self, *args):
                pass

        self.http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.http.server_port}/toy.txt.gz"
        threading.Thread(
            target=self.http.serve_forever, args=(0.01,), daemon=True
        ).start()

    def answer(self, request):
        wanted = request.headers.get("Range")
        self.asked.append(wanted)
        start, size = 0, len(self.data)
        if not request.path.startswith("/toy.txt.gz"):
            request.send_error(404)
            return
        if wanted and self.ranges and request.headers.get("If-Range") == self.tag:
            start = int(wanted.removeprefix("bytes=").rstrip("-"))
            if start >= size:
                request.send_error(416)
                return
            request.send_response(206)
            request.send_header("Content-Range", f"bytes {start}-{size - 1}/{size}")
        else:
            request.send_response(200)
        request.send_header("Content-Length", str(size - start))
        request.send_header("ETag", self.tag)
        request.end_headers()
        middle, stop = (
            start + (size - start) // 2,
            size if self.stop is None else self.stop,
        )
        request.wfile.write(self.data[start : min(middle, stop)])
        time.sleep(self.pause)
        request.wfile.write(self.data[min(middle, stop) : stop])
        request.close_connection = True


@pytest.fixture
def server():
    one = Server(PACKED)
    yield one
    one.http.shutdown()
    one.http.server_close()


@pytest.fixture
def home(tmp_path, monkeypatch):
    monkeypatch.setenv("SEMMETRICS_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    return tmp_path / "home"


def entry(server, **given):
    known = {
        "name": "toy-3",
        "url": server.url,
        "kind": "glove",
        "dimension": 3,
        "licence": "CC0",
    }
    return Entry(**(known | given))


def test_vectors_are_downloaded_checked_and_converted(server, home):
    got = fetch(entry(server, sha256=SHA256))
    assert (got.folder, got.sha256, got.checked) == (
        home / "vectors" / "toy-3",
        SHA256,
        "manifest",
    )
    assert open_converted(got.folder).embed(["word7"]).vectors.tolist() == [
        [7, 0.5, -1]
    ]
    assert open_converted(got.folder).identity.startswith("toy-3@")
    meta = read_meta(got.folder)
    assert (meta["licence"], meta["source"]) == ("CC0", server.url)
    assert meta["sha256"] == hashlib.sha256(GLOVE).hexdigest()
    assert not list((home / "downloads").iterdir())
    again = fetch(entry(server, sha256=SHA256))
    assert (again.sha256, len(server.asked)) == ("", 1)


def test_without_a_digest_it_is_told_and_not_checked(server, home):
    got = fetch(entry(server), max_words=10, folder=home / "first", keep=True)
    assert (got.sha256, got.checked) == (SHA256, "")
    assert len(open_converted(home / "first")) == 10
    fetch(entry(server))
    assert len(server.asked) == 1  # the download was kept


def test_later_downloads_are_compared_with_the_first(server, home):
    assert fetch(entry(server), folder=home / "one").checked == ""
    again = fetch(entry(server), folder=home / "two")
    assert (again.sha256, again.checked) == (SHA256, "first download")
    record = record_path(server.url)
    assert record.read_text() == f"{SHA256}  {record.name.removesuffix('.sha256')}\n"
    server.data, server.tag = (
        gzip.compress(GLOVE.partition(b"word40 ")[0], mtime=0),
        '"2"',
    )
    with refused("wrong-digest") as caught:
        fetch(entry(server), folder=home / "three")
    assert str(record) in caught.value.remedy
    assert not list((home / "downloads").iterdir())
    record.unlink()
    assert fetch(entry(server), folder=home / "three").checked == ""


def test_a_first_download_that_holds_no_vectors_is_not_trusted(server, home):
    server.data = b"<html>We are closed</html>"
    with pytest.raises(InputError):
        fetch(entry(server))
    assert not list((home / "downloads").iterdir())
    assert not record_path(server.url).exists()
    server.data = PACKED
    assert fetch(entry(server)).sha256 == SHA256


def test_another_dimension_is_refused(server, home):
    with refused("wrong-shape"):
        fetch(entry(server, dimension=300))


@pytest.fixture
def halfway(server, home):
    """A download that the server ended after 1,000 bytes."""
    file = home / "toy.txt.gz"
    server.stop = 1000
    with refused("fetch-failed"):
        download(server.url, file)
    server.stop = None
    assert not file.exists()
    return file


def test_a_download_goes_on_where_it_stopped(server, halfway):
    seen = []
    download(server.url, halfway, progress=lambda *told: seen.append(told))
    assert server.asked == [None, "bytes=1000-"]
    assert halfway.read_bytes() == PACKED
    assert seen[-1] == (len(PACKED), len(PACKED))
    assert sorted(path.name for path in halfway.parent.iterdir()) == [
        "checksums",
        "toy.txt.gz",
    ]


def test_a_part_that_is_too_long_is_forgotten(server, halfway):
    part = halfway.with_name("toy.txt.gz.part")
    part.write_bytes(PACKED + b"more")
    with refused("http-error"):
        download(server.url, halfway)
    download(server.url, halfway)
    assert halfway.read_bytes() == PACKED


def test_a_name_does_not_leave_the_folder_of_downloads(server, home):
    fetch(entry(server, url=f"{server.url}/..%2F..%2Fout.txt"), keep=True)
    (kept,) = (home / "downloads").iterdir()
    assert kept.name.endswith("-out.txt")
    assert not (home.parent / "out.txt").exists()


def test_a_folder_with_something_else_is_refused_before_the_download(server, home):
    (home / "mine").mkdir(parents=True)
    with refused("exists"):
        fetch(entry(server), folder=home / "mine")
    assert server.asked == []


def test_the_cache_folder_with_other_vectors_is_refused(server, home):
    fetch(entry(server), max_words=10)
    with refused("other-vectors"):
        fetch(entry(server))
    assert fetch(entry(server), max_words=10).folder == home / "vectors" / "toy-3"


FETCHING = """
import sys
from semmetrics.embed.manifest import Entry, fetch

url, folder, limit = sys.argv[1:]
entry = Entry(name="toy-3", url=url, kind="glove", dimension=3, licence="CC0")
print(fetch(entry, folder=folder, max_words=int(limit)).sha256)
"""


def fetch_in_a_process(server, folder, limit):
    command = [sys.executable, "-c", FETCHING, server.url, str(folder), str(limit)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT)


def test_several_processes_fetch_one_file_once(server, home):
    server.pause = 0.5
    (home / "downloads").mkdir(parents=True)
    running = [fetch_in_a_process(server, home / "toy", 10) for _ in range(3)]
    said = sorted(one.communicate()[0].strip() for one in running)
    assert [one.returncode for one in running] == [0, 0, 0]
    assert said == ["", "", SHA256]  # the others found the vectors of the first
    assert server.asked == [None]
    assert open_converted(home / "toy").embed(["word7"]).vectors.tolist() == [
        [7, 0.5, -1]
    ]
    assert not list((home / "downloads").iterdir())


def test_processes_that_convert_one_file_twice_do_not_disturb_each_other(server, home):
    server.pause = 0.5
    running = [
        fetch_in_a_process(server, home / f"toy{limit}", limit) for limit in (10, 20)
    ]
    said = [one.communicate()[0].strip() for one in running]
    assert ([one.returncode for one in running], said) == ([0, 0], [SHA256, SHA256])
    assert [len(open_converted(home / f"toy{limit}")) for limit in (10, 20)] == [10, 20]


def test_the_lock_of_a_process_that_was_killed_is_none(server, home):
    server.pause = 60
    killed = fetch_in_a_process(server, home / "toy", 10)
    while not list((home / "downloads").glob("*.part")):
        time.sleep(0.01)
    killed.kill()
    killed.communicate()
    assert list((home / "downloads").glob("*.lock"))
    server.pause = 0
    assert fetch(entry(server), folder=home / "toy").sha256 == SHA256
    assert not list((home / "downloads").iterdir())


# ---- servers that go wrong ----------------------------------------------------------------------


class Raw:
    """Answers each connection with the next of some texts, byte by byte as they are."""

    def __init__(self, *answers, hang=0.0):
        self.socket = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self.socket.getsockname()[1]}/toy.txt.gz"
        self.answers, self.hang = list(answers), hang
        threading.Thread(target=self.serve, daemon=True).start()

    def serve(self):
        for answer in self.answers:
            connection, _ = self.socket.accept()
            with connection:
                connection.recv(1 << 16)
                connection.sendall(answer)
                time.sleep(self.hang)
        self.socket.close()


def answer(body, *headers, status="200 OK"):
    lines = [f"HTTP/1.1 {status}", "Connection: close", *headers, "", ""]
    return "\r\n".join(lines).encode() + body


LENGTH, TAG = f"Content-Length: {len(PACKED)}", 'ETag: "1"'
CUT = answer(PACKED[:1000], LENGTH, TAG)


@pytest.mark.parametrize(
    ("wrong", "problem"),
    [
        (answer(PACKED), "no-length"),
        (answer(PACKED[:1000]), "no-length"),
        (answer(PACKED, f"Content-Length: {len(PACKED) + 9}"), "fetch-failed"),
        (answer(PACKED, "Content-Length: many"), "no-length"),
        (answer(PACKED[:1000], "Content-Length: 1000"), "damaged"),
        (
            answer(b"800\r\n" + PACKED[:2000], "Transfer-Encoding: chunked"),
            "fetch-failed",
        ),
        (answer(b"", "Location: /loop", status="302 Found"), "http-error"),
        (answer(b"", "Location: file:///etc/passwd", status="302 Found"), "http-error"),
        (b"nonsense\r\n", "fetch-failed"),
        (b"", "fetch-failed"),
    ],
)
def test_what_is_not_whole_is_never_kept(home, wrong, problem):
    raw = Raw(wrong, *[wrong] * 12 if b"/loop" in wrong else [])
    with refused(problem):
        fetch(entry(raw), folder=home / "toy")
    assert not download_path(raw.url).exists()
    assert not record_path(raw.url).exists()
    assert not (home / "toy").exists()


@pytest.mark.parametrize(
    "said",
    [
        f"Content-Range: bytes 5-{len(PACKED) - 1}/{len(PACKED)}",  # another beginning
        f"Content-Range: bytes 1000-1500/{len(PACKED)}",  # not up to the end
        "Content-Range: bytes 1000-*/*",
        "X: no range",
    ],
)
def test_a_rest_that_is_another_is_not_joined(home, said):
    rest = answer(
        PACKED[1000:],
        said,
        f"Content-Length: {len(PACKED) - 1000}",
        TAG,
        status="206 Partial Content",
    )
    raw = Raw(CUT, rest, answer(PACKED, LENGTH, TAG))
    file = home / "toy.txt.gz"
    for problem in ("fetch-failed", "fetch-failed"):
        with refused(problem):
            download(raw.url, file)
    assert not file.exists()
    download(raw.url, file)
    assert file.read_bytes() == PACKED
