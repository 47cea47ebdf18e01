"""Damaged archives, of which everything that is whole has to be restored."""

import base64
import io
import json
import zipfile

from hexathlon.tasks.terminal.templates.shifts.job import Machine, TicketJob, put_file, python_probe

__all__ = ["salvage"]

_Member = tuple[str, bytes]

_PROGRAM = '''#!/usr/bin/env python3
"""PROGRAM ARCHIVE FOLDER: restore what is whole in a damaged zip archive."""
import os, struct, sys, zlib

HEAD = struct.Struct("<4sHHHHHIIIHH")
data = open(sys.argv[1], "rb").read()
folder = sys.argv[2]


def members():
    """Yield (name, bytes, or None if damaged), in the order of the archive."""
    at = data.find(b"PK\\x03\\x04")
    while at >= 0:
        if at + HEAD.size > len(data):
            return
        _, _, flags, method, _, _, crc, size, full, name, extra = HEAD.unpack_from(data, at)
        start = at + HEAD.size + name + extra
        coding = "utf-8" if flags & 0x800 else "cp437"
        text = data[at + HEAD.size:at + HEAD.size + name].decode(coding)
        if start > len(data):
            return
        content, end = None, start
        if method == 8:
            inflate = zlib.decompressobj(-15)
            try:
                content = inflate.decompress(data[start:])
                end = len(data) - len(inflate.unused_data)
                if not inflate.eof:
                    content, end = None, start
            except zlib.error:
                content = None
            if DESCRIPTOR and content is not None:
                crc, size, full = struct.unpack_from("<III", data, end + 4)
        elif not flags & 8:
            content, end = data[start:start + size], start + size
        if content is not None and (len(content) != full or zlib.crc32(content) != crc):
            content = CHECKED
        end = start if content is None else end
        yield text, content
        NEXT
        at = data.find(b"PK\\x03\\x04", end)


for name, content in members():
    if name.endswith("/"):
        continue
    print(("bad" if content is None else "ok"), name)
    if content is not None:
        path = os.path.join(folder, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as file:
            file.write(content)
'''


class _Unseekable(io.RawIOBase):
    """A stream that cannot seek: members written to it have their sizes after their data."""

    def __init__(self) -> None:
        self.data = bytearray()

    def writable(self) -> bool:
        return True

    def write(self, data: object) -> int:
        self.data += bytes(data)  # type: ignore[call-overload]
        return len(bytes(data))  # type: ignore[call-overload]


def _archive(members: list[_Member], *, streamed: bool, method: int) -> bytes:
    """Return a zip archive."""
    stream = _Unseekable()
    plain = io.BytesIO()
    with zipfile.ZipFile(stream if streamed else plain, "w", method) as made:
        for name, content in members:
            info = zipfile.ZipInfo(name, (2026, 5, 4, 8, 0, 0))
            info.compress_type = method
            made.writestr(info, content)
    return bytes(stream.data) if streamed else plain.getvalue()


def _place_of(data: bytes, name: str) -> int:
    """Return where the data of a member begins."""
    return data.index(name.encode()) + len(name.encode())


def _damaged(data: bytes, name: str, members: list[_Member], cut: str) -> bytes:
    """Return an archive with a damaged member, cut off within the last one or in its list."""
    made = bytearray(data)
    made[_place_of(data, name) + 20] ^= 0x55
    last = _place_of(data, members[-1][0])
    end = data.index(b"PK\x01\x02") + 30 if cut == "directory" else last + 15
    return bytes(made[:end])


def _members(machine: Machine, count: int) -> list[_Member]:
    dice = machine.dice
    made: list[_Member] = []
    words = [dice.word(dice.whole(3, 9)) for _ in range(40)]
    for number in range(count):
        text = " ".join(dice.pick(words) for _ in range(dice.whole(40, 160)))
        folder = dice.pick(("", "a/", "b/c/", "größe/"))
        made.append((f"{folder}{dice.word(5)}{number}.txt", text.encode()))
    return made


def _told(members: list[_Member], bad: set[str]) -> str:
    return "\n".join(f"{'bad' if name in bad else 'ok'} {name}" for name, _ in members)


