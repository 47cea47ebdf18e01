"""The part of the server that keeps the jobs: in a journal, or in a database instead."""

__all__ = ["JOURNAL", "in_a_database"]

JOURNAL = '''class Store:
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


'''

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


def in_a_database(text: str) -> str:
    """Return a server that keeps everything in a database instead of a journal."""
    text = text.replace("journal.json", "jobs.db")
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
