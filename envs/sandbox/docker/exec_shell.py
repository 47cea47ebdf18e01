"""The persistent shell behind an exec socket of the engine.

The engine sends a shell's output in frames: an eight-byte header (stream and length), then the
data. The order between standard output and error is lost, so each command's end is marked in both.
"""

import secrets
import select
import socket
import time

from hexathlon.envs.sandbox.shell import NO_LIMIT, Gathered, Shell, ShellEnded, ShellLink

__all__ = ["OUTPUT", "Frames", "ExecShell"]

_READ = 1 << 16
OUTPUT = 1
"""Stream number of standard output."""


class Frames:
    """Decoder of the engine's stream."""

    def __init__(self) -> None:
        self._buffer = bytearray()

    def add(self, data: bytes) -> list[tuple[int, bytes]]:
        """Return the frames completed by `data`."""
        self._buffer += data
        frames = []
        while len(self._buffer) >= 8:
            size = int.from_bytes(self._buffer[4:8], "big")
            if len(self._buffer) < 8 + size:
                break
            frames.append((self._buffer[0], bytes(self._buffer[8 : 8 + size])))
            del self._buffer[: 8 + size]
        return frames


class ExecShell(Shell):
    """A shell at the other end of an exec socket.

    Args:
        connection: The socket; closed with the shell.
        link: The sandbox around it.
    """

    def __init__(self, connection: socket.socket, link: ShellLink) -> None:
        super().__init__(link, b"\1" + secrets.token_hex(8).encode())
        self._connection = connection
        connection.setblocking(False)
        self._poll = select.poll()
        self._poll.register(connection, select.POLLIN)
        self._frames = Frames()
        self._held = b""
        self._unsent = b""

    def close(self) -> None:
        """Close the socket, which ends the shell."""
        self._connection.close()

    def _talk(
        self, lines: bytes, gathered: Gathered, seconds: float, most: int = NO_LIMIT
    ) -> bytes | None:
        deadline = time.monotonic() + seconds
        self._unsent += lines
        report: bytes | None = None
        marked = False
        while report is None or not marked:
            self._write()
            left = deadline - time.monotonic()
            if left <= 0 or gathered.total > most:
                return None
            if not self._poll.poll(left * 1000):
                continue
            for stream, data in self._frames.add(self._read()):
                if stream == OUTPUT:
                    marked |= self._take(data, gathered)
                elif report is None:
                    report = self._reports.add(data)
        return report

    def _take(self, data: bytes, gathered: Gathered) -> bool:
        """Add output up to the marker; return whether the marker was reached."""
        self._held += data
        before, marker, after = self._held.partition(self._marker)
        if marker:
            gathered.add(before)
            self._held = after
            return True
        keep = len(self._marker) - 1
        cut = self._held.rfind(b"\1", max(len(self._held) - keep, 0))
        end = len(self._held) if cut < 0 else cut
        gathered.add(self._held[:end])
        self._held = self._held[end:]
        return False

    def _read(self) -> bytes:
        try:
            data = self._connection.recv(_READ)
        except BlockingIOError:
            return b""
        except OSError:
            data = b""
        if not data:
            code = self._link.shell_end()
            raise ShellEnded(-9 if code is None else code)
        return data

    def _write(self) -> None:
        if not self._unsent:
            return
        try:
            sent = self._connection.send(self._unsent)
        except BlockingIOError:
            sent = 0
        except OSError:
            sent = len(self._unsent)  # the shell is ending; reading will report it
        self._unsent = self._unsent[sent:]
        events = select.POLLIN | (select.POLLOUT if self._unsent else 0)
        self._poll.modify(self._connection, events)
