"""What is left of the vendor's documents: a header, a change log, notes, mails and tickets.

Each rule of the format is stated in one of them; `VolumeFormat.wrong` says where the header errs.
"""

from hexathlon.tasks.terminal.dice import Dice
from hexathlon.tasks.terminal.templates.long.volume.format import VolumeFormat
from hexathlon.tasks.terminal.templates.long.volume.letters import (
    OTHER_TICKETS,
    mails_of,
    tickets_of,
)

__all__ = ["volume_documents"]


def volume_documents(form: VolumeFormat, dice: Dice, people: list[str]) -> dict[str, str]:
    """Return the documents by path."""
    papers = {
        "README.md": _README,
        "docs/manifest.md": _MANIFEST,
        "include/volume.h": _header(form),
        "notes/journal.md": _journal(form),
        "CHANGES": _changes(form),
    }
    for place, text in enumerate(mails_of(form)):
        first, second = dice.some(people, 2)
        papers[f"mail/{2013 + place}-{dice.whole(10, 12)}.txt"] = text.format(first, second)
    ticket = 101
    for text in dice.shuffled(tickets_of(form) + OTHER_TICKETS):
        ticket += dice.whole(1, 40)
        papers[f"tickets/{ticket}.txt"] = f"#{ticket}  opened by {dice.pick(people)}\n\n{text}\n"
    return papers


_README = """# Volumes of the loggers

What is left of the vendor's papers on the file system of the data loggers. The driver and its
sources are gone.

* `include/volume.h`: the header as it was published for revision 2
* `notes/`, `mail/`, `tickets/`: as they were found
* `CHANGES`: the driver's change log. All loggers in the field have the last version, 3.6
* `docs/manifest.md`: the manifest that the driver's tool printed after mounting a volume
* `samples/`: volumes as they were taken from loggers, each with the manifest that the tool printed

A driver mounts volumes of any revision, and a volume keeps the revision that it was made with.
Papers describe all revisions unless they name one. Where two papers differ, the later one is
right; the header and `notes/` are older than anything in the change log after 2.0. The manifests
in `samples/` take precedence over every paper.
"""

_MANIFEST = """# Manifest

The tool mounts a volume as the driver does (recovery included) and prints a line for each path
below the root directory, sorted by the bytes of the path in UTF-8 (before any `%XX`):

    d PATH
    f PATH SIZE DIGEST NAMES TIME
    l PATH DIGEST

* `d` is a directory, `f` a file, `l` a symbolic link. A file with several names has a line for
each.
* PATH begins with `/` and is shown in UTF-8; bytes other than the printable ASCII characters 33 to
  126, and the percent sign itself, are shown as `%XX` with capital digits.
* DIGEST is the first 16 hexadecimal digits of the SHA-256 of the content (of a link: the target).
* NAMES is the number of lines of this manifest that name the file, whatever its inode says.
* TIME is the time of the last modification in UTC, as `2016-02-29T23:05:09Z`.

If no copy of the superblock is valid, the tool prints nothing and ends with the exit status 3.
"""


