"""What the job server promises, as a model in virtual time: expected replies to a list of steps."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from hexathlon.tasks.task import Split
from hexathlon.tasks.terminal.dice import Dice

__all__ = ["TWISTS", "Promise", "ServerStep", "draw_promise", "replies"]

TWISTS = (
    "back_of_line",
    "restart_voids",
    "dead_frees_key",
    "revive_once",
    "renew",
    "ttl",
    "any_queue",
    "after",
)
"""Promises of which some are drawn; the last two occur outside train and dev only."""

_DRAWN = 5

ServerStep = tuple[str, str]
"""A step is ("send", LINES), ("sleep", SECONDS), ("kill", "") or ("term", ""); after the last two
the server is started again. `$1` in a line is the first token that was handed out."""


@dataclass(frozen=True)
class Promise:
    """What one server promises."""

    limit: int
    """Jobs that a queue may hold."""

    keys: int
    """Keys that a queue remembers."""

    takes: int
    """Times that a job may be taken before it is dead."""

    rest: int
    """Seconds that a failed job rests."""

    longest: int
    """Seconds for which a job may be held with renewals."""

    twists: frozenset[str]

    def has(self, twist: str) -> bool:
        """Whether the promise was drawn."""
        return twist in self.twists


def draw_promise(dice: Dice, split: Split) -> Promise:
    """Draw the promises of one server."""
    pool = TWISTS if split in ("test", "heldout") else TWISTS[:-2]
    first = [dice.pick(TWISTS[-2:])] if pool is TWISTS else []
    others = [twist for twist in pool if twist not in first]
    return Promise(
        limit=dice.whole(5, 9),
        keys=dice.whole(3, 5),
        takes=dice.whole(2, 3),
        rest=dice.whole(4, 5),
        longest=dice.whole(9, 10),
        twists=frozenset([*first, *dice.some(others, _DRAWN - len(first))]),
    )


@dataclass
class _Job:
    number: int
    queue: str
    rank: int
    body: str
    place: float
    takes: int = 0
    state: str = "ready"
    """`ready`, `held`, `resting`, `waiting`, `dead` or `done`."""

    until: float = 0.0
    token: int = 0
    taken: float = 0.0
    dies: float | None = None
    parent: int = 0


@dataclass
class _JobServer:
    promise: Promise
    now: float = 0.0
    jobs: dict[int, _Job] = field(default_factory=dict)
    keys: dict[str, list[tuple[str, int]]] = field(default_factory=dict)
    """By queue, the keys in the order in which they were first used."""

    finished: set[int] = field(default_factory=set)
    """Tokens with which jobs were done."""

    tokens: int = 0
    served: dict[str, int] = field(default_factory=dict)
    last: int = 0

    def settle(self) -> None:
        """Let everything happen that was due by now, in order of time."""
        while True:
            due = [
                (when, job.number, what)
                for job in self.jobs.values()
                for when, what in self.events(job)
                if when <= self.now
            ]
            if not due:
                return
            when, number, what = min(due)
            job = self.jobs[number]
            if what == "dies" or (what == "held" and job.takes >= self.promise.takes):
                self.bury(job)
            else:
                returned = what == "held" or job.takes > 0
                job.state = "ready"
                if returned and self.promise.has("back_of_line"):
                    self.last += 1
                    job.place = 1_000_000 + self.last

    def events(self, job: _Job) -> list[tuple[float, str]]:
        """Return the time and kind of what will happen to a job."""
        made = [(job.until, job.state)] if job.state in ("held", "resting") else []
        if job.dies is not None and not job.takes and job.state in ("ready", "resting"):
            made.append((job.dies, "dies"))
        return made

    def bury(self, job: _Job) -> None:
        job.state = "dead"
        if self.promise.has("dead_frees_key"):
            kept = [item for item in self.keys.get(job.queue, []) if item[1] != job.number]
            self.keys[job.queue] = kept
        for other in self.jobs.values():
            if other.parent == job.number and other.state == "waiting":
                self.bury(other)

    def load(self, queue: str) -> int:
        alive = ("ready", "held", "resting", "waiting")
        return sum(job.queue == queue and job.state in alive for job in self.jobs.values())

    def put(self, queue: str, words: Sequence[str]) -> str:
        given = {}
        rest = list(words)
        options = ["key", "rank", "delay", *(t for t in ("ttl", "after") if self.promise.has(t))]
        while rest and "=" in rest[0] and rest[0].split("=")[0] in options:
            name, _, value = rest.pop(0).partition("=")
            given[name] = value
        body = " ".join(rest)
        key = given.get("key")
        for known, number in self.keys.get(queue, []):
            if known == key:
                same = self.jobs[number].body == body
                return f"OK {number}" if same else "ERR key"
        if self.load(queue) >= self.promise.limit:
            return "ERR full"
        number = max(self.jobs, default=0) + 1
        job = _Job(number, queue, int(given.get("rank", 0)), body, number)
        self.jobs[number] = job
        if key is not None:
            keys = [*self.keys.get(queue, []), (key, number)]
            self.keys[queue] = keys[-self.promise.keys :]
        if "delay" in given:
            job.state, job.until = "resting", self.now + float(given["delay"])
        if "ttl" in given:
            job.dies = self.now + float(given["ttl"])
        parent = self.jobs.get(int(given.get("after", 0)))
        if parent is not None and parent.state == "dead":
            self.bury(job)
        elif parent is not None and parent.state != "done":
            job.parent, job.state = parent.number, "waiting"
        return f"OK {number}"

    def batch(self, lines: Sequence[str]) -> str:
        kept = {n: _Job(**vars(job)) for n, job in self.jobs.items()}
        keys = {queue: list(items) for queue, items in self.keys.items()}
        made = [self.put(line.split()[1], line.split()[2:]) for line in lines]
        wrong = [reply for reply in made if not reply.startswith("OK")]
        if wrong:
            self.jobs, self.keys = kept, keys
            return wrong[0]
        return " ".join(["OK", *(reply.split()[1] for reply in made)])

    def take(self, queue: str, seconds: str) -> str:
        ready = [job for job in self.jobs.values() if job.state == "ready"]
        if queue == "*":
            names = sorted({job.queue for job in ready}, key=lambda n: (self.served.get(n, 0), n))
            queue = names[0] if names else ""
        mine = [job for job in ready if job.queue == queue]
        if not mine:
            return "NONE"
        job = min(mine, key=lambda item: (-item.rank, item.place))
        self.tokens += 1
        self.served[queue] = self.tokens
        job.state, job.token, job.taken = "held", self.tokens, self.now
        job.until = self.now + float(seconds)
        job.takes += 1
        return f"JOB {job.number} ${job.token} {job.takes} {job.body}"

    def held(self, number: str, token: str) -> _Job | None:
        job = self.jobs.get(int(number))
        right = job is not None and job.state == "held" and token == f"${job.token}"
        return job if right else None

    def done(self, number: str, token: str) -> str:
        if int(token[1:]) in self.finished:
            return "OK"
        job = self.held(number, token)
        if job is None:
            return "STALE"
        job.state = "done"
        self.finished.add(job.token)
        for other in self.jobs.values():
            if other.parent == job.number and other.state == "waiting":
                other.state = "ready"
        return "OK"

    def fail(self, number: str, token: str) -> str:
        job = self.held(number, token)
        if job is None:
            return "STALE"
        if job.takes >= self.promise.takes:
            self.bury(job)
        else:
            job.state, job.until = "resting", self.now + self.promise.rest
        return "OK"

    def renew(self, number: str, token: str, seconds: str) -> str:
        job = self.held(number, token)
        if job is None:
            return "STALE"
        job.until = min(self.now + float(seconds), job.taken + self.promise.longest)
        return "OK"

    def stats(self, queue: str) -> str:
        states = [job.state for job in self.jobs.values() if job.queue == queue]
        waiting = states.count("resting") + states.count("waiting")
        return (
            f"STATS {states.count('ready')} {states.count('held')} {waiting} {states.count('dead')}"
        )

    def revive(self, queue: str) -> str:
        dead = [job for job in self.jobs.values() if job.queue == queue and job.state == "dead"]
        for job in dead:
            job.state, job.place, job.dies = "ready", job.number, None
            job.takes = self.promise.takes - 1 if self.promise.has("revive_once") else 0
        return f"OK {len(dead)}"

    def restart(self) -> None:
        if self.promise.has("restart_voids"):
            for job in self.jobs.values():
                if job.state == "held":
                    job.state, job.takes = "ready", job.takes - 1

    def reply(self, line: str) -> str:
        """Return the reply to one line."""
        self.settle()
        word, *rest = line.split(" ")
        if word == "PUT":
            return self.put(rest[0], rest[1:])
        known: dict[str, tuple[Callable[..., str], int]] = {
            "TAKE": (self.take, 2),
            "DONE": (self.done, 2),
            "FAIL": (self.fail, 2),
            "STATS": (self.stats, 1),
            "REVIVE": (self.revive, 1),
        }
        if self.promise.has("renew"):
            known["RENEW"] = (self.renew, 3)
        if word == "PING":
            return "PONG"
        if word not in known or len(rest) != known[word][1]:
            return "ERR command"
        return known[word][0](*rest)


def replies(promise: Promise, steps: Sequence[ServerStep], old: Sequence[str] = ()) -> list[str]:
    """Return the replies to all lines, and what other steps report when all is well.

    Args:
        promise: The promises.
        steps: What is sent and done.
        old: Lines of a file in the earlier format.
    """
    server = _JobServer(promise)
    _load_old(server, old)
    made: list[str] = []
    for what, value in steps:
        server.settle()
        if what == "sleep":
            server.now += float(value)
        elif what == "send":
            made += _sent(server, value.split("\n"))
        elif what == "churn":
            number = max(server.jobs, default=0) + int(value)
            server.jobs[number] = _Job(number, "churn", 0, "", number, state="done")
            made.append("churned")
        else:
            if what in ("kill", "term"):
                server.restart()
            made += _REPORTS.get(what, [])
    return made


_REPORTS = {
    "term": ["exit 0"],
    "second": ["exit 4"],
    "size": ["small"],
    "long": ["ERR long", "PONG"],
    "split": ["PONG"],
    "load": ["lost 0", "twice 0", "other 0"],
}
"""What the driver reports after special steps."""


def _sent(server: _JobServer, lines: list[str]) -> list[str]:
    made = []
    while lines:
        line = lines.pop(0)
        if line.startswith("BATCH "):
            count = int(line.split()[1])
            made.append(server.batch(lines[:count]))
            lines = lines[count:]
        else:
            made.append(server.reply(line))
    return made


def _load_old(server: _JobServer, lines: Sequence[str]) -> None:
    """Take over whole lines of the earlier format."""
    last = 0
    for line in lines:
        sign, text, *rest = line.split("\t")
        number = int(text)
        last = max(last, number)
        if sign == "+":
            if number not in server.jobs:
                server.jobs[number] = _Job(number, rest[0], int(rest[1]), rest[2], number)
        elif sign == "t":
            server.jobs[number].takes += 1
        else:
            server.jobs[number].state = "done"
    for job in server.jobs.values():
        if job.state == "ready" and job.takes >= server.promise.takes:
            job.state = "dead"
    if last and last not in server.jobs:
        server.jobs[last] = _Job(last, "", 0, "", last, state="done")
