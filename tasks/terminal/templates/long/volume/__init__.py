"""Volumes of a home-grown file system with a journal, whose driver is lost.

Headers, a change log, mails and tickets describe the format, in part wrongly; samples show the
ordinary. Held-out images test each rule of replay, of recovery and of the format by itself and in
company. What an image has to be read as comes from the model that it was built from.
"""

import base64
import zlib
from collections.abc import Iterator
from dataclasses import replace

from hexathlon.tasks.terminal.dice import Dice
from hexathlon.tasks.terminal.draft import TerminalDraft, put, template
from hexathlon.tasks.terminal.templates.long.volume.documents import volume_documents
from hexathlon.tasks.terminal.templates.long.volume.format import VolumeFormat, drawn_format
from hexathlon.tasks.terminal.templates.long.volume.images import VolumeCase, volume_image
from hexathlon.tasks.terminal.templates.long.volume.reader import FAULTS, reader
from hexathlon.tasks.terminal.templates.long.volume.trees import TREES

__all__ = ["long_volume", "near_misses", "volume_cases"]

_PROGRAM = "manifest.py"
_PLAYED = 14
"""Near misses of one task; the others are played by the package's tests."""

_SAMPLES = {
    "tower-a": VolumeCase(2, 8),
    "tower-b": VolumeCase(2, 8, journal=("edits",)),
    "quay": VolumeCase(2, 9, trees=("links",)),
    "depot-1": VolumeCase(3, 8, trees=("links",)),
    "depot-2": VolumeCase(3, 8, journal=("edits",)),
    "mill": VolumeCase(3, 9, journal=("edits", "unfinished")),
}


def volume_cases(form: VolumeFormat, dice: Dice) -> Iterator[tuple[str, VolumeCase]]:
    """Yield the held-out cases by name."""
    has = form.features
    kinds = tuple(kind for kind in ("zero", "cancel", "checkpoint", "super") if kind in has)
    own = [name for name in TREES if name in has]
    yield "revision_2", VolumeCase(2, dice.pick((8, 9)), ("links", "latin"))
    yield "revision_3", VolumeCase(3, dice.pick((8, 9)), ("links", "latin"))
    yield "blocks_of_1024", VolumeCase(dice.pick((2, 3)), 10, ("links",), (), ("edits",))
    yield "table_of_tables", VolumeCase(dice.pick((2, 3)), 8, ("double",))
    for revision in (2, 3):
        yield f"ring_{revision}", VolumeCase(revision, 8, journal=("edits", "ring"))
        yield f"torn_data_{revision}", VolumeCase(revision, 8, journal=("edits", "torn_data"))
    yield "torn_commit", VolumeCase(dice.pick((2, 3)), 8, journal=("edits", "torn_commit"))
    yield "torn_first", VolumeCase(dice.pick((2, 3)), 8, journal=("torn_first",))
    yield "clean_with_a_full_journal", VolumeCase(dice.pick((2, 3)), 9, journal=("edits", "clean"))
    for revision in (2, 3):
        yield f"escaped_{revision}", VolumeCase(revision, 8, journal=("edits", "escape"))
    yield "sequence_wraps", VolumeCase(dice.pick((2, 3)), 8, journal=("edits", "wrap"))
    for kind in ("revoke", "rewritten", "own"):
        yield f"revoked_{kind}", VolumeCase(dice.pick((2, 3)), 8, journal=("edits", kind))
    yield "mirror_alone", VolumeCase(2, 9, superblocks="mirror")
    yield "mirror_alone_1024", VolumeCase(3, 10, ("links",), superblocks="mirror")
    for kind in ("newer_mirror", "newer_first", "generation"):
        yield f"superblocks_{kind}", VolumeCase(3, 8, journal=("edits",), superblocks=kind)
    yield "generation_wraps_2", VolumeCase(2, 9, journal=("edits",), superblocks="generation")
    yield "no_superblock", VolumeCase(3, 8, superblocks="none")
    for name in own:
        for revision in (2, 3):
            yield f"{name}_{revision}", VolumeCase(revision, 8, (name,))
    for kind in kinds:
        for revision in (2, 3):
            yield f"{kind}_{revision}", VolumeCase(revision, 8, journal=("edits", kind))
    if "patch" in has:
        for kind in ("own", "rewritten", "revoke"):
            for revision in (2, 3):
                yield f"patch_{kind}_{revision}", VolumeCase(revision, 8, journal=("edits", kind))
        yield "patch_escaped", VolumeCase(3, 9, ("links",), journal=("edits", "escape", "wrap"))
    for kind in kinds:
        for end in ("torn_commit", "torn_data"):
            revision = dice.pick((2, 3))
            yield (
                f"{kind}_{end}",
                VolumeCase(revision, 8, ("links",), (), ("edits", "ring", kind, end)),
            )
    if "super" in has:
        for place in ("mirror", "newer_mirror", "generation"):
            case = VolumeCase(2, 8, ("latin",), (), ("edits", "super"), place)
            yield f"super_{place}", case
    for number in range(4):
        trees = tuple(name for name in dice.some(own, min(3, len(own))) if name != "orphan")
        more = dice.some(("ring", "wrap", "escape", *kinds), 3)
        reuse = dice.pick(("revoke", "rewritten", "own"))
        case = VolumeCase(2 + number % 2, dice.pick((8, 9)), (), trees, ("edits", reuse, *more))
        yield f"several_{number}", case
    late = tuple(name for name in own if name != "orphan")
    trees = tuple(name for name in own if name == "orphan")
    for revision in (2, 3):
        journal = ("edits", "escape", "ring", "wrap", "own", "rewritten", *kinds, "torn_data")
        yield (
            f"everything_{revision}",
            VolumeCase(
                revision, 9, (*trees, "latin", "links"), late, journal, superblocks="generation"
            ),
        )