def _header(form: VolumeFormat) -> str:
    head = form.head_absolute != ("head" in form.wrong)
    base = 1 - form.inode_base if "inode_base" in form.wrong else form.inode_base
    flags = ["#define NODE_INLINE   0x01  /* content is in map[] itself, at most 40 bytes */"]
    more = ""
    if "extents" in form.features:
        order = form.extent_order
        if "extent" in form.wrong:
            order = ("start", "length", "logical")
            if order == form.extent_order:
                order = ("logical", "length", "start")
        flags.append(
            "#define NODE_EXTENTS  0x02  /* map[] is five struct extent; length 0: not used */"
        )
        rows = {"logical": "    u16 logical;    /* place of the first block in the file */\n",
                "length": "    u16 length;     /* number of blocks */\n",
                "start": "    u32 start;      /* first block on the volume, never 0 */\n"}  # fmt: skip
        more += "struct extent {      /* what no extent covers is a hole */\n"
        more += "".join(rows[name] for name in order) + "};\n\n"
    if "tail" in form.features:
        flags.append("#define NODE_TAIL     0x04  /* the last, incomplete block is shared */")
    if "packed" in form.features:
        flags.append("#define NODE_PACKED   0x08  /* each block is packed by itself */")
        bias = 1 - form.run_bias if "run" in form.wrong else form.run_bias
        count = "N + 1 bytes" if bias else "N bytes"
        more += f"""/* A packed block begins with a u16, the length of what follows. In it,
   {form.run_escape:#04x} N C stands for {count} of value C, and any other byte
   for itself. */\n\n"""
    if "tail" in form.features:
        unit = form.tail_unit
        if "tail_unit" in form.wrong:
            unit = 4 if unit == 1 else 1
        text = "bytes" if unit == 1 else f"units of {unit} bytes"
        more += f"/* In a shared block, the part of a file begins at node.tail, in {text}. */\n\n"
    endian = "little" if form.endian == "<" else "big"
    relative = "of the volume" if head else "of the journal, from 0"
    shown = "\n".join(flags)
    return f"""/* volume.h - on-disk structures, revision 2 (published 2013-01)
 *
 * All numbers are {endian}-endian. The structures have no padding.
 * The block size is 1 << shift, with shift from 8 to 10.
 */

#define MAGIC "{form.magic}"

/* In the first block of the volume and once more in its last one. Of two valid copies the one with
   the higher generation counts; if they are equal, the copies are as well. */
struct super {{
    u8  magic[4];
    u16 revision;
    u8  shift;
    u8  flags;          /* 1: was unmounted properly, nothing in the journal counts */
    u32 generation;
    u32 serial;
    u32 blocks;         /* of the whole volume */
    u32 table;          /* first block of the inode table */
    u32 inodes;
    u32 journal;        /* first block of the journal */
    u32 journal_blocks;
    u32 head;           /* where replay begins: a block {relative} */
    u32 sequence;       /* number of the transaction that begins there */
    u32 root;           /* inode of the root directory */
    u32 orphans;        /* first inode of the list of orphans, 0 for none */
    s16 zone;           /* minutes east of UTC */
    u16 unused;
    u8  label[16];
    u32 sum;            /* CRC-32 (as in zlib) of the whole block, with zeros in this field */
}};

struct node {{          /* 64 bytes; inode {base} is the first of the table, 0 is no inode */
    u8  kind;           /* 0 free, 1 file, 2 directory, 3 symbolic link */
    u8  flags;
    u16 links;
    u32 size;
    u32 time;           /* seconds since {form.epoch}-01-01 00:00, local time */
    u16 generation;
    u16 tail;
    u8  map[40];        /* ten u32: 8 blocks, a table of blocks, a table of tables */
    u32 next;           /* in the list of orphans */
    u32 sum;            /* not used */
}};

/* A block number 0 in map[] or in a table is a hole, which reads as zeros. */

{shown}

{more}struct entry {{         /* directories consist of these; none crosses the end of a block */
    u32 inode;          /* 0: removed, its space is skipped */
    u16 length;         /* from this entry to the next one; 0: no entry here, and no more in this block */
    u8  name_length;
    u8  mark;
    u8  name[];         /* ISO 8859-1 */
}};
"""  # fmt: skip


def _journal(form: VolumeFormat) -> str:
    place = "as it is in the journal"
    if form.sum_of_plain:
        place = "as it is in its place on the volume, not as it is in the journal"
    return f"""# The journal (driver 2.0)

The journal is a ring: its first block follows its last one, also within a transaction. Whole
blocks are journalled. Every head block begins with

    u32 magic   {form.journal_magic:#010x}
    u16 kind    1 descriptor, 2 commit
    u16 count
    u32 sequence

A descriptor continues with `count` tags of 8 bytes,

    u32 block   where the data belong
    u16 flags
    u16 check

and is followed by the data blocks, in the order of the tags. A transaction has any number of
descriptors and ends with its commit block; all its head blocks carry its number. The commit block
continues with a u32, the CRC-32 of everything that the transaction wrote to the journal before it,
head and data blocks in the order of the journal.

Mounting replays the journal: from `head` on, transaction `sequence`, then the next number, and so
on. Replay ends where the journal does not continue as it must: another number, not a head block where
one has to be, a commit block whose sum is wrong, or once around the ring. A transaction is replayed
as a whole or not at all, and nothing after one that is not replayed counts, however intact.

A data block that itself begins with the journal's magic would be taken for a head block. Its first
four bytes are zeros in the journal, and flag 1 of its tag says so. Sums are taken over the block
{place}.
"""


