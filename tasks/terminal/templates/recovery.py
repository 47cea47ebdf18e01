"""Damaged data: truncated archives, databases with broken headers, indexes and journals."""

import base64
import gzip
import io
import tarfile
import zlib

from hexathlon.tasks.terminal.draft import TerminalDraft, put, template


def _tar_gz(files: dict[str, bytes]) -> bytes:
    raw = io.BytesIO()
    with tarfile.open(fileobj=raw, mode="w", format=tarfile.USTAR_FORMAT) as tar:
        for name, data in files.items():
            info = tarfile.TarInfo(name)
            info.size, info.mtime = len(data), 1_764_547_200
            tar.addfile(info, io.BytesIO(data))
    return gzip.compress(raw.getvalue(), mtime=0)


@template("archive_copies", ("easy", "medium"))
def archive_copies(draft: TerminalDraft) -> None:
    """Several damaged copies of one backup; every record is intact in at least one of them."""
    dice = draft.dice
    name = draft.cast.name("service")
    count = 60 * draft.scale
    mark = dice.pick("#~^@")
    salt = dice.word(4)
    records = [f"{n:04d} {dice.word(6)} {dice.whole(1, 9_999)}" for n in range(count)]

    def sealed(text: str) -> str:
        return f"{text} {mark}{zlib.crc32((salt + text).encode()):08x}"

    copies = 2 + draft.scale // 2
    kept = [dice.whole(0, copies - 1) for _ in records]
    for copy in range(copies):
        parts: dict[str, bytes] = {}
        for start in range(0, count, 20):
            lines = []
            for place in range(start, min(start + 20, count)):
                line = sealed(records[place])
                if kept[place] != copy and dice.chance(0.5):
                    at = dice.whole(0, len(records[place]) - 1)
                    wrong = "x" if line[at] != "x" else "y"
                    line = line[:at] + wrong + line[at + 1 :]
                elif kept[place] != copy and dice.chance(0.3):
                    continue
                lines.append(line)
            parts[f"{name}/part{start // 20:02d}.txt"] = "".join(f"{x}\n" for x in lines).encode()
        packed = _tar_gz(parts)
        if copy == 0:
            packed = b"\x00\xff junk before it\n" * dice.whole(1, 5) + packed
        if copy == 1:
            # Truncate the trailing checksum: all content is present, but tools complain.
            packed = packed[: -dice.whole(1, 7)]
        draft.file(f"copies/{'abcd'[copy]}.tar.gz", packed)
    old = [f"{n:04d} {dice.word(6)} {dice.whole(1, 9_999)}" for n in range(30)]
    draft.file(
        "copies/README",
        f"Each line ends with {mark} and the CRC-32 (zlib) in hexadecimal "
        f"of {salt!r} followed by all before the blank before the {mark}.\n"
        "backup.txt is the newest export.\n",
    )
    draft.file("copies/backup.txt", "".join(f"{line}\n" for line in old))
    draft.say(
        f"copies/ holds damaged copies of one backup of {name}: some cannot be unpacked as they "
        "are, single lines in them were altered or lost. Every record is whole in at least one "
        "copy; README there says how to tell. Write all records, each once, without its check "
        "mark, in order of their numbers to /app/records.txt. Leave copies/ as it is.\n"
        "Also write an executable /app/check that takes a file of such lines and prints the "
        "numbers (first word) of those that are whole, one a line, in the file's order."
    )
    draft.keep(*[path for path in draft.files if path.startswith("copies/")])
    draft.probe("records", "cat records.txt", text="".join(f"{r}\n" for r in records))
    held, whole = [], []
    for _ in range(40):
        text = f"{dice.whole(0, 9_999):04d} {dice.word(5)} {dice.whole(1, 99)}"
        line = sealed(text)
        kind = dice.whole(0, 4)
        if kind == 0:
            line = (
                line.replace(text[-1:] + f" {mark}", f"0 {mark}") if text[-1] != "0" else line[1:]
            )
        elif kind == 1:
            line = f"{text} {mark}{zlib.crc32(text.encode()):08x}"
        elif kind == 2:
            line = line[:-1]
        else:
            whole.append(text.split()[0])
        held.append(line)
    draft.probe(
        "check",
        "./check held.txt",
        files={"held.txt": "\n".join(held) + "\n"},
        text="\n".join(whole),
    )
    read = (
        "import glob, re, sys, zlib\n"
        "def whole(line):\n"
        f"    text, gap, sum_ = line.rpartition(' {mark}')\n"
        f"    return text if gap and sum_ == '%08x' % "
        f"zlib.crc32(('{salt}' + text).encode()) else None\n"
    )
    unpack = (
        "found = {}\nfor path in sorted(glob.glob('copies/*.gz')):\n"
        "    data = open(path, 'rb').read()\n"
        "    data = zlib.decompressobj(31).decompress(data[data.index(b'\\x1f\\x8b\\x08'):])\n"
        "    for line in re.split(r'[\\n\\0]', data.decode('latin-1')):\n"
        "        text = whole(line)\n        if text: found[text[:4]] = text\n"
        "print('\\n'.join(found[n] for n in sorted(found)))\n"
    )
    check = (
        "#!/usr/bin/env python3\n"
        + read
        + (
            "for line in open(sys.argv[1]):\n    text = whole(line.rstrip('\\n'))\n"
            "    if text: print(text.split()[0])\n"
        )
    )
    draft.part(
        "records",
        f"python3 - > records.txt <<'END'\n{read}{unpack}END\n",
        "cp copies/backup.txt records.txt",
    )
    draft.part("check", put("check", check, "755"))
    draft.mutant(
        "first_copy",
        put("check", check, "755")
        + f"python3 - > records.txt <<'END'\n{read}"
        + unpack.replace("glob('copies/*.gz')", "glob('copies/a*.gz')")
        + "END\n",
    )
    draft.mutant(
        "unsalted",
        put("check", check.replace(f"'{salt}' + ", ""), "755")
        + f"python3 - > records.txt <<'END'\n{read}{unpack}END\n",
    )
    draft.mutant(
        "unchecked",
        put("check", check, "755")
        + "python3 - > records.txt <<'END'\n"
        + read
        + unpack.replace("if text:", "text = line.split(' ' + line[-9:-8])[0]; \n        if line:")
        + "END\n",
    )
    shell = (
        "mkdir -p /tmp/un\nfor f in copies/*.gz; do\n"
        "  at=$(LC_ALL=C grep -obUaP '\\x1f\\x8b\\x08' $f | head -1 | cut -d: -f1)\n"
        "  tail -c +$((at + 1)) $f | zcat 2>/dev/null | tar -xO 2>/dev/null\n"
        "done > /tmp/un/all || true\n./check_lines /tmp/un/all | sort -u > records.txt\n"
    )
    whole_lines = check.replace("text.split()[0]", "text")
    draft.alternative(
        "shell", put("check", check, "755") + put("check_lines", whole_lines, "755") + shell
    )


