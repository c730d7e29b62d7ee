"""Downloads from a server on this machine: resumed, checked, converted."""

import gzip
import hashlib
import subprocess
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from semmetrics.embed.converted import open_converted, read_meta
from semmetrics.embed.fetch import Entry, fetch
from semmetrics.errors import InputError
from semmetrics.store.downloads import download

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
        threading.Thread(target=self.http.serve_forever, args=(0.01,), daemon=True).start()

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
        middle, stop = start + (size - start) // 2, size if self.stop is None else self.stop
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
    known = {"name": "toy-3", "url": server.url, "kind": "glove", "dimension": 3, "licence": "CC0"}
    return Entry(**(known | given))


def test_vectors_are_downloaded_checked_and_converted(server, home):
    got = fetch(entry(server, sha256=SHA256))
    assert (got.folder, got.sha256, got.checked) == (home / "vectors" / "toy-3", SHA256, True)
    assert open_converted(got.folder).embed(["word7"]).vectors.tolist() == [[7, 0.5, -1]]
    assert open_converted(got.folder).identity.startswith("toy-3@")
    meta = read_meta(got.folder)
    assert (meta["licence"], meta["source"]) == ("CC0", server.url)
    assert meta["sha256"] == hashlib.sha256(GLOVE).hexdigest()
    assert not list((home / "downloads").iterdir())
    again = fetch(entry(server, sha256=SHA256))
    assert (again.sha256, len(server.asked)) == ("", 1)


def test_without_a_digest_it_is_told_and_not_checked(server, home):
    got = fetch(entry(server), max_words=10, folder=home / "first", keep=True)
    assert (got.sha256, got.checked) == (SHA256, False)
    assert len(open_converted(home / "first")) == 10
    fetch(entry(server))
    assert len(server.asked) == 1  # the download was kept


def test_another_digest_is_refused_and_the_file_removed(server, home):
    with pytest.raises(InputError, match=f"its SHA-256 is {SHA256}, and 0000"):
        fetch(entry(server, sha256="0" * 64))
    assert not list((home / "downloads").iterdir())
    assert not (home / "vectors").exists()


def test_another_dimension_is_refused(server, home):
    with pytest.raises(InputError, match="have 3 numbers, and 300 were expected"):
        fetch(entry(server, dimension=300))


@pytest.fixture
def halfway(server, home):
    """A download that the server ended after 1,000 bytes."""
    file = home / "toy.txt.gz"
    server.stop = 1000
    with pytest.raises(InputError, match=r"goes on after the 1,000 bytes that are here"):
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
    assert [path.name for path in halfway.parent.iterdir()] == ["toy.txt.gz"]


def test_a_server_that_cannot_go_on_sends_all(server, halfway):
    server.ranges = False
    download(server.url, halfway)
    assert halfway.read_bytes() == PACKED


def test_a_file_that_was_replaced_is_sent_from_the_start(server, halfway):
    server.tag, server.data = '"2"', PACKED[::-1]
    download(server.url, halfway)
    assert halfway.read_bytes() == PACKED[::-1]


def test_a_part_that_is_too_long_is_forgotten(server, halfway):
    part = halfway.with_name("toy.txt.gz.part")
    part.write_bytes(PACKED + b"more")
    with pytest.raises(InputError, match="416"):
        download(server.url, halfway)
    download(server.url, halfway)
    assert halfway.read_bytes() == PACKED


def test_missing_files_and_servers_are_said(server, home):
    with pytest.raises(InputError, match="the server answers 404") as caught:
        fetch(entry(server, url=server.url.replace("toy", "none")))
    assert "semmetrics embed convert" in caught.value.remedy
    with pytest.raises(InputError, match=r"it cannot be fetched: .*refused") as caught:
        fetch(entry(server, url="http://127.0.0.1:9/x"))
    assert "check the network" in caught.value.remedy


def test_files_of_one_name_from_two_places_are_kept_apart(server, home):
    fetch(entry(server), folder=home / "first", keep=True)
    server.data = gzip.compress(GLOVE.replace(b"word", b"wort"), mtime=0)
    elsewhere = f"{server.url}?language=de"
    got = fetch(entry(server, url=elsewhere), folder=home / "second", keep=True)
    assert open_converted(got.folder).find(["word7", "wort7"]).tolist() == [-1, 7]
    assert len(list((home / "downloads").iterdir())) == 2


def test_a_name_does_not_leave_the_folder_of_downloads(server, home):
    fetch(entry(server, url=f"{server.url}/..%2F..%2Fout.txt"), keep=True)
    (kept,) = (home / "downloads").iterdir()
    assert kept.name.endswith("-out.txt")
    assert not (home.parent / "out.txt").exists()


def test_a_folder_with_something_else_is_refused_before_the_download(server, home):
    (home / "mine").mkdir(parents=True)
    with pytest.raises(InputError, match="it exists; name a new folder"):
        fetch(entry(server), folder=home / "mine")
    assert server.asked == []


def test_a_folder_with_other_vectors_is_refused(server, home):
    folder = fetch(entry(server), folder=home / "toy", max_words=10).folder
    assert fetch(entry(server), folder=folder, max_words=10).sha256 == ""
    for other, max_words in ((entry(server), None), (entry(server), 20),
                         (entry(server, name="other"), 10),
                         (entry(server, url=f"{server.url}?2"), 10)):  # fmt: skip
        with pytest.raises(InputError, match="it holds other vectors: toy-3, from http"):
            fetch(other, folder=folder, max_words=max_words)
    assert len(open_converted(folder)) == 10


def test_the_cache_folder_with_other_vectors_is_refused(server, home):
    fetch(entry(server), max_words=10)
    with pytest.raises(InputError, match="it holds other vectors: toy-3, from http"):
        fetch(entry(server))
    assert fetch(entry(server), max_words=10).folder == home / "vectors" / "toy-3"


def test_a_place_that_cannot_be_written_is_refused(server, home):
    home.mkdir()
    (home / "file").write_bytes(b"")
    with pytest.raises(InputError, match="it cannot be written"):
        fetch(entry(server), folder=home / "file" / "toy")


FETCHING = """
import sys
from semmetrics.embed.fetch import Entry, fetch

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
    assert open_converted(home / "toy").embed(["word7"]).vectors.tolist() == [[7, 0.5, -1]]
    assert not list((home / "downloads").iterdir())


def test_processes_that_convert_one_file_twice_do_not_disturb_each_other(server, home):
    server.pause = 0.5
    running = [fetch_in_a_process(server, home / f"toy{limit}", limit) for limit in (10, 20)]
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
