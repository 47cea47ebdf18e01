"""A message queue that loses messages, and a release that brings its faults back."""

from collections.abc import Sequence

from hexathlon.tasks.terminal.draft import Probe
from hexathlon.tasks.terminal.templates.shifts.job import Machine, TicketJob, put_file, python_probe

__all__ = ["relay", "relay_release"]

_PROTOCOL = """NAME: a queue for messages, on 127.0.0.1, port PORT

A client connects, sends requests and reads one answer to each, in order; several requests may be
sent at once. Lines end in one newline (byte 10). N is a number of bytes.

PUT N, then N bytes    OK ID       the message is kept; IDs count from 1 in the order of acceptance
                       FULL        as many messages wait as `depth` says; the message is not kept
                       BIG         N is greater than `payload`; the message is not kept
GET                    MSG ID N, then the N bytes; the message that has waited longest, which is
                       then gone. A message is delivered once, with the bytes that were put
                       NONE        no message waits
STAT                   STAT W A    W messages wait, A have been accepted
PEEKLINEanything else          ERR         and the connection goes on

Any number of clients may be connected; none waits for another one's request. A client may vanish
at any time.
Settings come from etc/NAME.conf and then, in the order of their names, from etc/NAME.d/*.conf; the
last value of a key counts.
"""
_PEEK_LINE = "PEEK                   as GET, but the message stays where it is\n"

_SERVER = '''#!/usr/bin/env python3
"""NAME, version VERSION. The protocol is in PROTOCOL."""
import collections, glob, os, socketserver, threading

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../..")


def settings():
    found = {}
    own = os.path.join(ROOT, "etc/NAME.conf")
    for path in [own, *sorted(glob.glob(os.path.join(ROOT, "etc/NAME.d/*.conf")))]:
        for line in open(path):
            key, mark, value = line.split("#")[0].partition("=")
            if mark:
                found[key.strip()] = int(value)
    return found


SET = settings()
LOCK = threading.Lock()
QUEUE = collections.deque(MAXLEN)
accepted = 0


class Handler(socketserver.StreamRequestHandler):
    def handle(self):
        while True:
            line = self.rfile.readline()
            if not line:
                return
            words = line.decode("latin-1").split()
            if len(words) == 2 and words[0] == "PUT" and words[1].isdigit():
                if not self.put(int(words[1])):
                    return
            elif words == ["GET"]:
                self.get(True)
PEEKCASE            elif words == ["STAT"]:
                with LOCK:
                    self.say(f"STAT {len(QUEUE)} {accepted}")
            else:
                self.say("ERR")

    def say(self, text, body=b""):
        self.wfile.write(text.encode() + b"\\n" + body)

    def put(self, size):
        global accepted
BIGTEST
        body = READ
        if len(body) < size:
            return False
BIGAFTER        with LOCK:
FULLTEST            accepted += 1
            number = accepted
            QUEUE.append((number, STORED))
        self.say(f"OK {number}")
        return True

    def get(self, take):
        with LOCK:
            if not QUEUE:
                return self.say("NONE")
            number, body = QUEUE.popleft() if take else QUEUE[0]
        self.say(f"MSG {number} {len(body)}", BODY)


class Server(socketserver.SERVERBASE):
    allow_reuse_address = True
    daemon_threads = True
    request_queue_size = 64


if __name__ == "__main__":
    with Server(("127.0.0.1", SET["port"]), Handler) as server:
        with open("/tmp/NAME.ready", "w") as file:
            file.write(str(os.getpid()))
        server.serve_forever()
'''


