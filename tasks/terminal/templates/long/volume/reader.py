"""The reference reader of volumes, as the text of a Python program, and its faults.

It works on a copy of the image. `REVERSED` replaces its replay by one that needs no copy: from the
last transaction back, the first version of a block that is met is the one that counts.
"""

from hexathlon.tasks.terminal.draft import faulty
from hexathlon.tasks.terminal.templates.long.volume import texts
from hexathlon.tasks.terminal.templates.long.volume.format import VolumeFormat

__all__ = ["FAULTS", "reader"]

_EXTENT_VALUE = "0 if length & 0x8000 else start + step"

FAULTS: dict[str, tuple[str, str]] = {
    "superblock_first": ("best = sb\n        return", "pass\n        return"),
    "generation_unsigned": (
        'if (sb["gen"] - best["gen"]) & 0xFFFFFFFF in range(1, 1 << 31):',
        'if sb["gen"] > best["gen"]:',
    ),
    "one_block_size": ("for shift in (8, 9, 10)", "for shift in (8, 9)"),
    "no_seed": ('self.seed = sb["serial"] if sb["rev"] >= 3 else 0', "self.seed = 0"),
    "clean_ignored": ('if not self.sb["flags"] & 1:', "if True:"),
    "ring_end": ('place % sb["jlen"]', "place"),
    "sequence_ignored": ("if number != seq:", "if False:"),
    "torn_replayed": ("if bad or self.crc(summed) != total:", "if False:"),
    "torn_skipped": (
        "                return done\n            done.append",
        "                seq += 1\n                continue\n            done.append",
    ),
    "data_unchecked_rev3": ("bad |= self.crc(covered) & 0xFFFF != check", "pass"),
    "not_escaped": ("JMAGIC + data[4:] if flags & 1 else data", "data"),
    "sequence_no_wrap": ("seq + 1 if seq < 0xFFFFFFFF else @SEQFIRST", "seq + 1"),
    "no_revoke": ("if not place @REVCMP last.get(target, -1):", "if True:"),
    "revoke_other_bound": ("place @REVCMP last", "place @REVOTHER last"),
    "revoke_for_good": (
        "if not place @REVCMP last.get(target, -1):",
        "if target not in last:",
    ),
    "no_double": ("if count > 8 + per:", "if False:"),
    "latin_names": ('name.decode("latin-1").encode()', "name"),
    "local_time": ("- 60 * east", ""),
    "stored_links": ("counts[node[\"number\"]]))", "node[\"links\"]))"),
    "cancel_ignored": ("cancelled += struct.unpack_from(E + \"%dI\" % count, head, 12)", "pass"),
    "cancel_keeps_revokes": ("            if seq not in gone:\n", "            if True:\n"),
    "checkpoint_ignored": ("settled += struct", "struct"),
    "checkpoint_exclusive": ("if place <= floor:", "if place < floor:"),
    "patch_whole": ("if patch:", "if False:"),
    "patch_of_the_volume": (
        "data = self.patched(self.block(target), data)",
        'whole = __import__("pathlib").Path(sys.argv[1]).read_bytes()\n                        '
        "data = self.patched(whole[target * self.size :][: self.size], data)",
    ),
    "patch_first_only": ("            place += 4 + length\n", "            break\n"),
    "super_ignored": ("if 0 in self.written:", "if False:"),
    "super_root_only": ('in ("root", "orphan", "tz")', 'in ("root",)'),
    "mask_ignored": (
        'if node["flags"] & 16:\n                key = self.key(node, place)',
        "if False:\n                key = self.key(node, place)",
    ),
    "mask_same_everywhere": (") + place) & 0xFF", ")) & 0xFF"),
    "mask_by_number": ('node["gen"] if self.sb["rev"] >= 3 else node["number"]', 'node["number"]'),
    "mask_not_inline": ("key = self.key(node, 0)", "key = 0"),
    "clone_ignored": ('pointer == 0 and node["flags"] & 64', "False"),
    "clone_to_its_end": ('[place * self.size :][:wanted] if base else b""',
                         '[place * self.size :][: self.size] if base else b""'),
    "zero_takes_block": ("writes.append((target, bytes(size), 0))\n                            "
    "continue",
                         "writes.append((target, bytes(size), 0))"),
    "inode_unchecked": ("return None\n        if kind == 0", "pass\n        if kind == 0"),
    "extent_unwritten": ("length & 0x7FFF", "length"),
    "extent_mark_ignored": ("0 if length & 0x8000 else start + step", "start + step"),
    "tail_offset": ("data = data[node[\"off\"] * @TAILUNIT :]", "pass"),
    "unwritten_read": (" or pointer >> 31", ""),
    "stale_entry": (' or mark != child["gen"] & 0xFF', ""),
    "duplicate_other": ("if name in found:", "if False:"),
    "orphan_forgotten": ("kept.append(number)", "pass"),
    "orphan_entry_shown": (
        "self.dropped.add(number)",
        'self.dropped |= {number} if not node["flags"] & 32 else set()',
    ),
    "lost_rev2": ('if self.sb["rev"] >= 3:\n            base', "if True:\n            base"),
    "lost_nested": ('kept += [node["number"] for node in loose if node["number"] not in inner]',
                    'kept += [node["number"] for node in loose]'),
    "lost_left": ('kept += [node["number"] for node in loose if node["number"] not in inner]',
                  "pass"),
}  # fmt: skip
"""Faults by name: the text that the right reader has, and what stands there instead."""