def near_misses(form: VolumeFormat) -> dict[str, str]:
    """Return readers with one fault each."""
    has = form.features
    made = {}
    pairs = {
        "extent_unwritten": {"extents", "unwritten"},
        "duplicate_other": {"duplicate"},
        "cancel_keeps_revokes": {"cancel"},
        "checkpoint_exclusive": {"checkpoint"},
        "super_root_only": {"super"},
        "orphan_entry_shown": {"orphan"},
    }
    for name in FAULTS:
        if pairs.get(name, set()) <= has:
            try:
                made[name] = reader(form, name)
            except ValueError:
                continue
    turned = {
        "sums_of_the_other_form": replace(form, sum_of_plain=not form.sum_of_plain),
        "other_first_sequence": replace(form, first_sequence=1 - form.first_sequence),
        "other_inode_base": replace(form, inode_base=1 - form.inode_base),
        "other_head": replace(form, head_absolute=not form.head_absolute),
    }
    if "packed" in has:
        turned["other_runs"] = replace(form, run_bias=1 - form.run_bias)
    if "tail" in has:
        turned["other_unit"] = replace(form, tail_unit=4 if form.tail_unit == 1 else 1)
    return made | {name: reader(other) for name, other in turned.items()}


@template("long_volume", ("hard",))
def long_volume(draft: TerminalDraft) -> None:
    """Read the volumes of a lost driver as it would have mounted them."""
    dice = draft.dice
    form = drawn_format(dice, draft.split)
    people = [name.capitalize() for name in draft.cast.names("person", 5)]
    for path, text in volume_documents(form, dice, people).items():
        draft.file(path, text)
    for name, case in _SAMPLES.items():
        image, manifest = volume_image(form, case, dice)
        draft.file(f"samples/{name}.img", image)
        draft.file(f"samples/{name}.manifest", manifest)
    draft.turns = 45
    draft.say(
        "samples/ holds volumes of our data loggers, and for each the manifest that the vendor's "
        "driver gave for it after mounting. The vendor is gone, and the driver with it; "
        "what is left "
        f"of its papers is here. Write /app/{_PROGRAM}: `python3 {_PROGRAM} IMAGE` has to "
        "print, for any volume of revision 2 or 3 that a logger may have left behind, the very "
        "manifest that the driver would have given. It may use Python's standard library alone and "
        f"leaves the image as it is. You have {draft.turns} actions."
    )
    for name, case in volume_cases(form, dice):
        image, manifest = volume_image(form, case, dice)
        packed = base64.b64encode(zlib.compress(image, 6)).decode()
        unpack = (
            "python3 -c \"import base64, zlib; open('/tmp/held.img', 'wb').write(zlib.decompress("
            "base64.b64decode(open('held.b64').read())))\"; rm held.b64"
        )
        code = 3 if case.superblocks == "none" else 0
        run = f"python3 {_PROGRAM} /tmp/held.img"
        draft.probe(name, run, setup=unpack, files={"held.b64": packed}, text=manifest, exit=code)
    draft.part(_PROGRAM, put(_PROGRAM, reader(form)))
    draft.alternative("backwards", put(_PROGRAM, reader(form, other=True)))
    misses = near_misses(form)
    for name in sorted(dice.some(sorted(misses), _PLAYED)):
        draft.mutant(name, put(_PROGRAM, misses[name]))
