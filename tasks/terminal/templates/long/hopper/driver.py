"""The program by which probes drive the server, kill it and start it again."""

__all__ = ["DRIVER"]

DRIVER = """import json, os, shutil, signal, socket, subprocess, sys, tempfile, threading, time

WAIT = 12.0


class Run:
    def __init__(self, scenario):
        self.made, self.tokens = [], {}
        self.folder = tempfile.mkdtemp(prefix="held-out-")
        self.data = os.path.join(self.folder, "data")
        os.mkdir(self.data)
        if scenario.get("old"):
            with open(os.path.join(self.data, "jobs.v1"), "w") as file:
                file.write(scenario["old"])
        self.kept = socket.socket()  # until all scenarios have a port
        self.kept.bind(("127.0.0.1", 0))
        self.port = self.kept.getsockname()[1]
        self.server = self.link = None
        self.steps = scenario["steps"]

    def spawn(self):
        return subprocess.Popen([sys.executable, "serve.py", self.data, str(self.port)],
                                stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def connect(self):
        end = time.monotonic() + WAIT
        while True:
            try:
                return socket.create_connection(("127.0.0.1", self.port), WAIT)
            except OSError:
                if time.monotonic() > end:
                    raise
                time.sleep(0.03)

    def start(self):
        self.server = self.spawn()
        self.link = self.connect()
        self.rest = b""

    def line(self):
        while b"\\n" not in self.rest:
            data = self.link.recv(65536)
            if not data:
                raise OSError("closed")
            self.rest += data
        line, self.rest = self.rest.split(b"\\n", 1)
        return line.decode("utf-8", "replace")

    def ask(self, text, count):
        self.link.sendall(text.encode() + b"\\n")
        return [self.line() for _ in range(count)]

    def stop(self, how):
        self.link.close()
        self.server.send_signal(how)
        return self.server.wait(WAIT)

    def named(self, reply):
        words = reply.split(" ")
        if words[0] == "JOB" and len(words) > 3:
            words[2] = self.tokens.setdefault(words[2], f"${len(self.tokens) + 1}")
        return " ".join(words)

    def real(self, text):
        for token, name in sorted(self.tokens.items(), key=lambda item: -len(item[1])):
            text = text.replace(name, token)
        return text

    def step(self, what, value, count):
        if what == "send":
            self.made += [self.named(reply) for reply in self.ask(self.real(value), count)]
        elif what == "sleep":
            time.sleep(float(value))
        elif what == "kill":
            self.stop(signal.SIGKILL)
            self.start()
        elif what == "term":
            self.made.append(f"exit {self.stop(signal.SIGTERM)}")
            self.start()
        elif what == "false_start":
            server = self.spawn()
            time.sleep(float(value))
            server.kill()
            server.wait()
        elif what == "second":
            self.made.append(f"exit {self.spawn().wait(WAIT)}")
        elif what == "size":
            used = sum(os.path.getsize(os.path.join(at, name))
                       for at, _, names in os.walk(self.data) for name in names)
            self.made.append("small" if used < 400_000 else "large")
        elif what == "churn":
            self.churn(int(value))
        elif what == "long":
            self.made += self.ask("PUT long " + "x" * 200000 + "\\nPING", 2)
        elif what == "split":
            half = self.connect()
            half.sendall(b"PUT half ")
            self.link.sendall(b"PI")
            time.sleep(0.2)
            self.made += self.ask("NG", 1)
        elif what == "load":
            self.load(float(value))

    def churn(self, count):
        for start in range(0, count, 3):
            self.ask("\\n".join(f"PUT churn {'b' * 25000}" for _ in range(3)), 3)
            jobs = [reply.split(" ") for reply in self.ask("\\n".join(["TAKE churn 60"] * 3), 3)]
            self.ask("\\n".join(f"DONE {job[1]} {job[2]}" for job in jobs), 3)
        self.made.append("churned")

    def load(self, seconds):
        given, sent = {}, set()

        def client(number):
            try:
                link = self.connect()
                file = link.makefile("rw", newline="\\n")
                for turn in range(250):
                    queue = f"load-{number}-{turn}"
                    sent.add(queue)
                    file.write(f"PUT {queue} key=k{turn} body of {queue}\\n")
                    file.flush()
                    reply = file.readline()
                    if not reply.endswith("\\n"):
                        return
                    given[queue] = reply.strip()
                    time.sleep(0.004)
            except OSError:
                return

        clients = [threading.Thread(target=client, args=(number,)) for number in range(3)]
        for each in clients:
            each.start()
        time.sleep(seconds)
        self.stop(signal.SIGKILL)
        for each in clients:
            each.join(WAIT)
        self.start()
        lost = twice = other = 0
        for queue in sorted(sent):
            turn = queue.split("-")[2]
            reply = self.ask(f"STATS {queue}", 1)[0]
            lost += queue in given and reply != "STATS 1 0 0 0"
            again = self.ask(f"PUT {queue} key=k{turn} body of {queue}", 1)[0]
            other += not again.startswith("OK ") or given.get(queue, again) != again
            twice += self.ask(f"STATS {queue}", 1)[0] != "STATS 1 0 0 0"
        self.made += [f"lost {lost}", f"twice {twice}", f"other {other}"]

    def play(self):
        self.kept.close()
        try:
            while self.steps[0][0] == "false_start":
                self.step(*self.steps.pop(0))
            self.start()
            for step in self.steps:
                self.step(*step)
        except (OSError, subprocess.TimeoutExpired, IndexError) as error:
            self.made.append(f"broken: {type(error).__name__}")
        finally:
            if self.server is not None and self.server.poll() is None:
                self.server.kill()
                self.server.wait()
            shutil.rmtree(self.folder, ignore_errors=True)


with open("held-out.json") as file:
    runs = {name: Run(scenario) for name, scenario in json.load(file).items()}
threads = [threading.Thread(target=run.play) for run in runs.values()]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print(json.dumps({name: run.made for name, run in runs.items()}))
"""
