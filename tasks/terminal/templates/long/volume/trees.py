"""Files of a volume: the ordinary ones, and those that show one rule each."""

from collections.abc import Callable

from hexathlon.tasks.terminal.templates.long.volume.maker import MASKED, UNWRITTEN, VolumeMaker

__all__ = ["TREES", "populate"]


def populate(maker: VolumeMaker) -> None:
    """Add directories and ordinary files."""
    dice, form, size = maker.dice, maker.form, maker.size
    names = maker.dice.some(maker_names(maker), 18)
    folders = [maker.root]
    for _ in range(3):
        folder = maker.directory()
        maker.enter(dice.pick(folders), names.pop().encode(), folder)
        folders.append(folder)
    styles = ["plain", "plain", "inline"]
    styles += [style for style in ("packed", "extents") if style in form.features]
    for style in [*styles, *dice.some(styles, 2)]:
        length = dice.whole(3, 40) if style == "inline" else dice.whole(size // 2, size * 5)
        content = maker.runs(length) if style == "packed" else maker.text(length)
        file = maker.file(content, style)
        maker.enter(dice.pick(folders), f"{names.pop()}.log".encode(), file)
    _holes(maker, names.pop() + ".bin")
    if "tail" in form.features:
        _tails(maker, [names.pop(), names.pop()])
    for _ in range(2):
        gone = maker.file(maker.text(30))
        maker.enter(folders[1], names[-1].encode(), gone)
        maker.remove(folders[1], names.pop().encode())
    long = maker.file(maker.text(size * 10 + dice.whole(1, 99)))
    maker.enter(folders[2], names.pop().encode(), long)
    target = maker.inode(3)
    target.style, target.content = "inline", b"../" + names[-1].encode()
    maker.enter(folders[-1], names.pop().encode(), target)


def maker_names(maker: VolumeMaker) -> list[str]:
    """Names for files."""
    stems = ("pump", "trace", "boot", "site", "level", "cal", "flow", "alarm", "cfg", "day")
    return [f"{stem}{maker.dice.whole(10, 99)}{end}" for stem in stems for end in "abc"]


def _holes(maker: VolumeMaker, name: str) -> None:
    size = maker.size
    content = maker.text(size) + bytes(size * 2) + maker.text(size + 9)
    maker.enter(maker.root, name.encode(), maker.file(content, holes=(1, 2)))


def _tails(maker: VolumeMaker, names: list[str]) -> None:
    block, at, unit = maker.block(), maker.form.tail_unit * 2, maker.form.tail_unit
    for place, name in enumerate(names):
        rest = maker.dice.whole(20, 80)
        file = maker.file(maker.text(maker.size * (place + 1) + rest), "tail")
        maker.tail(file, block, at)
        maker.enter(maker.root, name.encode(), file)
        at += -(-rest // unit) * unit + unit


def links(maker: VolumeMaker) -> None:
    """One file under three names, with a count of links that was never brought up to date."""
    file = maker.file(maker.text(70))
    folder = maker.directory()
    maker.enter(maker.root, b"linked", folder)
    for parent, name in ((maker.root, b"one"), (folder, b"two"), (folder, b"three")):
        maker.enter(parent, name, file)
    file.links = 2


def double(maker: VolumeMaker) -> None:
    """A file that needs the second table, most of it a hole."""
    size, per = maker.size, maker.size // 4
    count = 8 + per * 2 + 3
    content = maker.text(size) + bytes(size * (count - 3)) + maker.text(size + 40)
    file = maker.file(content, holes=range(1, count - 2))
    maker.enter(maker.root, b"sparse.img", file)


def latin(maker: VolumeMaker) -> None:
    """Names beyond ASCII in the encoding of the volume's revision."""
    folder = maker.directory()
    for parent, name in ((maker.root, "Prüfstand 1%"), (folder, "été.log"), (folder, "naïve")):
        child = folder if name.startswith("P") else maker.file(maker.text(33))
        stored = name.encode("utf-8" if maker.revision >= 3 else "latin-1")
        maker.enter(parent, stored, child)


def stale(maker: VolumeMaker) -> None:
    """Entries left behind whose inodes were given to other files."""
    file, folder = maker.file(maker.text(55)), maker.directory()
    maker.enter(maker.root, b"fresh", file)
    maker.enter(maker.root, b"fresh.d", folder)
    maker.root.slots.insert(1, (file.number, (file.generation - 1) & 0xFF, b"aged"))
    maker.root.slots.append((folder.number, (folder.generation - 3) & 0xFF, b"aged.d"))


def duplicate(maker: VolumeMaker) -> None:
    """A name twice in a directory, after an interrupted rename; both files have other names too."""
    folder = maker.directory()
    maker.enter(maker.root, b"renamed", folder)
    pair = [maker.file(maker.text(40 + n)) for n in range(2)]
    for file, spare in zip(pair, (b"spare.1", b"spare.2"), strict=True):
        maker.enter(folder, spare, file)
    for file in pair:
        folder.slots.append((file.number, file.generation & 0xFF, b"report"))
    folder.children[b"report"] = pair[0] if maker.form.first_wins else pair[1]
    for file in pair:
        file.links = 2


def orphan(maker: VolumeMaker) -> None:
    """A chain of deleted files that were open; those with the flag are kept."""
    chain = [maker.file(maker.text(44 + n)) for n in range(3)]
    for place, node in enumerate(chain):
        node.links = 0
        node.flags = 32 if place != 1 else 0
        node.following = chain[place + 1].number if place < 2 else 0
        maker.root.slots.append((node.number, node.generation & 0xFF, b"open.%d" % place))
        if node.flags:
            maker.loose[b"/lost+found/" + (maker.form.lost_name % node.number).encode()] = node
    busy = maker.file(maker.text(61))
    maker.enter(maker.root, b"busy", busy)
    chain[2].following, busy.following = busy.number, 0
    maker.orphan = chain[0].number


def lost(maker: VolumeMaker) -> None:
    """A file and a directory, with one inside it, that no directory names."""
    file, outer, inner = maker.file(maker.text(90)), maker.directory(), maker.directory()
    maker.enter(outer, b"inner", inner)
    maker.enter(inner, b"deep", maker.file(maker.text(31)))
    maker.enter(outer, b"near", maker.file(maker.text(32)))
    freed = maker.file(maker.text(12))
    freed.links = 0
    if maker.revision >= 3:
        for node in (file, outer):
            maker.loose[b"/lost+found/" + (maker.form.lost_name % node.number).encode()] = node


def inode_sum(maker: VolumeMaker) -> None:
    """An inode whose checksum is wrong; before revision 3 there is no checksum."""
    bad = maker.file(maker.text(77))
    if maker.revision >= 3:
        bad.spoiled = True
        maker.root.slots.append((bad.number, bad.generation & 0xFF, b"broken"))
    else:
        maker.enter(maker.root, b"broken", bad)


def unwritten(maker: VolumeMaker) -> None:
    """Blocks that were reserved and never written."""
    size = maker.size
    for style in ["plain"] + ["extents"] * ("extents" in maker.form.features):
        content = maker.text(size) + bytes(size * 2) + maker.text(size) + bytes(size // 2)
        file = maker.file(content, style)
        for place in (1, 2, 4):
            file.blocks[place] |= UNWRITTEN
        maker.enter(maker.root, b"reserved." + style.encode(), file)


def masked(maker: VolumeMaker) -> None:
    """Masked files of every style, with a hole and with blocks that were never written."""
    size = maker.size
    styles = [style for style in ("packed", "extents", "tail") if style in maker.form.features]
    for style in ["plain", "inline", *styles]:
        length = 37 if style == "inline" else size * 3 + 50
        content = maker.runs(length) if style == "packed" else maker.text(length)
        holes = () if style == "inline" else (1,)
        if holes:
            content = content[:size] + bytes(size) + content[size * 2 :]
        file = maker.file(content, style, holes)
        file.flags |= MASKED
        if style == "tail":
            maker.tail(file, maker.block(), maker.form.tail_unit * 3)
        if "unwritten" in maker.form.features and style == "plain":
            file.content = content[: size * 2] + bytes(size) + content[size * 3 :]
            file.blocks[2] |= UNWRITTEN
        maker.enter(maker.root, b"masked." + style.encode(), file)


def clone(maker: VolumeMaker) -> None:
    """Files that share blocks with others: longer ones, shorter ones, clones of clones."""
    size, has = maker.size, maker.form.features
    style = "packed" if "packed" in has else "extents" if "extents" in has else "plain"
    text = maker.runs(size * 3 + 20) if style == "packed" else maker.text(size * 3 + 20)
    base = maker.file(text[: size * 2] + bytes(size) + text[size * 3 :], style, holes=(2,))
    if "masked" in has:
        base.flags |= MASKED
    own = maker.text(size)
    longer = maker.clone(base, base.content + bytes(size * 2), own=())
    mixed = base.content[:size] + own + base.content[size * 2 :]
    second = maker.clone(base, mixed, own=(1,))
    third = maker.clone(second, own[::-1] + mixed[size : size * 2 + 30], own=(0,))
    if "unwritten" in has:
        second.content = mixed[: size * 3] + bytes(20)
        second.blocks[3] = maker.block() | UNWRITTEN
    hidden = maker.file(maker.text(size * 2 + 5))
    hidden.links = 0
    last = maker.clone(hidden, hidden.content[: size + 9], own=())
    named = (base, longer, second, third, last)
    for name, file in zip(("base", "longer", "second", "third", "last"), named, strict=True):
        maker.enter(maker.root, f"clone.{name}".encode(), file)


TREES: dict[str, Callable[[VolumeMaker], None]] = {
    "links": links, "double": double, "latin": latin, "stale": stale, "duplicate": duplicate,
    "orphan": orphan, "lost": lost, "inode_sum": inode_sum, "unwritten": unwritten,
    "masked": masked, "clone": clone,
}  # fmt: skip
