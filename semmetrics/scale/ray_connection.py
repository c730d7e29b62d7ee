"""Connect to a Ray cluster, or start Ray on this machine."""

from __future__ import annotations

import os
import socket
import time
from typing import Any

from semmetrics.errors import InputError, reason_of

TIMEOUT_SECONDS = 10
_FRAME_HEADER_BYTES = 9
_SETTINGS_FRAME = b"\4"
_STREAM_0 = bytes(4)
_HTTP2_GREETING = (
    b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + b"\0\0\0" + _SETTINGS_FRAME + bytes(5)
)


def connect(ray: Any, address: str) -> None:
    """Connect to a cluster, or start Ray on this machine.

    Parameters
    ----------
    ray : module
    address : str
        As for ``ray.init``: "auto", "local", or the address of a cluster.

    Raises
    ------
    InputError
        If no server of Ray's protocol answers at the address within 10 seconds, or the
        server is not a cluster.
    """
    _, _, host_and_port = address.rpartition("://")
    host, _, port = host_and_port.rpartition(":")
    if host and port.isdecimal():
        # Ray itself would try for minutes.
        try:
            _check_server(host.strip("[]"), int(port))
        except (OSError, OverflowError) as error:
            raise InputError(
                "no-cluster", address=address, why=reason_of(error)
            ) from None
    try:
        ray.init(address, log_to_driver=False, logging_level="error")
    except (ConnectionError, ValueError, RuntimeError) as error:
        why = str(error).partition("\n")[0]
        raise InputError("no-cluster", address=address, why=why) from error


def _check_server(host: str, port: int) -> None:
    """Check that a server answers as Ray does, which uses gRPC and so HTTP/2.

    With TLS only the connection is checked, because the server waits for a certificate.

    Raises
    ------
    OSError
        If nothing answers within 10 seconds, or the answer is in another protocol.
    """
    deadline = time.monotonic() + TIMEOUT_SECONDS
    with socket.create_connection((host, port), timeout=TIMEOUT_SECONDS) as connection:
        if os.environ.get("RAY_USE_TLS", "0").lower() in ("1", "true"):
            return
        connection.sendall(_HTTP2_GREETING)
        answer = _receive(connection, _FRAME_HEADER_BYTES, deadline)
    # The first frame of a server has its settings, for stream 0.
    if answer[3:4] != _SETTINGS_FRAME or answer[5:] != _STREAM_0:
        raise OSError("the server at this address is not Ray")


def _receive(connection: socket.socket, size: int, deadline: float) -> bytes:
    """Receive ``size`` bytes, or fewer if the server closes the connection."""
    received = b""
    while len(received) < size:
        connection.settimeout(max(0.001, deadline - time.monotonic()))
        part = connection.recv(size - len(received))
        if not part:
            break
        received += part
    return received
