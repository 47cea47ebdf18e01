"""The server that keeps the promises, and what it looks like with one of them broken."""

from hexathlon.tasks.terminal.templates.long.hopper.model import Promise

__all__ = ["FAULTS", "alternative_text", "program_text", "starting_text"]

_SERVER = '''#!/usr/bin/env python3
"""serve.py DATA PORT: jobs in queues; docs/, decisions/ and mail/ say what is promised."""
import fcntl, heapq, json, os, selectors, signal, socket, sys, time

CONSTANTS
LONGEST_LINE = 65536
COMPACT = 64 * 1024


class Refused(Exception):
    pass


class Store:
    """All state in memory, and a journal of full job records and other facts."""

    def __init__(self, folder):
        self.folder = folder
        self.path = os.path.join(folder, "journal.json")
        self.jobs, self.keys, self.finished, self.served = {}, {}, {}, {}
        self.last = self.tokens = self.places = 0
        if not os.path.exists(self.path):
            self.migrate()
            self.compact()
        self.read()
        old = os.path.join(folder, "jobs.v1")
        if os.path.exists(old):
            os.replace(old, old + ".migrated")
        self.file = open(self.path, "ab")
        self.pending = []
RESTART
        self.compact()

    def migrate(self):
        try:
            with open(os.path.join(self.folder, "jobs.v1"), "rb") as file:
                lines = file.read().split(b"\\n")[:-1]
        except FileNotFoundError:
            return
        known = set()
        for line in lines:
            try:
                sign, number, *rest = line.decode().split("\\t")
                number = int(number)
            except ValueError:
                continue
            self.last = max(self.last, number)
            if sign == "+":
                if number not in known:
                    known.add(number)
                    self.jobs[number] = self.fresh(number, rest[0], int(rest[1]), rest[2])
            elif number in self.jobs and sign == "t":
                self.jobs[number]["takes"] += 1
            elif sign == "-":
                self.jobs.pop(number, None)
        for job in self.jobs.values():
            if job["takes"] >= TAKES:
                job["state"] = "dead"

    @staticmethod
    def fresh(number, queue, rank, body):
        return {"id": number, "queue": queue, "rank": rank, "body": body, "place": number,
                "takes": 0, "state": "ready", "until": 0, "token": "", "taken": 0, "dies": None,
                "after": 0}

    def read(self):
        with open(self.path, "r+b") as file:
            data = file.read()
            whole = data.rfind(b"\\n") + 1
            file.truncate(whole)
        for line in data[:whole].split(b"\\n")[:-1]:
            for fact in json.loads(line):
                self.apply(fact)

    def apply(self, fact):
        kind, value = fact
        if kind == "job":
            self.jobs[value["id"]] = value
            self.last = max(self.last, value["id"])
        elif kind == "gone":
            self.jobs.pop(value, None)
        elif kind == "keys":
            self.keys[value[0]] = value[1]
        elif kind == "finished":
            self.finished[value] = None
        elif kind == "numbers":
            self.last, self.tokens, self.places = value

    def note(self, *facts):
        for fact in facts:
            self.apply(fact)
            self.pending.append(fact)

    def write(self):
        """Write what has changed as one line, so that all of it holds or none."""
        if not self.pending:
            return
        numbers = ["numbers", [self.last, self.tokens, self.places]]
        self.file.write(json.dumps([*self.pending, numbers]).encode() + b"\\n")
        self.file.flush()
        self.pending = []
        if self.file.tell() > max(COMPACT, 2 * self.floor):
            self.compact()

    def compact(self):
        while len(self.finished) > 1000:
            self.finished.pop(next(iter(self.finished)))
        facts = [["job", job] for job in self.jobs.values()]
        facts += [["keys", [queue, known]] for queue, known in self.keys.items()]
        facts += [["finished", token] for token in self.finished]
        facts.append(["numbers", [self.last, self.tokens, self.places]])
        data = json.dumps(facts).encode() + b"\\n"
        with open(self.path + ".new", "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.replace(self.path + ".new", self.path)
        self.file = open(self.path, "ab")
        self.floor = len(data)


class Hopper:
    def __init__(self, store):
        self.store = store

    def jobs(self, queue, *states):
        return [j for j in self.store.jobs.values() if j["queue"] == queue and j["state"] in states]

    def change(self, job, **values):
        self.store.note(["job", {**job, **values}])
        return self.store.jobs[job["id"]]

    def due(self, job):
        times = []
        if job["state"] in ("held", "resting"):
            times.append((job["until"], job["id"], job["state"]))
        if job["dies"] is not None and not job["takes"] and job["state"] in ("ready", "resting"):
            times.append((job["dies"], job["id"], "dies"))
        return times

    def settle(self):
        now = time.time()
        events = [e for job in list(self.store.jobs.values()) for e in self.due(job) if e[0] <= now]
        heapq.heapify(events)
        while events:
            event = heapq.heappop(events)
            job = self.store.jobs[event[1]]
            if event not in self.due(job):
                continue
            if event[2] == "dies" or (event[2] == "held" and job["takes"] >= TAKES):
                self.bury(job)
                continue
            place = job["place"]
            if "back_of_line" in TWISTS and job["takes"]:
                self.store.places += 1
                place = 10**12 + self.store.places
            job = self.change(job, state="ready", place=place)
            for event in self.due(job):
                if event[0] <= now:
                    heapq.heappush(events, event)
        self.store.write()

    def bury(self, job):
        self.change(job, state="dead")
        if "dead_frees_key" in TWISTS:
            known = self.store.keys.get(job["queue"], [])
            self.store.note(["keys", [job["queue"], [k for k in known if k[1] != job["id"]]]])
        for other in list(self.store.jobs.values()):
            if other["after"] == job["id"] and other["state"] == "waiting":
                self.bury(other)

    def put(self, queue, text, store):
        given = {}
        while True:
            word, _, rest = text.partition(" ")
            name, sign, value = word.partition("=")
            if not sign or name not in OPTIONS:
                break
            given[name], text = value, rest
        keys = store.setdefault("keys", {}).setdefault(queue, list(self.store.keys.get(queue, [])))
        key = given.get("key")
        for known, number, body in keys:
            if known == key:
                if body != text:
                    raise Refused("key")
                return number
        added = store.setdefault("jobs", [])
        load = len(self.jobs(queue, "ready", "held", "resting", "waiting"))
        if load + sum(job["queue"] == queue for job in added) >= LIMIT:
            raise Refused("full")
        try:
            rank, now = int(given.get("rank", 0)), time.time()
            job = Store.fresh(self.store.last + len(added) + 1, queue, rank, text)
            if "delay" in given:
                job["state"], job["until"] = "resting", now + float(given["delay"])
            if "ttl" in given:
                job["dies"] = now + float(given["ttl"])
            if "after" in given:
                parent = self.store.jobs.get(int(given["after"]))
                for other in added:
                    parent = other if other["id"] == int(given["after"]) else parent
                if parent is not None:
                    job["after"] = parent["id"]
                    job["state"] = "dead" if parent["state"] == "dead" else "waiting"
        except ValueError:
            raise Refused("command")
        added.append(job)
        if key is not None and not (job["state"] == "dead" and "dead_frees_key" in TWISTS):
            keys.append([key, job["id"], text])
            del keys[:-KEYS]
        return job["id"]

    def puts(self, lines):
        made, store = [], {}
        for line in lines:
            words = line.split(" ", 2)
            if len(words) < 3 or words[0] != "PUT":
                raise Refused("command")
            made.append(self.put(words[1], words[2], store))
        for job in store.get("jobs", []):
            self.store.note(["job", job])
        for queue, keys in store.get("keys", {}).items():
            self.store.note(["keys", [queue, keys]])
        return "OK " + " ".join(map(str, made))

    def take(self, queue, seconds):
        if queue == "*" and "any_queue" in TWISTS:
            names = {j["queue"] for j in self.store.jobs.values() if j["state"] == "ready"}
            served = self.store.served
            queue = min(names, key=lambda n: (served.get(n, 0), n), default="")
        ready = self.jobs(queue, "ready")
        if not ready:
            return "NONE"
        job = min(ready, key=lambda j: (-j["rank"], j["place"]))
        self.store.tokens += 1
        self.store.served[queue] = self.store.tokens
        now = time.time()
        token = f"{self.store.tokens}-{os.urandom(4).hex()}"
        job = self.change(job, state="held", token=token, taken=now, until=now + float(seconds),
                          takes=job["takes"] + 1)
        return f"JOB {job['id']} {token} {job['takes']} {job['body']}"

    def held(self, number, token):
        job = self.store.jobs.get(int(number))
        if job is None or job["state"] != "held" or job["token"] != token:
            return None
        return job

    def done(self, number, token):
        if token in self.store.finished:
            return "OK"
        job = self.held(number, token)
        if job is None:
            return "STALE"
        self.store.note(["gone", job["id"]], ["finished", token])
        for other in list(self.store.jobs.values()):
            if other["after"] == job["id"] and other["state"] == "waiting":
                self.change(other, state="ready")
        return "OK"

    def fail(self, number, token):
        job = self.held(number, token)
        if job is None:
            return "STALE"
        if job["takes"] >= TAKES:
            self.bury(job)
        else:
            self.change(job, state="resting", until=time.time() + REST)
        return "OK"

    def renew(self, number, token, seconds):
        job = self.held(number, token)
        if job is None:
            return "STALE"
        until = min(time.time() + float(seconds), job["taken"] + LONGEST)
        self.change(job, until=until)
        return "OK"

    def stats(self, queue):
        counts = [len(self.jobs(queue, *states)) for states in
                  (("ready",), ("held",), ("resting", "waiting"), ("dead",))]
        return "STATS " + " ".join(map(str, counts))

    def revive(self, queue):
        dead = self.jobs(queue, "dead")
        for job in dead:
            takes = TAKES - 1 if "revive_once" in TWISTS else 0
            self.change(job, state="ready", place=job["id"], dies=None, takes=takes)
        return f"OK {len(dead)}"

    def answer(self, lines):
        self.settle()
        try:
            if lines[0].startswith("BATCH "):
                made = self.puts(lines[1:])
            elif lines[0].startswith("PUT "):
                made = self.puts(lines)
            else:
                made = self.command(*lines[0].split(" "))
        except Refused as why:
            self.store.pending = []
            return f"ERR {why}"
        except (ValueError, TypeError):
            self.store.pending = []
            return "ERR command"
        self.store.write()
        return made

    def command(self, word, *rest):
        known = {"TAKE": self.take, "DONE": self.done, "FAIL": self.fail, "STATS": self.stats,
                 "REVIVE": self.revive, "PING": lambda: "PONG"}
        if "renew" in TWISTS:
            known["RENEW"] = self.renew
        if word not in known:
            raise Refused("command")
        return known[word](*rest)


class Client:
    """One connection: lines in, replies out, nothing that waits."""

    def __init__(self, made, hopper):
        self.socket, self.hopper = made, hopper
        self.data, self.out, self.batch, self.wanted = b"", b"", [], 0
        self.skipping = False

    def receive(self, data):
        self.data += data
        while b"\\n" in self.data:
            line, self.data = self.data.split(b"\\n", 1)
            if self.skipping:
                self.skipping = False
            elif len(line) > LONGEST_LINE:
                self.out += b"ERR long\\n"
            else:
                self.line(line.rstrip(b"\\r").decode("utf-8", "surrogateescape"))
        if len(self.data) > LONGEST_LINE:
            if not self.skipping:
                self.out += b"ERR long\\n"
            self.data, self.skipping = b"", True

    def line(self, text):
        if not self.wanted and text.startswith("BATCH ") and text[6:].isdigit() and int(text[6:]):
            self.batch, self.wanted = [text], int(text[6:])
            return
        if self.wanted:
            self.batch.append(text)
            self.wanted -= 1
            if self.wanted:
                return
            lines, self.batch = self.batch, []
        else:
            lines = [text]
        self.out += self.hopper.answer(lines).encode("utf-8", "surrogateescape") + b"\\n"


def main():
    folder, port = sys.argv[1], int(sys.argv[2])
    os.makedirs(folder, exist_ok=True)
    guard = open(os.path.join(folder, "lock"), "w")
    try:
        fcntl.flock(guard, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        sys.exit(4)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    hopper = Hopper(Store(folder))
    listener = socket.create_server(("127.0.0.1", port), backlog=128)
    listener.setblocking(False)
    chosen = selectors.DefaultSelector()
    chosen.register(listener, selectors.EVENT_READ)
    while True:
        for key, _ in chosen.select():
            if key.data is None:
                made, _ = listener.accept()
                made.setblocking(False)
                chosen.register(made, selectors.EVENT_READ, Client(made, hopper))
                continue
            client = key.data
            try:
                if key.events & selectors.EVENT_READ:
                    data = client.socket.recv(65536)
                    if not data:
                        raise ConnectionError
                    client.receive(data)
                if client.out:
                    sent = client.socket.send(client.out)
                    client.out = client.out[sent:]
            except BlockingIOError:
                pass
            except OSError:
                chosen.unregister(client.socket)
                client.socket.close()
                continue
            wanted = selectors.EVENT_WRITE if client.out else selectors.EVENT_READ
            chosen.modify(client.socket, wanted, client)


main()
'''

