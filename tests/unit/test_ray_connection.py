"""Addresses of a cluster are checked before Ray tries to connect to them."""

import socket
import threading
import time
from contextlib import contextmanager

import pytest
from refusals import refused

from semmetrics.scale import ray_connection


class FakeRay:
    """A module of Ray that records the addresses it should connect to."""

    def __init__(self):
        self.addresses = []

    def init(self, address, **options):
        self.addresses.append(address)


@contextmanager
def serving(answer):
    """Run a server for one connection, and return its address."""
    with socket.create_server(("127.0.0.1", 0)) as server:

        def serve_once():
            with server.accept()[0] as connection:
                answer(connection)

        thread = threading.Thread(target=serve_once)
        thread.start()
        yield f"127.0.0.1:{server.getsockname()[1]}"
        thread.join()


def answer_after_the_time_limit(connection):
    time.sleep(0.5)


def close_at_once(connection):
    pass


def answer_as_a_web_server(connection):
    connection.recv(1000)
    connection.sendall(b"HTTP/1.0 505 Version Not Supported\r\n\r\n")


def repeat_the_request(connection):
    connection.sendall(connection.recv(1000))


def answer_with_another_http2_frame(connection):
    connection.sendall(b"\0\0\0\6" + bytes(5))
    connection.recv(1000)


def answer_as_ray_in_two_parts(connection):
    connection.sendall(b"\0\0\6\4")
    time.sleep(0.01)
    connection.sendall(bytes(5) + bytes(6))
    connection.recv(1000)


@pytest.mark.parametrize("scheme", ["", "ray://"])
@pytest.mark.parametrize(
    "answer",
    [
        answer_after_the_time_limit,
        close_at_once,
        answer_as_a_web_server,
        repeat_the_request,
        answer_with_another_http2_frame,
    ],
)
def test_an_address_where_another_program_answers_raises_an_error(
    monkeypatch, answer, scheme
):
    monkeypatch.setattr(ray_connection, "TIMEOUT_SECONDS", 0.2)
    ray = FakeRay()

    with serving(answer) as address, refused("no-cluster", address=scheme + address):
        ray_connection.connect(ray, scheme + address)

    assert ray.addresses == []


@pytest.mark.parametrize(
    "address", ["127.0.0.1:1", "ray://127.0.0.1:1", "127.0.0.1:99999"]
)
def test_an_address_where_nothing_answers_raises_an_error(address):
    ray = FakeRay()

    with refused("no-cluster", address=address):
        ray_connection.connect(ray, address)

    assert ray.addresses == []


@pytest.mark.parametrize("use_tls", ["", "0"])
def test_ray_connects_to_a_server_that_answers_as_ray_does(monkeypatch, use_tls):
    monkeypatch.setenv("RAY_USE_TLS", use_tls)
    ray = FakeRay()

    with serving(answer_as_ray_in_two_parts) as address:
        ray_connection.connect(ray, address)

    assert len(ray.addresses) == 1


def test_with_tls_a_server_need_not_answer_in_plain_text(monkeypatch):
    monkeypatch.setenv("RAY_USE_TLS", "1")
    ray = FakeRay()

    with serving(lambda connection: connection.recv(1000)) as address:
        ray_connection.connect(ray, address)

    assert len(ray.addresses) == 1


def test_an_error_of_ray_is_an_error_of_the_address():
    class FailingRay:
        def init(self, address, **options):
            raise ConnectionError("no node answers")

    with refused("no-cluster", address="auto"):
        ray_connection.connect(FailingRay(), "auto")
