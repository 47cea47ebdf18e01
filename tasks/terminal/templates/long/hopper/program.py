"""The server: as it is at the start, and with the promises kept, all of them or all but one."""

from hexathlon.tasks.terminal.draft import faulty
from hexathlon.tasks.terminal.templates.long.hopper.faults import FAULTS
from hexathlon.tasks.terminal.templates.long.hopper.model import Promise
from hexathlon.tasks.terminal.templates.long.hopper.queues import QUEUES
from hexathlon.tasks.terminal.templates.long.hopper.storage import JOURNAL, in_a_database

__all__ = ["alternative_text", "program_text", "starting_text"]

_OPENING = '''#!/usr/bin/env python3
"""serve.py DATA PORT: jobs in queues; docs/, decisions/ and mail/ say what is promised."""
import fcntl, heapq, json, os, selectors, signal, socket, sys, time

CONSTANTS
LONGEST_LINE = 65536
COMPACT = 64 * 1024


class Refused(Exception):
    pass


'''

_VOIDED = """        for job in list(self.jobs.values()):
            if job["state"] == "held" and job["until"] > time.time():
                self.note(["job", {**job, "state": "ready", "takes": job["takes"] - 1}])"""


def _constants(promise: Promise, left_out: str) -> str:
    twists = promise.twists - {left_out}
    options = ["key", "rank", "delay"] + [name for name in ("ttl", "after") if name in twists]
    return (
        f"TWISTS = set({sorted(twists)!r})\nOPTIONS = {options!r}\nLIMIT = {promise.limit}\n"
        f"KEYS = {promise.keys}\nTAKES = {promise.takes}\nREST = {promise.rest}\n"
        f"LONGEST = {promise.longest}\n"
    )


def program_text(promise: Promise, left_out: str = "") -> str:
    """Return the server, with one promise broken if it is named.

    Raises:
        ValueError: If that changes nothing.
    """
    voided = _VOIDED if promise.has("restart_voids") and left_out != "restart_voids" else ""
    text = (_OPENING + JOURNAL + QUEUES).replace("RESTART", voided, 1)
    text = faulty(text, FAULTS, [left_out] if left_out in FAULTS else [])
    return text.replace("CONSTANTS", _constants(promise, left_out), 1)


def alternative_text(promise: Promise) -> str:
    """Return a server that keeps everything in a database instead of a journal."""
    return in_a_database(program_text(promise))


_STARTING = '''#!/usr/bin/env python3
"""serve.py DATA PORT: jobs in queues."""
import json, os, socketserver, sys, threading, time

folder, port = sys.argv[1], int(sys.argv[2])
os.makedirs(folder, exist_ok=True)
path = os.path.join(folder, "journal.json")
jobs, guard = [], threading.Lock()
if os.path.exists(path):
    jobs = json.load(open(path))


def save():
    json.dump(jobs, open(path, "w"))


class Handler(socketserver.StreamRequestHandler):
    def handle(self):
        for line in self.rfile:
            with guard:
                reply = self.answer(line.decode().rstrip("\\n").split(" "))
            self.wfile.write(reply.encode() + b"\\n")

    def answer(self, words):
        if words[0] == "PING":
            return "PONG"
        if words[0] == "PUT":
            jobs.append({"id": len(jobs) + 1, "queue": words[1], "body": " ".join(words[2:]),
                         "until": 0, "takes": 0, "done": False})
            if len(jobs) % 20 == 0:
                save()
            return f"OK {len(jobs)}"
        if words[0] == "TAKE":
            for job in jobs:
                if job["queue"] == words[1] and not job["done"] and job["until"] < time.time():
                    job["until"] = time.time() + float(words[2])
                    job["takes"] += 1
                    token = f"{job['id']}-{job['takes']}"
                    return f"JOB {job['id']} {token} {job['takes']} {job['body']}"
            return "NONE"
        if words[0] == "DONE":
            jobs[int(words[1]) - 1]["done"] = True
            return "OK"
        return "ERR command"


class Server(socketserver.ThreadingTCPServer):
    allow_reuse_address = True
    daemon_threads = True


Server(("127.0.0.1", port), Handler).serve_forever()
'''


def starting_text() -> str:
    """Return the server that the task starts from."""
    return _STARTING