def _changes(form: VolumeFormat) -> str:
    has = form.features
    own = (
        "The record also holds for the transaction that contains it"
        if form.revokes_own
        else "Blocks in the transaction that contains the record are not affected"
    )
    rows: list[tuple[str, list[str]]] = [
        ("2.0", ["First public version."]),
        ("2.1", ["Mounting no longer takes minutes on full cards.", "Root may be any inode."]),
        (
            "2.2",
            [
                "Revoke records (kind 3): a head block with `count` block numbers, u32 each, after "
                "the usual 12 bytes. A block that was metadata and has become file data must not "
                "be overwritten by replay: what earlier transactions have for the block is not "
                f"replayed. {own}; later transactions may write the block again, and that counts. "
                "Of course only records in transactions that are replayed count. Revoke blocks are "
                "part of the commit's sum."
            ],
        ),
        (
            "2.3",
            [
                "The sequence number is 32 bits wide and has now wrapped in the field: after "
                f"0xffffffff comes {form.first_sequence}."
            ],
        ),
        ("2.4", ["Faster scan of directories.", "Label may contain blanks."]),
    ]
    if "stale" in has:
        rows.append(
            (
                "2.5",
                [
                    "An inode that was freed and used again could be reached through an old entry. "
                    "The entry's `mark` is the low byte of the inode's generation; if they differ, "
                    "the entry is stale and not shown."
                ],
            )
        )
    if "duplicate" in has:
        which = "first" if form.first_wins else "last"
        rows.append(
            (
                "2.6",
                [
                    "An interrupted rename can leave a name twice in a directory. The "
                    f"{which} of them that is valid is the one that counts."
                ],
            )
        )
    if "zero" in has:
        rows.append(
            (
                "2.7",
                [
                    "Tag flag 2: the block is to be filled with zeros. No data block follows for "
                    "such a tag, and its check is not used."
                ],
            )
        )
    if "super" in has:
        rows.append(
            (
                "2.8",
                [
                    "The first block may be journalled as well. If replay writes it, `root`, "
                    "`orphans` and `zone` are those that it has then, whichever copy was chosen "
                    "before. Nothing else in it matters, and its sum is not filled in until the "
                    "volume is unmounted.",
                ],
            )
        )
    if "masked" in has:
        rows.append(
            (
                "2.9",
                [
                    "Masked files (node flag 0x10). Every byte that is stored for the file is "
                    "combined by exclusive or with the low byte of the sum of the inode's number "
                    "and the block's place in the file, counted from 0. Holes are not stored. What "
                    "is in `map` itself counts as block 0.",
                ],
            )
        )
    if "clone" in has:
        rows.append(
            (
                "2.10",
                [
                    "Clones (node flag 0x40). `tail` is the number of another inode, the original. "
                    "What is a hole in the clone is read from the same place of the original, and "
                    "as zeros past the end of that. The clone has its own size.",
                ],
            )
        )
    three = [
        "Revision 3. Names are UTF-8. Times are seconds since 1970-01-01 00:00 UTC.",
        "Revision 3: every CRC-32 starts from the volume's serial number instead of 0 "
        "(the second argument of zlib's crc32).",
        "Revision 3: the sum of a commit covers the head blocks only (descriptors, revoke "
        "records). The `check` of a tag is the low 16 bits of the CRC-32 of its data block; a "
        "transaction with a data block that fails is treated like one with a wrong sum.",
    ]
    rows.append(("3.0", three))
    if "inode_sum" in has:
        rows.append(
            (
                "3.1",
                [
                    "Revision 3: `sum` of an inode is the CRC-32 of its number (u32) followed by "
                    "its first 60 bytes. An inode with a wrong sum is treated as free. Free inodes "
                    "have no entries: what names one is not shown."
                ],
            )
        )
    if "unwritten" in has:
        rows.append(("3.2", [_unwritten(form)]))
    if "lost" in has:
        rows.append(
            (
                "3.3",
                [
                    "Revision 3: inodes in use with links above 0 that cannot be reached from the "
                    "root appear in the directory /lost+found, which exists in memory only and has "
                    f"no line of its own, under the name `{form.lost_name}` (with the inode's "
                    "number, as in printf). What lies below an unreachable directory stays there."
                ],
            )
        )
    if "cancel" in has:
        rows.append(
            (
                "3.4",
                [
                    "Cancel records (kind 4), laid out and summed like revoke records, with "
                    "sequence numbers in place of block numbers: those transactions are not "
                    "replayed, nor do their revoke records count; replay goes on after them as if "
                    "they had been empty. A cancel record counts once its own transaction is "
                    "complete, even if that transaction is cancelled itself."
                ],
            )
        )
    if "patch" in has:
        rows.append(
            (
                "3.4.1",
                [
                    "Tag flag 4: the data block holds patches in place of the block's new contents. A "
                    "patch is a u16 offset, a u16 length and as many bytes, and the next one "
                    "follows at once; length 0 ends them. They change the block as replay has left "
                    "it so far. Everything else said of data blocks holds.",
                ],
            )
        )
    if "checkpoint" in has:
        rows.append(
            (
                "3.4.2",
                [
                    "Checkpoint records (kind 5), laid out and summed like revoke records, with a "
                    "sequence number. All blocks of that transaction and those before it had reached "
                    "their places when the record was made, and the places may have been written "
                    "directly since: replay writes nothing of them. Such a record counts only if "
                    "its own transaction is complete and not cancelled.",
                ],
            )
        )
    if "masked" in has:
        rows.append(
            (
                "3.4.3",
                [
                    "Masks of revision 3 use the inode's generation where those of revision 2 use "
                    "its number."
                ],
            )
        )
    rows.append(("3.5", ["Times of directories are no longer kept.", "Quieter log."]))
    rows.append(
        (
            "3.6",
            [
                "The superblock's generation wraps as well. A copy is newer if the difference of "
                "the generations, as a signed 32-bit number, is above 0.",
            ],
        )
    )
    return "Change log of the driver\n\n" + "\n".join(
        f"{version}\n" + "".join(f"  * {line}\n" for line in lines) for version, lines in rows
    )


def _unwritten(form: VolumeFormat) -> str:
    text = (
        "Reserved blocks: the highest bit of a block number in `map` or in a table of blocks says "
        "that the block was reserved and has not been written yet. It reads as zeros."
    )
    if "extents" in form.features:
        text += " In an extent, the highest bit of `length` says the same of all its blocks."
    return text