def server(name: str, version: str, faults: Sequence[str], *, peek: bool = False) -> str:
    """Return the server's source with the given faults."""
    on_big = "            self.say('BIG')\n            return True\n"
    big = "        if size > SET['payload']:\n"
    serial, full = "serial" in faults, "full" in faults
    texts = {
        "MAXLEN": "maxlen=SET['depth']" if full else "",
        "PEEKCASE": '            elif words == ["PEEK"]:\n                self.get(False)\n'
        if peek
        else "",
        "BIGTEST\n": big + on_big if "big" in faults else "",
        "BIGAFTER": "" if "big" in faults else big + on_big,
        "READ": "self.rfile.read1(size)" if "split" in faults else "self.rfile.read(size)",
        "FULLTEST": ""
        if full
        else "            if len(QUEUE) >= SET['depth']:\n                self.say('FULL')\n"
        "                return True\n",
        "STORED": 'body.decode("utf-8", "replace")' if "bytes" in faults else "body",
        "BODY": "body.encode()" if "bytes" in faults else "body",
        "SERVERBASE": "TCPServer" if serial else "ThreadingTCPServer",
        "VERSION": version,
        "NAME": name,
    }
    if "split" in faults:  # what has not come yet is cut off and taken for the next request
        texts["READ"] = "self.rfile.read1(size) if size else b''"
    made = _SERVER
    for mark, text in texts.items():
        made = made.replace(mark, text)
    if "split" in faults:
        short = "        if len(body) < size:\n            return False\n"
        made = made.replace(short, "        if not body and size:\n            return False\n")
    return made


_CLIENT = """import socket, time
PORT, DEPTH, MOST = %d, %d, %d
def conn():
    made = socket.create_connection(("127.0.0.1", PORT), 6)
    made.settimeout(6)
    return made, made.makefile("rb")
def line(file):
    return file.readline().decode("utf-8", "replace").strip()
idle = conn()
half = conn()
half[0].sendall(b"PUT 50\\nonly a part")
one, answers = conn()
"""

_BASIC = """def get(file, sock, word="GET"):
    sock.sendall(word.encode() + b"\\n")
    head = line(file).split()
    return head[:2], file.read(int(head[2])) if head and head[0] == "MSG" else b""
one.sendall(b"PUT 9\\n%s"[:-4]); time.sleep(0.06); one.sendall(b"%s"[-4:])
print(line(answers))
text = bytes.fromhex("%s")
two, others = conn()
two.sendall(b"PUT %%d\\n" %% len(text) + text + b"PUT 0\\nSTAT\\nNOPE 1\\n")
print(line(others), line(others), line(others), line(others))
raw = bytes(range(256)) * (MOST // 256)
large = (b"GET\\n" * MOST)[:MOST + 1]
one.sendall(b"PUT %%d\\n" %% len(raw) + raw + b"PUT %%d\\n" %% (MOST + 1) + large + b"STAT\\n")
print(line(answers), line(answers), line(answers))
half[0].close(); half[1].close()
for sock, file in ((one, answers), (two, others)) * 2:
    head, body = get(file, sock)
    print(head, body in (b"%s", text, b"", raw), len(body))
print(get(answers, one))
"""

_LOAD = """one.sendall(b"".join(b"PUT 4\\n%04d" % n for n in range(DEPTH + 3)))
got = [line(answers) for n in range(DEPTH + 3)]
print(got[0], got[DEPTH - 1], got[DEPTH:])
two, others = conn()
two.sendall(b"STAT\\n" + b"GET\\n" * (DEPTH + 1))
print(line(others))
bodies = []
for n in range(DEPTH):
    head = line(others)
    bodies.append(others.read(4))
print(head, bodies == [b"%04d" % n for n in range(DEPTH)], line(others))
"""

_PEEK = """one.sendall(b"PEEK\\nPUT 2\\nabPUT 2\\ncdPEEK\\nPEEK\\nSTAT\\nGET\\nPEEK\\n")
print(*[line(answers) for n in range(2)])
for n in range(6):
    out = line(answers)
    print(out)
    if out.startswith("MSG"):
        print(answers.read(2))
"""


def _probes(name: str, port: int, depth: int, most: int, text: str, word: str) -> list[Probe]:
    """Return the probes of the service, in its first form."""
    run = f"bin/ctl stop {name}; bin/ctl start {name} && /usr/bin/python3 -I /dev/stdin"
    run += f"; bin/ctl stop {name}"
    head = _CLIENT % (port, depth, most)
    data = text.encode()
    basic = head + _BASIC % (word, word, data.hex(), word)
    lines = [
        "OK 1", "OK 2 OK 3 STAT 3 3 ERR", "OK 4 BIG STAT 4 4",
        "['MSG', '1'] True 9", f"['MSG', '2'] True {len(data)}", "['MSG', '3'] True 0",
        f"['MSG', '4'] True {most // 256 * 256}", "(['NONE'], b'')",
    ]  # fmt: skip
    full = ["FULL"] * 3
    load = [f"OK 1 OK {depth} {full}", f"STAT {depth} {depth}", f"MSG {depth} 4 True NONE"]
    return [
        python_probe("messages", basic, "\n".join(lines), run=run, seconds=20.0),
        python_probe("load", head + _LOAD, "\n".join(load), run=run, seconds=20.0),
    ]


