"""The count of bytes that a thread has written, which bounds a statement's temporary files."""

import os
import sys
import threading
import warnings
from pathlib import Path

from hexathlon.tasks.sql.world.backends import connection


def open_accounts():
    places = [f"/proc/self/fd/{name}" for name in os.listdir("/proc/self/fd")]
    links = [os.readlink(place) for place in places if os.path.lexists(place)]
    return sum(link.endswith("/io") for link in links)


def test_it_counts_this_thread_and_a_fork_counts_its_own(tmp_path: Path):
    written = connection._thread_bytes_written
    before = written()
    (tmp_path / "a").write_bytes(bytes(100_000))
    assert 100_000 <= written() - before < 200_000
    reader, writer = os.pipe()
    child = os.fork()
    if not child:
        before = written()
        (tmp_path / "b").write_bytes(bytes(50_000))
        os.write(writer, str(written() - before).encode())
        os._exit(0)
    os.waitpid(child, 0)
    assert 50_000 <= int(os.read(reader, 99)) < 100_000
    os.close(reader)
    os.close(writer)


def test_a_thread_that_ends_leaves_nothing_open():
    connection._thread_bytes_written()
    before = open_accounts()
    threads = [threading.Thread(target=connection._thread_bytes_written) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert open_accounts() == before


def test_an_interruption_at_any_instruction_leaves_no_file_open():
    class RingError(Exception):
        pass

    class RingAt:
        """A tracer that raises at one instruction of the function and those it calls."""

        def __init__(self, instruction):
            self.left = instruction

        def __call__(self, frame, event, argument):
            frame.f_trace_opcodes = True
            if event == "opcode":
                self.left -= 1
                if self.left < 0:
                    raise RingError
            return self

    connection._thread_bytes_written()
    before = open_accounts()
    instructions = 0
    with warnings.catch_warnings():
        warnings.simplefilter("error", ResourceWarning)
        while True:
            tracer, previous = RingAt(instructions), sys.gettrace()
            sys.settrace(tracer)
            try:
                connection._thread_bytes_written()
            except RingError:
                instructions += 1
                continue
            finally:
                sys.settrace(previous)
            break
    assert instructions > 20
    assert open_accounts() == before