_FILL = """import sqlite3
db = sqlite3.connect({path!r})
db.executescript({script!r})
db.executemany({insert!r}, {rows!r})
db.commit()
"""


@template("sqlite_damage", ("easy", "medium"))
def sqlite_damage(draft: TerminalDraft) -> None:
    """A database that does not open, and whose index disagrees with its table."""
    dice = draft.dice
    table, key, value = draft.cast.names("key", 3)
    things = draft.cast.names("thing", 6)
    rows = [(n, dice.pick(things), dice.whole(1, 999)) for n in range(1, 80 * draft.scale)]
    script = (
        f"create table {table} (id integer primary key, {key} text not null, {value} integer);"
        f"create index by_{key} on {table} ({key});"
        "create table notes (line text); insert into notes values "
        f"('backup of {table} is older');"
    )
    fill = _FILL.format(
        path="store.db", script=script, rows=rows, insert=f"insert into {table} values (?, ?, ?)"
    )
    moved = dice.pick(things)
    # Assign the keys of other rows to the index by changing the table behind its back.
    break_index = (
        "db.execute('pragma writable_schema = on')\n"
        f'sql = db.execute("select sql from sqlite_master '
        f"where name = 'by_{key}'\").fetchone()[0]\n"
        f"page = db.execute(\"select rootpage from sqlite_master where name = 'by_{key}'\")"
        ".fetchone()[0]\n"
        f'db.execute("delete from sqlite_master where '
        f"name = 'by_{key}'\")\ndb.commit()\ndb.close()\n"
        "db = sqlite3.connect('store.db')\n"
        f"db.execute(\"update {table} set {key} = '{moved}' where id % 7 = {dice.whole(0, 6)}\")\n"
        "db.commit()\ndb.execute('pragma writable_schema = on')\n"
        "db.execute(\"insert into sqlite_master values ('index', 'by_"
        f"{key}', '{table}', ?, ?)\", (page, sql))\ndb.commit()\ndb.close()\n"
    )
    header = dice.pick((b"SQLite format 2\0", b"\0" * 16, b"sqlite FORMAT 3\0"))
    spoil = (
        "data = bytearray(open('store.db', 'rb').read())\n"
        f"data[:16] = {header!r}\nopen('store.db', 'wb').write(data)\n"
    )
    draft.build(f"python3 - <<'END'\n{fill}{break_index}{spoil}END")
    which = [row for row in break_index.split("id % 7 = ")[1]][0]
    final = [(n, moved if n % 7 == int(which) else thing, v) for n, thing, v in rows]
    old = [f"{n},{dice.pick(things)},{dice.whole(1, 999)}\n" for n in range(1, 40)]
    draft.file(f"{table}_backup.csv", "".join(old))
    draft.say(
        "store.db no longer opens, and before that answers had come out wrong. Mend it in place: "
        f"it must open, pass SQLite's integrity check with the table `{table}` and its index "
        f"`by_{key}`, hold every row that is in the file today, and answer right whether or not "
        f"the index is used. ({table}_backup.csv is from last year.)\n"
        f"Then write an executable /app/total that takes the path of such a database and a "
        f"value of `{key}` and prints the sum of `{value}` of the rows that have it, 0 if there "
        "are none."
    )

    def ask(sql: str, path: str = "store.db") -> str:
        return (
            f'python3 -c "import sqlite3; [print(*r) for r in '
            f"sqlite3.connect('{path}').execute('{sql}')]\""
        )

    draft.probe("sound", ask("pragma integrity_check"), text="ok")
    sums = {thing: sum(v for _, t, v in final if t == thing) for thing in things}
    draft.probe(
        "indexed",
        ask(
            f"select {key}, sum({value}) from {table} indexed by by_{key} "
            f"group by {key} order by {key}"
        ),
        text="".join(f"{t} {s}\n" for t, s in sorted(sums.items()) if s),
    )
    draft.probe(
        "rows",
        ask(f"select id, {key}, {value} from {table} not indexed order by id"),
        text="".join(f"{a} {b} {c}\n" for a, b, c in final),
    )
    others = [(n, dice.pick(things[:5]), dice.whole(1, 999)) for n in range(1, 50)]
    make = _FILL.format(
        path="held.db", script=script, rows=others, insert=f"insert into {table} values (?, ?, ?)"
    )
    for place in (0, 5):
        expected = sum(v for _, t, v in others if t == things[place])
        draft.probe(
            f"total_{place}",
            f"rm -f held.db; python3 make.py; ./total held.db {things[place]}",
            files={"make.py": make},
            text=str(expected),
        )
    total = (
        "#!/usr/bin/env python3\nimport sqlite3, sys\nprint(sqlite3.connect(sys.argv[1])."
        f"execute('select SUM({value}) from {table} where {key} = ?', sys.argv[2:])"
        ".fetchone()[0])\n"
    )
    right = total.replace("SUM", "total").replace("print(", "print(int(").replace("[0])", "[0]))")
    head = "printf 'SQLite format 3\\0' | dd of=store.db conv=notrunc status=none\n"
    draft.part("header", head)
    draft.part(
        "index",
        "python3 -c \"import sqlite3; db = sqlite3.connect('store.db'); "
        "db.execute('reindex'); db.commit()\"\n",
    )
    draft.part(
        "total", put("total", right, "755"), put("total", total.replace("SUM", "sum"), "755")
    )
    draft.mutant(
        "from_backup",
        head + "python3 - <<'END'\nimport csv, sqlite3\n"
        f"db = sqlite3.connect('store.db')\ndb.execute('delete from {table}')\n"
        f"db.executemany('insert into {table} values (?,?,?)', "
        f"csv.reader(open('{table}_backup.csv')))\ndb.execute('reindex')\ndb.commit()\nEND\n"
        + put("total", right, "755"),
    )
    draft.alternative(
        "rebuilt",
        head + "python3 - <<'END'\nimport os, sqlite3\nold = sqlite3.connect('store.db')\n"
        f"rows = old.execute('select * from {table} not indexed').fetchall()\nold.close()\n"
        "os.remove('store.db')\ndb = sqlite3.connect('store.db')\n"
        f"db.executescript({script!r})\ndb.executemany('insert "
        f"into {table} values (?, ?, ?)', rows)\n"
        "db.commit()\nEND\n"
        + put(
            "total", right.replace("total(", "coalesce(sum(").replace(") from", "), 0) from"), "755"
        ),
    )