_VOIDED = """        for job in list(self.jobs.values()):
            if job["state"] == "held" and job["until"] > time.time():
                self.note(["job", {**job, "state": "ready", "takes": job["takes"] - 1}])"""

FAULTS: dict[str, tuple[str, str]] = {
    "nothing_written": (
        "        self.file.flush()\n        self.pending = []",
        "        self.pending = []",
    ),
    "done_forgotten": ('["gone", job["id"]], ["finished", token])', '["gone", job["id"]])'),
    "keys_forgotten": (
        'facts += [["keys", [queue, known]] for queue, known in self.keys.items()]',
        "pass",
    ),
    "key_for_ever": ("            del keys[:-KEYS]\n", ""),
    "key_of_another_body": ("if body != text:", "if False:"),
    "full_counts_dead": (
        '"resting", "waiting"))\n        if',
        '"resting", "waiting", "dead"))\n        if',
    ),
    "full_forgets_held": (
        '"ready", "held", "resting", "waiting"))',
        '"ready", "resting", "waiting"))',
    ),
    "one_more": (">= LIMIT", "> LIMIT"),
    "numbers_again": ("self.last, self.tokens, self.places = value", "pass"),
    "never_dead": ('(event[2] == "held" and job["takes"] >= TAKES)', "False"),
    "fails_for_ever": (
        '        if job["takes"] >= TAKES:\n            self.bury(job)\n        else:',
        "        if True:",
    ),
    "no_rank": ('(-j["rank"], j["place"])', 'j["place"]'),
    "no_lock": ("        sys.exit(4)", "        pass"),
    "grows": ("if self.file.tell() > max(COMPACT, 2 * self.floor):", "if False:"),
    "torn_counts": (
        '.split(b"\\n")[:-1]\n        except FileNotFoundError',
        '.split(b"\\n")\n        except FileNotFoundError',
    ),
    "twice_listed": ("if number not in known:", "if True:"),
    "old_takes": ('self.jobs[number]["takes"] += 1', "pass"),
    "long_ends": (
        '            self.data, self.skipping = b"", True',
        "            raise ConnectionError",
    ),
}
"""Text of the program and its replacement, by the broken promise."""


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
    text = _SERVER.replace("RESTART", voided, 1)
    if left_out in FAULTS:
        old, new = FAULTS[left_out]
        if old not in text:
            raise ValueError(f"breaking {left_out} changes nothing")
        text = text.replace(old, new)
    return text.replace("CONSTANTS", _constants(promise, left_out), 1)


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


