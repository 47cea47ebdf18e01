"""Calls over a D-Bus connection, many at a time, with a deadline."""

import socket
import time
from collections.abc import Sequence
from typing import Any

from hexathlon.envs.errors import DeadlineExceeded, EnvFault

__all__ = ["Bus", "BusCall", "Reference"]

Reference = tuple[str, str]
"""Name of a program on the bus, and the path of one of its objects."""

BusCall = tuple[Reference, str, str, str, tuple[Any, ...]]
"""Object, interface, method, signature of the arguments, arguments."""

_MOST_KEPT = 20_000
_AHEAD = 200
"""Maximum number of concurrent calls, so that neither side's buffer fills."""


class Bus:
    """A connection to a message bus.

    Args:
        link: A connected socket, opened by user 0 of the sandbox.
        seconds: Deadline of a group of calls.
    """

    def __init__(self, link: socket.socket, seconds: float) -> None:
        from jeepney.io.blocking import DBusConnection

        self._seconds = seconds
        self._kept: dict[BusCall, bytes] = {}
        link.settimeout(seconds)
        link.sendall(b"\0AUTH EXTERNAL " + b"0".hex().encode() + b"\r\n")
        answer = link.recv(1024)
        if not answer.startswith(b"OK "):
            raise EnvFault(f"the message bus refused the connection: {answer[:80]!r}")
        link.sendall(b"BEGIN\r\n")
        link.settimeout(None)
        self._connection = DBusConnection(link)

    def call(self, calls: Sequence[BusCall]) -> list[Any]:
        """Make calls and return the first value of each answer, None for each that failed.

        Raises:
            DeadlineExceeded: If a program does not answer.
            EnvFault: If the bus is gone.
        """
        answers: list[Any] = [None] * len(calls)
        deadline = time.monotonic() + self._seconds
        for start in range(0, len(calls), _AHEAD):
            self._group(calls[start : start + _AHEAD], answers, start, deadline)
        return answers

    def _group(
        self, calls: Sequence[BusCall], answers: list[Any], start: int, deadline: float
    ) -> None:
        from jeepney import HeaderFields, MessageType

        waiting = {}
        packed = []
        for place, call in enumerate(calls, start):
            serial = next(self._connection.outgoing_serial)
            waiting[serial] = place
            packed += [*self._message(call, serial)]
        try:
            self._connection.sock.sendall(b"".join(packed))
            while waiting:
                left = deadline - time.monotonic()
                heard = self._connection.receive(timeout=max(left, 0.001))
                number = heard.header.fields.get(HeaderFields.reply_serial, 0)
                answered = waiting.pop(number, None)
                if answered is not None and heard.header.message_type == MessageType.method_return:
                    answers[answered] = heard.body[0] if heard.body else None
        except TimeoutError as error:
            raise DeadlineExceeded(
                f"{len(waiting)} calls to the desktop's programs were not answered in "
                f"{self._seconds:g} seconds"
            ) from error
        except OSError as error:
            raise EnvFault(f"the message bus is gone: {error}") from error

    def _message(self, call: BusCall, serial: int) -> tuple[bytes, bytes, bytes]:
        """Return a call's bytes, cached except for the serial number at byte 8."""
        from jeepney import DBusAddress, new_method_call

        data = self._kept.get(call)
        if data is None:
            (name, path), interface, method, signature, values = call
            address = DBusAddress(path, bus_name=name, interface=interface)
            data = new_method_call(address, method, signature or None, values).serialise(serial=1)
            if len(self._kept) >= _MOST_KEPT:
                self._kept.clear()
            self._kept[call] = data
        return data[:8], serial.to_bytes(4, "little"), data[12:]

    def close(self) -> None:
        """Close the connection; idempotent."""
        self._connection.close()