def reader(form: VolumeFormat, fault: str = "", *, other: bool = False) -> str:
    """Return the reader for a format.

    Args:
        form: The format of the task.
        fault: The name of a fault; empty for none.
        other: Whether to replay from the last transaction back.

    Raises:
        ValueError: If the fault changes nothing in this format.
    """
    has = form.features
    text = texts.HEAD + texts.SCAN + (texts.REVERSED if other else texts.REPLAY)
    for feature, part in (
        ("packed", texts.UNPACK),
        ("patch", texts.PATCHED),
        ("masked", texts.KEY),
    ):
        text += part if feature in has else ""
    text += texts.TREE
    if fault:
        if fault == "duplicate_other" and not form.first_wins:
            old, new = (
                "                found[name] = child",
                texts.DUP_FIRST + "                found[name] = child",
            )
        else:
            old, new = FAULTS[fault]
        known = {fault: (_marks(old, form), _marks(new, form))}
        return faulty(_filled(text, form), known, [fault])
    return _filled(text, form)


def _filled(text: str, form: VolumeFormat) -> str:
    has = form.features
    parts = {
        "CANCELSCAN": texts.CANCEL if "cancel" in has else "",
        "POINTSCAN": texts.POINT if "checkpoint" in has else "",
        "PATCHING": texts.PATCHING if "patch" in has else "",
        "PATCHFLAG": "flags & 4" if "patch" in has else "0",
        "SUPER": texts.SUPER if "super" in has else "",
        "MASKINLINE": texts.MASKINLINE if "masked" in has else "",
        "MASK": texts.MASK if "masked" in has else "",
        "CLONE": texts.CLONE if "clone" in has else "",
        "ZEROSCAN": texts.ZERO if "zero" in has else "",
        "SUMCHECK": texts.SUMCHECK if "inode_sum" in has else "",
        "EXTENTS": texts.EXTENTS if "extents" in has else "",
        "TAIL": texts.TAIL if "tail" in has else "",
        "PACKED": texts.PACKED if "packed" in has else "",
        "UNWRITTEN": " or pointer >> 31" if "unwritten" in has else "",
        "STALE": ' or mark != child["gen"] & 0xFF' if "stale" in has else "",
        "DUP": texts.DUP_FIRST if "duplicate" in has and form.first_wins else "",
        "KEEPORPHAN": texts.KEEP if "orphan" in has else "",
        "LOST": texts.LOST if "lost" in has else "",
    }
    for mark, part in parts.items():
        text = text.replace(f"@{mark}", part)
    return _marks(text, form)


def _marks(text: str, form: VolumeFormat) -> str:
    order = form.extent_order
    marks = {
        "END": form.endian,
        "MAG": form.magic,
        "JMAG": str(form.journal_magic),
        "HEADOFF": ' - sb["jstart"]' if form.head_absolute else "",
        "COVERED": "plain" if form.sum_of_plain else "data",
        "SEQFIRST": str(form.first_sequence),
        "REVCMP": "<=" if form.revokes_own else "<",
        "REVOTHER": "<" if form.revokes_own else "<=",
        "INOBASE": str(form.inode_base),
        "EXTORDER": ", ".join(order),
        "EXTFORM": "".join("I" if name == "start" else "H" for name in order),
        "EXTVALUE": _EXTENT_VALUE if "unwritten" in form.features else "start + step",
        "TAILUNIT": str(form.tail_unit),
        "RLEESC": str(form.run_escape),
        "RLEBIAS": str(form.run_bias),
        "EPOCH": str(form.epoch),
        "LFNAME": form.lost_name,
    }  # fmt: skip
    for mark in sorted(marks, key=len, reverse=True):
        text = text.replace(f"@{mark}", marks[mark])
    return text
