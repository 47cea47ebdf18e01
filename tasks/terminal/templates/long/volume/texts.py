"""Parts of the reference reader, as text. Words after an at sign are filled in by `reader`."""

__all__ = [
    "CANCEL",
    "CLONE",
    "DUP_FIRST",
    "EXTENTS",
    "HEAD",
    "KEEP",
    "KEY",
    "LOST",
    "MASK",
    "MASKINLINE",
    "PACKED",
    "PATCHED",
    "PATCHING",
    "POINT",
    "REPLAY",
    "REVERSED",
    "SCAN",
    "SUMCHECK",
    "SUPER",
    "TAIL",
    "TREE",
    "UNPACK",
    "ZERO",
]

HEAD = '''#!/usr/bin/env python3
"""Print the manifest of a volume, as the driver leaves it when it mounts it."""
import datetime, hashlib, struct, sys, zlib

E = "@END"
MAGIC, JMAGIC = b"@MAG", struct.pack(E + "I", @JMAG)
SB = E + "4sHBBIIIIIIIIIIIhH16sI"


class Volume:
    def __init__(self, data):
        self.data = bytearray(data)
        self.sb = self.superblock()

    def superblock(self):
        found = []
        for shift in (8, 9, 10):
            size = 1 << shift
            if len(self.data) < 2 * size:
                continue
            for place in (0, len(self.data) // size * size - size):
                sb = self.checked(place, shift)
                if sb:
                    found.append(sb)
        if not found:
            sys.exit(3)
        best = found[0]
        for sb in found[1:]:
            if (sb["gen"] - best["gen"]) & 0xFFFFFFFF in range(1, 1 << 31):
                best = sb
        return best

    @staticmethod
    def fields(block):
        names = ("magic rev shift flags gen serial nblocks itable ninodes jstart jlen jhead jseq "
                 "root orphan tz pad label sum").split()
        return dict(zip(names, struct.unpack_from(SB, block)))

    def checked(self, place, shift):
        block = bytes(self.data[place : place + (1 << shift)])
        sb = self.fields(block)
        at = struct.calcsize(SB) - 4
        bare = block[:at] + bytes(4) + block[at + 4 :]
        if sb["magic"] != MAGIC or sb["shift"] != shift:
            return None
        self.seed = sb["serial"] if sb["rev"] >= 3 else 0
        if zlib.crc32(bare, self.seed) != sb["sum"]:
            return None
        return sb

    def block(self, number):
        size = self.size
        if not 0 < number < self.sb["nblocks"]:
            return bytes(size)
        return bytes(self.data[number * size : number * size + size])

    def crc(self, data):
        return zlib.crc32(data, self.seed)

    def run(self):
        self.size = 1 << self.sb["shift"]
        self.seed = self.sb["serial"] if self.sb["rev"] >= 3 else 0
        if not self.sb["flags"] & 1:
            self.replay(self.transactions())
@SUPER        self.tree()

'''

SCAN = """    def transactions(self):
        sb, size = self.sb, self.size
        place, seq, done = sb["jhead"]@HEADOFF, sb["jseq"], []
        left = sb["jlen"]

        def take():
            nonlocal place, left
            if left == 0:
                return None
            left -= 1
            made = self.block(sb["jstart"] + place % sb["jlen"])
            place += 1
            return made

        while True:
            writes, revoked, cancelled, settled, summed, bad = [], [], [], [], b"", False
            while True:
                head = take()
                if head is None or head[:4] != JMAGIC:
                    return done
                kind, count, number = struct.unpack_from(E + "HHI", head, 4)
                if number != seq:
                    return done
                if kind == 2:
                    (total,) = struct.unpack_from(E + "I", head, 12)
                    break
                summed += head
                if kind == 3:
                    revoked += struct.unpack_from(E + "%dI" % count, head, 12)
@CANCELSCAN@POINTSCAN                elif kind == 1:
                    for n in range(count):
                        target, flags, check = struct.unpack_from(E + "IHH", head, 12 + 8 * n)
@ZEROSCAN                        data = take()
                        if data is None:
                            return done
                        plain = JMAGIC + data[4:] if flags & 1 else data
                        covered = @COVERED
                        if sb["rev"] >= 3:
                            bad |= self.crc(covered) & 0xFFFF != check
                        else:
                            summed += covered
                        writes.append((target, plain, @PATCHFLAG))
                else:
                    return done
            if bad or self.crc(summed) != total:
                return done
            done.append((seq, writes, revoked, cancelled, settled))
            seq = seq + 1 if seq < 0xFFFFFFFF else @SEQFIRST

"""

