"""Mails and tickets about the volumes."""

from hexathlon.tasks.terminal.templates.long.volume.format import VolumeFormat

__all__ = ["OTHER_TICKETS", "mails_of", "tickets_of"]


def mails_of(form: VolumeFormat) -> list[str]:
    """Return mails, with places for two names."""
    mails = [
        """From: {0}
To: {1}
Subject: card dead after the storm

First block of the card is all zeros. The mirror in the last block was fine and the logger did not
even notice. Remember that you have to try all three block sizes to find it: nothing else tells you
how large the blocks are. The new cards for the turbines have 1024.
""",
        """From: {0}
To: {1}
Subject: Re: link counts

Do not trust `links` for files with several names. It is written late and after a crash it may
be too low. Nobody has ever read it except to see whether it is 0.
""",
        """From: {0}
To: {1}
Subject: two good superblocks

Both copies were valid and told different stories. One had "unmounted properly", the other one had
work in the journal. It is not the first one that counts, and not the dirty one either: it is the
newer one.
""",
    ]
    if "orphan" in form.features:
        mails.append(
            """From: {0}
To: {1}
Subject: files that were open when deleted

`orphans` in the superblock is the first of a list, linked by `next`; 0 ends it. On mount every
inode of the list with links 0 is freed, and entries that still name it are not shown any more. An
inode of the list with links above 0 was only being shortened and stays as it is.

The exception since 2.8: an orphan with links 0 and node flag 0x20 (the recorder sets it on its
running file) is not thrown away but appears as /lost+found/"""
            + form.lost_name
            + """ with its inode number, as in printf, in every revision. Entries
that name it are not shown.
"""
        )
    return mails


def tickets_of(form: VolumeFormat) -> list[str]:
    """Return tickets about the file system."""
    made = [
        "Power cut while the journal was written. The transaction before last had a bad sum, the\n"
        "last one was perfect. The driver ignored both. Closed: as designed, see the notes.",
        "Files of the size of the whole card, nearly all of it a hole, use the table of tables.\n"
        "A table that is a hole itself is a hole in all its places. Works. Closed.",
    ]
    if "tail" in form.features:
        made.append(
            "Shared blocks: several files keep their ends in the same block. Only the incomplete\n"
            "last block of a file is there, full blocks never are. Documented. Closed."
        )
    if "packed" in form.features:
        made.append(
            "Packed blocks and the escape byte: the packer writes a run for the byte itself, "
            "however\nshort, so nothing is lost. If a block unpacks to less than is needed, the "
            "rest is zeros."
        )
    if "clone" in form.features:
        made.append(
            "A clone whose original was a clone itself. Its holes are looked up in the original, "
            "and the\noriginal's holes in its own original, whether or not these still have a "
            "name. If the original's\ninode is free, the holes are holes. Works. Closed."
        )
    if {"clone", "unwritten"} <= form.features:
        made.append(
            "A clone shows zeros where its original has data. The blocks were reserved in the "
            "clone and\nnever written, so they are no holes. As designed. Closed."
        )
    if {"masked", "packed"} <= form.features:
        made.append(
            "Packed and masked files: packing comes first, the mask is put on what is stored, "
            "including the\nlength in front. Documented. Closed."
        )
    return made


OTHER_TICKETS = [
    "The lid of the turbine model does not close over the longer card. Sent new lids.",
    "Serial console prints the label twice at boot. Cosmetic. Will not fix.",
    "Clock drifts by four seconds a week below -20 C. Crystal replaced in the next batch.",
    "Customer asks for FAT. Explained why not. Closed.",
    "Battery indicator shows 101 percent. Fixed in the display firmware.",
    "Card reader of the service laptop is fine, the cable was broken.",
    "Revision 1 cards: none left in the field since 2012, support was removed with 2.0.",
    "Request for a quota per sensor. Postponed.",
]