def salvage(machine: Machine) -> TicketJob:
    """Restore damaged archives: streamed members, names in UTF-8, data that is cut off."""
    dice, book = machine.dice, machine.book
    name, who = machine.name(), machine.people.pop()
    program, folder = f"salvage-{name}", f"var/archive/{name}"
    cases: list[tuple[str, str, dict[str, str]]] = []
    first = ""
    for number, (streamed, method, cut) in enumerate(
        ((False, 8, "directory"), (True, 8, "directory"), (False, 0, "member"), (True, 8, "member"))
    ):
        for own in (True, False):
            members = _members(machine, dice.whole(5, 9))
            hit = dice.pick(members[1:-1])[0]
            whole = _archive(members, streamed=streamed, method=method)
            data = _damaged(whole, hit, members, cut)
            bad = {hit, members[-1][0]} if cut == "member" else {hit}
            if own:
                machine.draft.file(f"{folder}/2026-0{number + 1}.zip", data)
                first = first or str(sum(n not in bad for n, _ in members))
                continue
            good = {n: base64.b64encode(c).decode() for n, c in members if n not in bad}
            cases.append((base64.b64encode(data).decode(), _told(members, bad), good))
    test = (
        "import base64, json, os, shutil, subprocess\n"
        f"for data in json.loads({json.dumps([case[0] for case in cases])!r}):\n"
        "    open('/tmp/held.zip', 'wb').write(base64.b64decode(data))\n"
        "    shutil.rmtree('/tmp/restored', ignore_errors=True)\n"
        "    os.mkdir('/tmp/restored')\n"
        f"    done = subprocess.run(['bin/{program}', '/tmp/held.zip', '/tmp/restored'], "
        "capture_output=True)\n"
        "    print(done.returncode, done.stdout.decode(), end='')\n"
        "    for top, _, names in sorted(os.walk('/tmp/restored')):\n"
        "        for name in sorted(names):\n"
        "            path = os.path.join(top, name)\n"
        "            data = base64.b64encode(open(path, 'rb').read()).decode()\n"
        "            print(path[14:], len(data), data[-40:])\n"
    )
    lines = []
    for _, told, good in cases:
        lines.append(f"0 {told}")
        order = sorted(good, key=lambda path: (path.rpartition("/")[0], path.rpartition("/")[2]))
        lines += [f"{path} {len(good[path])} {good[path][-40:]}" for path in order]

    def source(
        descriptor: str = "flags & 8",
        checked: str = "None",
        following: str = "",
        code: str = "utf-8",
    ) -> str:
        made = _PROGRAM.replace("PROGRAM", program).replace("DESCRIPTOR", descriptor)
        made = made.replace("CHECKED", checked).replace('"utf-8" if', f'"{code}" if')
        return made.replace("        NEXT\n", following)

    def solved(text: str) -> str:
        return put_file(f"bin/{program}", text, book.program_mode)

    stop = "        if content is None:\n            return\n"
    chunk = source().replace(
        "inflate.decompress(data[start:])", "inflate.decompress(data[start:], 0)"
    )
    return TicketJob(
        component=name,
        text=f"""From {who}: the archives in {folder} come from a disk that died, and no zip \
program opens them. Please write bin/{program}:

    bin/{program} ARCHIVE FOLDER

It puts every member whose data are whole, by length and CRC, into FOLDER under its own name, and \
prints a line for each member whose header is whole, in the order of the archive: `ok NAME` or \
`bad NAME`. Of a bad member there is no file. It ends with 0. For the log: the number of members \
that are whole in {folder}/2026-01.zip.""",
        answer=first,
        looks=(
            f"ls -l {folder}; cd {folder}; for f in *; do unzip -t $f 2>&1 | tail -3; done",
            f"od -Ax -c {folder}/2026-02.zip | head -20; od -Ax -c {folder}/2026-04.zip | tail -8",
        ),
        solution=solved(source()),
        probes=[python_probe("archives", test, "\n".join(lines))],
        alternatives=(solved(chunk),),
        misses={
            "streamed": solved(source(descriptor="False")),
            "unchecked": solved(source(checked="content")),
            "first_damage": solved(source(following=stop)),
            "names": solved(source(code="cp437")),
        },
    )  # fmt: skip