REPLAY = """    def replay(self, done):
        gone = {seq for transaction in done for seq in transaction[3]}
        last, places, floor = {}, {each[0]: place for place, each in enumerate(done)}, -1
        for place, (seq, _, revoked, _, settled) in enumerate(done):
            if seq not in gone:
                last.update(dict.fromkeys(revoked, place))
                floor = max([floor, *(places.get(number, -1) for number in settled)])
        self.written = set()
        for place, (seq, writes, *_) in enumerate(done):
            if seq in gone:
                continue
            if place <= floor:
                continue
            for target, data, patch in writes:
                if not place @REVCMP last.get(target, -1):
@PATCHING                    self.data[target * self.size : (target + 1) * self.size] = data
                    self.written.add(target)

    def leading(self):
        return bytes(self.data[: self.size])

"""

REVERSED = """    def replay(self, done):
        gone = {seq for transaction in done for seq in transaction[3]}
        self.written, shut, passed = {}, set(), False
        points = {number for seq, *_, settled in done if seq not in gone for number in settled}
        for seq, writes, revoked, *_ in reversed(done):
            passed = passed or seq in points
            if seq in gone or passed:
                continue
            if "@REVCMP" == "<=":
                shut |= set(revoked)
            for target, data, patch in reversed(writes):
                if target not in shut:
                    self.written.setdefault(target, []).append((data, patch))
            shut |= set(revoked)
        plain = self.block

        def current(number):
            patches = []
            for data, patch in self.written.get(number, []):
                if not patch:
                    break
                patches.append(data)
            else:
                data = plain(number)
            for patch in reversed(patches):
                data = self.patched(data, patch)
            return data

        self.block = current
        self.leading = lambda: current(0)

"""

TREE = """    def inode(self, number):
        sb = self.sb
        place = number - @INOBASE
        if not 0 <= place < sb["ninodes"]:
            return None
        per = self.size // 64
        raw = self.block(sb["itable"] + place // per)[place % per * 64 :][:64]
        kind, flags, links, size, mtime, gen, off = struct.unpack_from(E + "BBHIIHH", raw)
        next_orphan, total = struct.unpack_from(E + "II", raw, 56)
@SUMCHECK        if kind == 0:
            return None
        return dict(number=number, kind=kind, flags=flags, links=links, size=size, mtime=mtime,
                    gen=gen, off=off, map=raw[16:56], next=next_orphan)

    def pointers(self, node):
        per = self.size // 4
        form = E + "%dI" % per
        direct = struct.unpack(E + "10I", node["map"])
        count = -(-node["size"] // self.size)
        found = list(direct[:8])
        if count > 8:
            found += struct.unpack(form, self.pointed(direct[8]))
        if count > 8 + per:
            for middle in struct.unpack(form, self.pointed(direct[9])):
                found += struct.unpack(form, self.pointed(middle))
        return found[:count] + [0] * (count - len(found))

    def pointed(self, pointer):
        return self.block(pointer)

    def content(self, node):
        size = node["size"]
        if node["flags"] & 1:
@MASKINLINE            return node["map"][:size]
        if size > 1 << 30:
            sys.exit(4)
        count = -(-size // self.size)
        where = self.pointers(node)
@EXTENTS        made = []
        for place, pointer in enumerate(where):
            wanted = min(self.size, size - place * self.size)
@CLONE            if pointer == 0@UNWRITTEN:
                made.append(bytes(wanted))
                continue
            data = self.block(pointer & 0x7FFFFFFF)
@TAIL@MASK@PACKED            made.append(data[:wanted])
        return b"".join(made)

    def entries(self, node):
        data, found = self.content(node), {}
        for start in range(0, len(data), self.size):
            block, place = data[start : start + self.size], 0
            while place + 8 <= len(block):
                number, length, name_length, mark = struct.unpack_from(E + "IHBB", block, place)
                if length == 0:
                    break
                name = block[place + 8 : place + 8 + name_length]
                place += length
                if number == 0:
                    continue
                child = self.inode(number)
                if child is None or number in self.dropped@STALE:
                    continue
                if self.sb["rev"] < 3:
                    name = name.decode("latin-1").encode()
@DUP                found[name] = child
        return found

    def tree(self):
        self.lines, self.names, self.dropped = [], {}, set()
        kept = []
        number, seen = self.sb["orphan"], set()
        while number and number not in seen:
            seen.add(number)
            node = self.inode(number)
            if node is None:
                break
            if node["links"] == 0:
                self.dropped.add(number)
@KEEPORPHAN            number = node["next"]
        root = self.inode(self.sb["root"])
        paths, met = [], set()
        self.walk(root, b"", paths, met)
@LOST        for number in kept:
            self.walk(self.inode(number), b"/lost+found/@LFNAME" % number, paths, met)
        counts = {}
        for _, node in paths:
            counts[node["number"]] = counts.get(node["number"], 0) + 1
        for path, node in sorted(paths, key=lambda pair: pair[0]):
            print(self.line(path, node, counts[node["number"]]))

    def walk(self, node, path, paths, met):
        if path:
            paths.append((path, node))
        met.add(node["number"])
        if node["kind"] == 2:
            for name, child in self.entries(node).items():
                self.walk(child, path + b"/" + name, paths, met)

    def line(self, path, node, count):
        shown = "".join(chr(c) if 33 <= c < 127 and c != 37 else "%%%02X" % c for c in path)
        if node["kind"] == 2:
            return "d " + shown
        data = self.content(node)
        if node["kind"] == 3:
            return "l %s %s" % (shown, hashlib.sha256(data).hexdigest()[:16])
        digest = hashlib.sha256(data).hexdigest()[:16]
        base, east = (datetime.datetime(1970, 1, 1), 0)
        if self.sb["rev"] < 3:
            base, east = datetime.datetime(@EPOCH, 1, 1), self.sb["tz"]
        when = base + datetime.timedelta(seconds=node["mtime"] - 60 * east)
        return "f %s %d %s %d %sZ" % (shown, len(data), digest, count, when.isoformat())


with open(sys.argv[1], "rb") as file:
    Volume(file.read()).run()
"""