def relay(machine: Machine) -> TicketJob:
    """Mend a queue: it loses and damages messages, and its settings come from elsewhere."""
    dice, book = machine.dice, machine.book
    name, who = machine.name(), machine.people.pop()
    port = dice.whole(7000, 7900)
    old_depth, old_most = dice.whole(20, 60), 256 * dice.whole(2, 6)
    depth, most = dice.whole(300, 700), 256 * dice.whole(30, 90)
    faults = ["full", "serial", *dice.some(("split", "bytes", "big"), 2)]
    overridden = dice.pick(("depth", "payload"))
    template = (
        f"# {name}; see srv/{name}/PROTOCOL\nport = {port}\n"
        f"depth = @{name.upper()}_DEPTH@\npayload = @{name.upper()}_PAYLOAD@\n"
    )
    machine.site |= {
        f"{name.upper()}_DEPTH": str(old_depth), f"{name.upper()}_PAYLOAD": str(old_most)
    }  # fmt: skip
    own = f"etc/{name}.conf"
    rendered = template.replace(f"@{name.upper()}_DEPTH@", str(old_depth))
    machine.file(f"etc/templates/{name}.conf.in", template)
    machine.file(own, rendered.replace(f"@{name.upper()}_PAYLOAD@", str(old_most)))
    machine.written.add(own)
    value = {"depth": old_depth + 5, "payload": old_most + 256}[overridden]
    machine.file(f"etc/{name}.d/20-{machine.people[0]}.conf", f"{overridden} = {value}\n")
    source = f"srv/{name}/server.py"
    protocol = _PROTOCOL.replace("NAME", name).replace("PORT", str(port))
    machine.file(f"srv/{name}/PROTOCOL", protocol.replace("PEEKLINE", ""))
    machine.file(source, server(name, "1.4", faults))

    def solved(left: Sequence[str] = (), *, settings: str = "") -> str:
        kept = f"keep {source} etc/site.env etc/{name}.d/20-{machine.people[0]}.conf\n".replace(
            "keep srv", "keep etc/site.env; keep srv"
        )
        return kept + put_file(source, server(name, "1.4", left), book.program_mode) + settings

    sites = (
        f"sed -i 's/^{name.upper()}_DEPTH=.*/{name.upper()}_DEPTH={depth}/; "
        f"s/^{name.upper()}_PAYLOAD=.*/{name.upper()}_PAYLOAD={most}/' etc/site.env\n"
    )
    back = (
        f"sed -i 's/^{name.upper()}_DEPTH=.*/{name.upper()}_DEPTH={old_depth}/; "
        f"s/^{name.upper()}_PAYLOAD=.*/{name.upper()}_PAYLOAD={old_most}/' etc/site.env\n"
    )
    machine.shared["relay"] = (name, port, depth, most, faults, protocol, template, sites, back)
    drop = f"rm etc/{name}.d/*.conf\n"
    edit = f"sed -i 's/^depth.*/depth = {depth}/; s/^payload.*/payload = {most}/' {own}\n"
    over = f"etc/{name}.d/20-{machine.people[0]}.conf"
    last = put_file(f"etc/{name}.d/95-site.conf", f"depth={depth}\npayload={most}\n", book.etc_mode)
    both = f"printf 'depth = {depth}\\npayload = {most}\\n' > {over}\n"
    misses = {f"left_{fault}": solved([fault], settings=sites + drop) for fault in faults}
    misses["rendered"] = solved(settings=edit + drop)
    misses["overridden"] = solved(settings=sites)
    misses["settings"] = solved(settings="")
    word = dice.word(9)
    text = "".join(dice.pick("äöüßéèñøłžαβγδ日本語中文") for _ in range(dice.whole(12, 30)))
    return TicketJob(
        component=name,
        text=f"""From {who}: since this week's campaign, {name} loses messages. Producers get OK, \
and consumers never see the message; when many clients are connected, some of them hang until \
another one leaves. Please make {name} do what srv/{name}/PROTOCOL says, for every client and \
every message.

It also gets too little room: from now on {depth} messages shall be able to wait (depth), each of \
up to {most} bytes (payload).""",
        looks=(
            "cat HANDBOOK.md", "ls -lR etc bin srv | head -80", f"cat srv/{name}/PROTOCOL {source}",
            f"cat etc/crontab bin/cron/render etc/templates/{name}.conf.in etc/{name}.d/*",
        ),
        solution=solved(settings=sites + drop),
        probes=_probes(name, port, depth, most, text, word),
        alternatives=(solved(settings=last), solved(settings=both)),
        misses=misses,
    )  # fmt: skip


