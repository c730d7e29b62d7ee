"""Web servers on this machine for tests of downloads."""

from __future__ import annotations

import socket
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

NAME = "toy.txt.gz"


class Server:
    """Serves one file, which may be continued.

    Attributes
    ----------
    data : bytes
    tag : str
        The version of the file.
    stop : int, optional
        How many bytes are sent before the connection ends.
    pause : float
        Seconds of a pause in the middle of the file.
    ranges : list of (str or None)
        The ranges of all requests.
    """

    def __init__(self, data):
        self.data = data
        self.tag = '"1"'
        self.stop = None
        self.pause = 0
        self.ranges = []
        server = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self):
                server.answer(self)

            def log_message(self, *arguments):
                pass

        self.http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.http.server_port}/{NAME}"
        serve = self.http.serve_forever
        threading.Thread(target=serve, args=(0.01,), daemon=True).start()

    def close(self):
        self.http.shutdown()
        self.http.server_close()

    def answer(self, request):
        start = self.start_of(request)
        size = len(self.data)
        if start > 0 and start >= size:
            request.send_error(416)
            return
        if start > 0:
            request.send_response(206)
            request.send_header("Content-Range", f"bytes {start}-{size - 1}/{size}")
        else:
            request.send_response(200)
        request.send_header("Content-Length", str(size - start))
        request.send_header("ETag", self.tag)
        request.end_headers()
        body = self.data[start : self.stop]
        middle = len(body) // 2
        request.wfile.write(body[:middle])
        time.sleep(self.pause)
        request.wfile.write(body[middle:])
        request.close_connection = True

    def start_of(self, request):
        """Return the first byte of the requested range, or 0 for the whole file."""
        requested = request.headers.get("Range")
        self.ranges.append(requested)
        if requested is None or request.headers.get("If-Range") != self.tag:
            return 0
        return int(requested.removeprefix("bytes=").rstrip("-"))


class RawServer:
    """Answers each connection with the next of some byte strings."""

    def __init__(self, *answers):
        self.socket = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self.socket.getsockname()[1]}/{NAME}"
        self.answers = answers
        threading.Thread(target=self.serve, daemon=True).start()

    def serve(self):
        for answer in self.answers:
            connection, _ = self.socket.accept()
            with connection:
                connection.recv(1 << 16)
                connection.sendall(answer)
        self.socket.close()


def http_answer(body, *headers, status="200 OK"):
    lines = [f"HTTP/1.1 {status}", "Connection: close", *headers, "", ""]
    return "\r\n".join(lines).encode() + body