CANCEL = """                elif kind == 4:
                    cancelled += struct.unpack_from(E + "%dI" % count, head, 12)
"""
ZERO = """                        if flags & 2:
                            writes.append((target, bytes(size), 0))
                            continue
"""
POINT = """                elif kind == 5:
                    settled += struct.unpack_from(E + "%dI" % count, head, 12)
"""
PATCHING = """                    if patch:
                        data = self.patched(self.block(target), data)
"""
PATCHED = """    @staticmethod
    def patched(block, patches):
        block, place = bytearray(block), 0
        while place + 4 <= len(patches):
            offset, length = struct.unpack_from(E + "HH", patches, place)
            if length == 0:
                break
            block[offset : offset + length] = patches[place + 4 : place + 4 + length]
            place += 4 + length
        return bytes(block)

"""
SUPER = """            if 0 in self.written:
                new = self.fields(self.leading())
                self.sb.update({name: new[name] for name in ("root", "orphan", "tz")})
"""
MASKINLINE = """            if node["flags"] & 16:
                key = self.key(node, 0)
                return bytes(byte ^ key for byte in node["map"][:size])
"""
MASK = """            if node["flags"] & 16:
                key = self.key(node, place)
                data = bytes(byte ^ key for byte in data)
"""
KEY = """    def key(self, node, place):
        return ((node["gen"] if self.sb["rev"] >= 3 else node["number"]) + place) & 0xFF

"""
CLONE = """            if pointer == 0 and node["flags"] & 64:
                base = self.inode(node["off"])
                below = self.content(base)[place * self.size :][:wanted] if base else b""
                made.append(below + bytes(wanted - len(below)))
                continue
"""
SUMCHECK = """        counted = struct.pack(E + "I", number) + raw[:60]
        if sb["rev"] >= 3 and self.crc(counted) != total:
            return None
"""
EXTENTS = """        if node["flags"] & 2:
            where = [0] * count
            for n in range(5):
                @EXTORDER = struct.unpack_from(E + "@EXTFORM", node["map"], 8 * n)
                for step in range(length & 0x7FFF):
                    if logical + step < count:
                        where[logical + step] = @EXTVALUE
"""
TAIL = """            if node["flags"] & 4 and wanted < self.size:
                data = data[node["off"] * @TAILUNIT :]
"""
PACKED = """            if node["flags"] & 8:
                data = self.unpacked(data)
"""
UNPACK = """    def unpacked(self, block):
        (length,) = struct.unpack_from(E + "H", block)
        packed, out, place = block[2 : 2 + length], bytearray(), 0
        while place < len(packed):
            if packed[place] == @RLEESC:
                out += packed[place + 2 : place + 3] * (packed[place + 1] + @RLEBIAS)
                place += 3
            else:
                out.append(packed[place])
                place += 1
        return bytes(out) + bytes(self.size - len(out))

"""
DUP_FIRST = """                if name in found:
                    continue
"""
KEEP = """                if node["flags"] & 32:
                    kept.append(number)
"""
LOST = """        if self.sb["rev"] >= 3:
            base = @INOBASE
            numbers = range(base, base + self.sb["ninodes"])
            loose = [self.inode(n) for n in numbers if n not in met and n not in self.dropped]
            loose = [node for node in loose if node and node["links"] > 0]
            inner = set()
            for node in loose:
                if node["kind"] == 2:
                    inner |= {child["number"] for child in self.entries(node).values()}
            kept += [node["number"] for node in loose if node["number"] not in inner]
"""