def relay_release(machine: Machine) -> TicketJob:
    """Install a release that undoes the earlier fix and the settings."""
    dice, book = machine.dice, machine.book
    name, port, depth, most, faults, protocol, template, sites, undone = machine.shared["relay"]
    undone = undone if dice.chance(0.6) else ""
    version = f"2.{dice.whole(0, 9)}"
    source = f"srv/{name}/server.py"
    folder = f"releases/{name}-{version}"
    small = template.replace(f"@{name.upper()}_DEPTH@", str(dice.whole(50, 90)))
    told = protocol.replace("PEEKLINE", _PEEK_LINE)
    machine.file(f"{folder}/server.py", server(name, version, faults, peek=True))
    machine.file(f"{folder}/PROTOCOL", told)
    machine.file(f"{folder}/{name}.conf.in", small)
    run = f"bin/ctl stop {name}; bin/ctl start {name} && /usr/bin/python3 -I /dev/stdin"
    run += f"; bin/ctl stop {name}"
    peeked = ["NONE OK 1", "OK 2", "MSG 1 2", "b'ab'", "MSG 1 2", "b'ab'", "STAT 2 2", "MSG 1 2",
              "b'ab'", "MSG 2 2", "b'cd'"]  # fmt: skip
    head = _CLIENT % (port, depth, most)
    in_place = f"etc/templates/{name}.conf.in"
    kept = f"keep etc/templates/{name}.conf.in; keep {source} srv/{name}/PROTOCOL\n"
    kept += f"keep etc/site.env\n{sites}" if undone else ""
    install = f"bin/release {name} {version}\n"

    def solved(left: Sequence[str] = (), *, mode: int = book.program_mode) -> str:
        return put_file(source, server(name, version, left, peek=True), mode)

    back = put_file(in_place, template, book.etc_mode)
    sized = f"sed -i 's/^depth.*/depth = {depth}/' {in_place}\n"
    fixed = f"{kept}{install}{solved()}"
    by_hand = f"{kept}{solved()}cp {folder}/PROTOCOL srv/{name}/PROTOCOL\n"
    return TicketJob(
        component=name,
        text=f"""From {dice.pick(machine.people)}: version {version} of {name} is ready in \
{folder}. It adds the request PEEK, see its PROTOCOL. Please install it (bin/release {name} \
{version}). srv/{name}/PROTOCOL then has to be the new one.""",
        looks=(
            f"diff -r {folder} srv/{name}; cat bin/release", f"cat {folder}/{name}.conf.in",
        ),
        solution=fixed + back,
        before=undone,
        probes=[
            python_probe("peek", head + _PEEK, "\n".join(peeked), run=run, seconds=20.0),
            python_probe(
                "protocol",
                f"print(open('/app/srv/{name}/PROTOCOL').read() == open('/app/{folder}/PROTOCOL')"
                ".read())",
                "True",
            ),
        ],
        alternatives=(fixed + sized, by_hand),
        misses={
            "only_installed": kept + install + f"chmod {book.program_mode:o} {source}\n" + back,
            "depth_undone": fixed,
            **({"site_undone": fixed.replace(sites, "") + back} if undone else {}),
            "installed_mode": kept + install + solved(mode=0o644) + back,
            "not_installed": kept,
            **{f"back_{f}": kept + install + solved([f]) + back for f in faults},
        },
    )  # fmt: skip