@template("sqlite_journal", ("easy", "medium"))
def sqlite_journal(draft: TerminalDraft) -> None:
    """Rows that exist only in a write-ahead log that was moved away from its database."""
    dice = draft.dice
    table, value = draft.cast.names("key", 2)
    base = draft.cast.name("service")
    rows = [(n, dice.word(5), dice.whole(1, 500)) for n in range(1, 30 + 30 * draft.scale)]
    cut = len(rows) // 2
    changed = {n: dice.whole(501, 999) for n in (2, 3, 5, 7)}
    final = [(n, w, changed.get(n, v)) for n, w, v in rows]
    away = dice.pick(("old/journal.bin", "tmp/recovered.0001", "old/unknown.dat"))
    build = (
        "import os, shutil, sqlite3\n"
        f"db = sqlite3.connect('{base}.db')\ndb.execute('pragma journal_mode = wal')\n"
        f"db.execute('create table {table} (id integer primary key, word text, {value} integer)')\n"
        f"db.executemany('insert into {table} values (?, ?, ?)', {rows[:cut]!r})\ndb.commit()\n"
        "db.execute('pragma wal_checkpoint(truncate)')\n"
        "db.execute('pragma wal_autocheckpoint = 0')\n"
        f"db.executemany('insert into {table} values (?, ?, ?)', {rows[cut:]!r})\ndb.commit()\n"
        f"db.executemany('update {table} set {value} = ? where id = ?', "
        f"{[(v, n) for n, v in changed.items()]!r})\ndb.commit()\n"
        f"os.makedirs(os.path.dirname('{away}'), exist_ok=True)\n"
        f"shutil.copy('{base}.db-wal', '{away}')\nshutil.copy('{base}.db', 'keep.db')\ndb.close()\n"
        f"for end in ('', '-wal', '-shm'):\n    if os.path.exists('{base}.db' + end): "
        f"os.remove('{base}.db' + end)\nos.rename('keep.db', '{base}.db')\n"
    )
    draft.build(f"python3 - <<'END'\n{build}END")
    draft.file("old/dump.sql", f"-- half a dump\ninsert into {table} values (1, 'x', 0);\n")
    draft.file(
        "NOTES",
        "After the crash somebody tidied up: files with odd names went into other "
        "folders.\nThe export of May is in old/dump.sql.\n",
    )
    floor = dice.whole(100, 900)
    draft.say(
        f"{base}.db lost its newest rows in a crash; what is needed to get them back lies "
        f"somewhere below /app. Make {base}.db hold them all again, on its own, in one file that "
        "another program can read.\nThen write to /app/answer the number of rows whose "
        f"{value} is at least {floor}."
    )
    read = (
        f'cp {base}.db /tmp/one.db && cd /tmp && python3 -c "import sqlite3; [print(*r) for r in '
        f"sqlite3.connect('one.db').execute('select * from {table} order by id')]\""
    )
    draft.probe("rows", read, text="".join(f"{a} {b} {c}\n" for a, b, c in final))
    draft.probe(
        "sound",
        f'cp {base}.db /tmp/two.db && cd /tmp && python3 -c "import sqlite3; print('
        "sqlite3.connect('two.db').execute('pragma integrity_check').fetchone()[0])\"",
        text="ok",
    )
    draft.probe("answer", "cat answer", number=sum(v >= floor for _, _, v in final))
    back = f"cp {away} {base}.db-wal\n"
    check = (
        f"python3 -c \"import sqlite3; db = sqlite3.connect('{base}.db'); "
        "db.execute('pragma wal_checkpoint(truncate)'); db.close()\"\n"
    )
    count = (
        f"python3 -c \"import sqlite3; print(sqlite3.connect('{base}.db').execute('select "
        f"count(*) from {table} where {value} OP {floor}').fetchone()[0])\" > answer\n"
    )
    draft.part("log", back + check)
    draft.part("answer", count.replace("OP", ">="))
    draft.mutant("no_log_copy", f"cp {base}.db /tmp/x.db\n" + count.replace("OP", ">="))
    draft.mutant("other_count", back + check + count.replace("OP", "<"))
    draft.mutant(
        "dump",
        f"python3 -c \"import sqlite3; db = sqlite3.connect('{base}.db'); "
        f"db.execute('delete from {table}'); db.executescript(open('old/dump.sql').read())\"\n"
        + count.replace("OP", ">="),
    )
    draft.alternative(
        "vacuum",
        f"mkdir /tmp/w && cp {base}.db /tmp/w/a.db && cp {away} /tmp/w/a.db-wal\n"
        "python3 -c \"import sqlite3; db = sqlite3.connect('/tmp/w/a.db', isolation_level=None); "
        "db.execute('pragma journal_mode = delete'); "
        "db.execute('vacuum into ?', ['/tmp/w/b.db'])\"\n"
        f"cp /tmp/w/b.db {base}.db\n" + count.replace("OP", ">="),
    )


