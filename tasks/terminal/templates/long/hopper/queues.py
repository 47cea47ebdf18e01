"""The part of the server that answers: queues of jobs, and connections."""

__all__ = ["QUEUES"]

QUEUES = '''class Hopper:
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
