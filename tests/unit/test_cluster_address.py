"""Addresses of a cluster at which something else answers."""

import socket
import threading
import time

import pytest
from refusals import refused

from semmetrics.scale import ray_connection


class FailingRay:
    """A module of Ray that should not be asked to connect."""

    def init(self, *args, **options):
        raise AssertionError("init is called")


def answer_nothing(connection):
    time.sleep(0.5)  # longer than the time limit


def hang_up(connection):
    pass


def answer_as_a_web_server(connection):
    connection.recv(1000)
    connection.sendall(b"HTTP/1.0 505 Version Not Supported\r\n\r\n")


def repeat(connection):
    connection.sendall(connection.recv(1000))


@pytest.mark.parametrize("scheme", ["", "ray://"])
@pytest.mark.parametrize(
    "serve", [answer_nothing, hang_up, answer_as_a_web_server, repeat]
)
def test_an_address_where_something_else_answers(monkeypatch, serve, scheme):
    monkeypatch.setattr(ray_connection, "_TIMEOUT_SECONDS", 0.2)

    def serve_once():
        with server.accept()[0] as connection:
            serve(connection)

    with socket.create_server(("127.0.0.1", 0)) as server:
        thread = threading.Thread(target=serve_once)
        thread.start()
        address = f"{scheme}127.0.0.1:{server.getsockname()[1]}"
        with refused("no-cluster", address=address):
            ray_connection.connect(FailingRay(), address)
        thread.join()


@pytest.mark.parametrize("tls", ["", "0", "1"])
def test_a_server_that_answers_as_ray_does_is_tried(monkeypatch, tls):
    monkeypatch.setenv("RAY_USE_TLS", tls)

    def serve_once():
        with server.accept()[0] as connection:
            if tls != "1":  # in two parts
                connection.sendall(b"\0\0\6\4")
                time.sleep(0.01)
                connection.sendall(bytes(5) + bytes(6))
            connection.recv(1000)

    with socket.create_server(("127.0.0.1", 0)) as server:
        thread = threading.Thread(target=serve_once)
        thread.start()
        with pytest.raises(AssertionError, match="is called"):
            ray_connection.connect(FailingRay(), f"127.0.0.1:{server.getsockname()[1]}")
        thread.join()