_TABLE = """    def read(self):
        self.base = sqlite3.connect(self.path, isolation_level=None)
        self.base.execute("create table if not exists facts (name text primary key, fact text)")
        rows = self.base.execute("select fact from facts order by rowid").fetchall()
        for (fact,) in rows:
            self.apply(json.loads(fact))

    @staticmethod
    def name(kind, value):
        number = value["id"] if kind == "job" else value[0] if kind == "keys" else value
        return f"{kind} {'' if kind == 'numbers' else number}"

    def apply(self, fact):
"""
_TABLE_WRITE = '''    def write(self):
        """Write what has changed in one transaction."""
        if not self.pending:
            return
        self.base.execute("begin immediate")
        for kind, value in [*self.pending, ["numbers", [self.last, self.tokens, self.places]]]:
            if kind == "gone":
                self.base.execute("delete from facts where name = ?", (f"job {value}",))
            else:
                row = (self.name(kind, value), json.dumps([kind, value]))
                self.base.execute("insert or replace into facts values (?, ?)", row)
        while len(self.finished) > 1000:
            token = next(iter(self.finished))
            del self.finished[token]
            self.base.execute("delete from facts where name = ?", (f"finished {token}",))
        self.base.execute("commit")
        self.pending = []

    def compact(self):
        """Take over what was migrated."""
        jobs = list(self.jobs.values())
        self.base = sqlite3.connect(self.path + ".new", isolation_level=None)
        self.base.execute("create table if not exists facts (name text primary key, fact text)")
        self.base.execute("delete from facts")
        self.pending = [["job", job] for job in jobs]
        self.write()
        self.base.close()
        os.replace(self.path + ".new", self.path)


class Hopper:
'''


def alternative_text(promise: Promise) -> str:
    """Return a server that keeps everything in a database instead of a journal."""
    text = program_text(promise).replace("journal.json", "jobs.db")
    text = text.replace("import fcntl, heapq, json, os,", "import fcntl, heapq, json, os, sqlite3,")
    front, _, rest = text.partition("    def read(self):\n")
    _, _, rest = rest.partition("    def apply(self, fact):\n")
    middle, _, rest = rest.partition("    def write(self):\n")
    _, _, rest = rest.partition("class Hopper:\n")
    opening = '        self.file = open(self.path, "ab")\n        self.pending = []\n'
    front = front.replace(opening, "        self.pending = []\n")
    front = front.replace(
        "        self.compact()\n\n    def migrate", "        self.write()\n\n    def migrate"
    )
    return front + _TABLE + middle + _TABLE_WRITE + rest