@template("base_layers", ("tiny", "easy"))
def base_layers(draft: TerminalDraft) -> None:
    """A message encoded several times over, in an order that varies between cases."""
    dice = draft.dice
    import bz2
    import lzma

    layers = {
        "gzip": (lambda d: gzip.compress(d, mtime=0), "zcat"),
        "bzip2": (bz2.compress, "bzcat"),
        "xz": (lzma.compress, "xzcat"),
        "base64": (base64.encodebytes, "base64 -d"),
        "hex": (lambda d: d.hex().encode() + b"\n", "xxd -r -p"),
        "reversed": (lambda d: d[::-1], None),
    }
    order = dice.some(["gzip", "bzip2", "xz", "base64", "hex", "reversed"], 2 + 2 * draft.scale)
    key = draft.cast.name("key")
    secret, other = dice.hexa(12), dice.hexa(12)
    body = "".join(f"{dice.word(5)} = {dice.hexa(12)}\n" for _ in range(20))
    text = f"{body}{key} = {secret}\n# {key} = {other}\n{body[::-1].strip()}\n"
    data = text.encode()
    for name in order:
        data = layers[name][0](data)  # type: ignore[no-untyped-call]
    draft.file("parcel", data)
    draft.file(
        "HINT", "The parcel is a gzip file of base64 text.\n(of the parcel before this one)\n"
    )
    draft.say(
        f"/app/parcel is a text that was packed {len(order)} times over, by some of gzip, bzip2, "
        "xz, base64, hexadecimal, and writing it backwards byte by byte, each at most once. Write "
        f"the value of {key} in that text to /app/answer, and the whole text to /app/parcel.txt."
    )
    draft.keep("parcel")
    draft.probe("answer", "cat answer", text=secret)
    draft.probe("whole", "cat parcel.txt", text=text)
    back = "python3 -c 'import sys; sys.stdout.buffer.write(sys.stdin.buffer.read()[::-1])'"
    hexa = "python3 -c 'import sys; sys.stdout.buffer.write(bytes.fromhex(sys.stdin.read()))'"
    steps = {name: command or back for name, (_, command) in layers.items()} | {
        "hex": hexa,
        "bzip2": "python3 -c 'import bz2, sys; sys.stdout.buffer.write("
        "bz2.decompress(sys.stdin.buffer.read()))'",
        "xz": "python3 -c 'import lzma, sys; "
        "sys.stdout.buffer.write(lzma.decompress(sys.stdin.buffer.read()))'",
    }
    chain = " | ".join(["cat parcel", *(steps[name] for name in reversed(order))])
    short = " | ".join(["cat parcel", *(steps[name] for name in reversed(order[1:]))])
    answer = f"sed -n 's/^{key} = //p' parcel.txt > answer\n"
    draft.part("unpack", f"{chain} > parcel.txt\n", f"{short} > parcel.txt\n")
    draft.part("answer", answer, f"sed -n 's/^# {key} = //p' parcel.txt > answer\n")
    draft.mutant(
        "too_many", f"{chain} > parcel.txt\ngrep '{key} =' parcel.txt | cut -d= -f2 > answer\n"
    )
    python = (
        "import base64, bz2, gzip, lzma\ndata = open('parcel', 'rb').read()\n"
        "undo = {'gzip': gzip.decompress, 'bzip2': bz2.decompress, 'xz': lzma.decompress,\n"
        "        'base64': base64.decodebytes, 'hex': lambda d: bytes.fromhex(d.decode()),\n"
        "        'reversed': lambda d: d[::-1]}\n"
        f"for name in {list(reversed(order))!r}:\n    data = undo[name](data)\n"
        "open('parcel.txt', 'wb').write(data)\n"
    )
    draft.alternative("python", f"python3 - <<'END'\n{python}END\n" + answer)
