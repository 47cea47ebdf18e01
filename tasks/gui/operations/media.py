"""Operations of files, photos, music and podcasts."""

from collections.abc import Sequence

from hexathlon.tasks.gui.operations.expected import ExpectedPhone
from hexathlon.tasks.gui.operations.finding import found, tab
from hexathlon.tasks.gui.operations.operation import PhoneOperation
from hexathlon.tasks.gui.pilot import PhonePilot
from hexathlon.tasks.gui.world.phone.core import PhoneRow
from hexathlon.tasks.source import Script

__all__ = ["add_playlist", "caption_photo", "clear_queue", "enqueue", "like_photo", "move_file",
           "move_photo", "rename_file", "restore_file", "star_file", "trash_file",
           "trash_photo"]  # fmt: skip


# Files -----------------------------------------------------------------------------------------


def move_file(file: PhoneRow, path: Sequence[PhoneRow]) -> PhoneOperation:
    """Move a file with a unique name into a folder, given with the folders above it."""

    def run(pilot: PhonePilot) -> Script:
        yield from found("files", file["name"])(pilot)
        yield from pilot.press("files", "move")
        for folder in path:
            yield from pilot.tap_entry(folder["name"])
        yield from pilot.tap("button", pilot.words("files", "move_here"))

    return PhoneOperation(
        run, lambda phone: phone.change("files.files", file["id"], folder=path[-1]["id"])
    )


def rename_file(file: PhoneRow, name: str) -> PhoneOperation:
    """Rename a file with a unique name."""

    def run(pilot: PhonePilot) -> Script:
        yield from found("files", file["name"])(pilot)
        yield from pilot.press("files", "rename_file")
        yield from pilot.fill(pilot.words("files", "file_name"), name)
        yield from pilot.press("files", "save")

    return PhoneOperation(run, lambda phone: phone.change("files.files", file["id"], name=name))


def star_file(file: PhoneRow) -> PhoneOperation:
    """Star a file with a unique name."""

    def run(pilot: PhonePilot) -> Script:
        yield from found("files", file["name"])(pilot)
        yield from pilot.press("files", "star")

    return PhoneOperation(run, lambda phone: phone.change("files.files", file["id"], starred=True))


def trash_file(file: PhoneRow) -> PhoneOperation:
    """Put a file with a unique name into the bin."""

    def run(pilot: PhonePilot) -> Script:
        yield from found("files", file["name"])(pilot)
        yield from pilot.press("files", "delete")

    return PhoneOperation(
        run, lambda phone: phone.change("files.files", file["id"], trashed=True), actions=6
    )


def restore_file(file: PhoneRow) -> PhoneOperation:
    """Take a file with a unique name out of the bin."""

    def run(pilot: PhonePilot) -> Script:
        yield from pilot.open("files")
        yield from pilot.press("files", "bin")
        yield from pilot.tap_entry(file["name"])
        yield from pilot.press("files", "restore")

    return PhoneOperation(
        run, lambda phone: phone.change("files.files", file["id"], trashed=False), actions=5
    )


# Photos ----------------------------------------------------------------------------------------


def move_photo(photo: PhoneRow, album: PhoneRow) -> PhoneOperation:
    """Put a photo into an album."""

    def run(pilot: PhonePilot) -> Script:
        yield from found("gallery", photo["name"])(pilot)
        yield from pilot.tap("button", pilot.words("gallery", "move"))
        yield from pilot.tap_entry(album["name"])

    return PhoneOperation(
        run, lambda phone: phone.change("gallery.photos", photo["id"], album=album["id"])
    )


def caption_photo(photo: PhoneRow, caption: str) -> PhoneOperation:
    """Write a photo's caption."""

    def run(pilot: PhonePilot) -> Script:
        yield from found("gallery", photo["name"])(pilot)
        yield from pilot.tap("button", pilot.words("gallery", "details"))
        yield from pilot.fill(pilot.words("gallery", "caption"), caption)
        yield from pilot.tap_entry(pilot.words("gallery", "save"), "button")

    return PhoneOperation(
        run, lambda phone: phone.change("gallery.photos", photo["id"], caption=caption)
    )


def like_photo(photo: PhoneRow) -> PhoneOperation:
    """Mark a photo as a favourite, or unmark it."""

    def run(pilot: PhonePilot) -> Script:
        yield from found("gallery", photo["name"])(pilot)
        yield from pilot.tap(
            "button", pilot.words("gallery", "unlike" if photo["liked"] else "like")
        )

    return PhoneOperation(
        run, lambda phone: phone.change("gallery.photos", photo["id"], liked=not photo["liked"])
    )


def trash_photo(photo: PhoneRow) -> PhoneOperation:
    """Put a photo into the bin."""

    def run(pilot: PhonePilot) -> Script:
        yield from found("gallery", photo["name"])(pilot)
        yield from pilot.press("gallery", "delete")
        if pilot.has("button", pilot.words("gallery", "delete")):
            yield from pilot.tap("button", pilot.words("gallery", "delete"))

    return PhoneOperation(
        run, lambda phone: phone.change("gallery.photos", photo["id"], trashed=True)
    )


# Music and podcasts ----------------------------------------------------------------------------


def add_playlist(name: str, songs: Sequence[PhoneRow]) -> PhoneOperation:
    """Create a playlist of songs with unique titles, in order."""

    def run(pilot: PhonePilot) -> Script:
        yield from tab("music", "playlists")(pilot)
        yield from pilot.create("music", "new_playlist")
        yield from pilot.fill(pilot.words("music", "name"), name)
        yield from pilot.press("music", "save")
        for song in songs:
            yield from pilot.open("music")
            yield from pilot.tap_entry(song["title"])
            yield from pilot.tap_entry(pilot.words("music", "add_to"))
            yield from pilot.tap_entry(name)

    def effect(phone: ExpectedPhone) -> None:
        key = phone.add("music.playlists", name=name)
        for place, song in enumerate(songs, 1):
            phone.add("music.entries", playlist=key, song=song["id"], place=place)

    return PhoneOperation(run, effect)


def enqueue(show: PhoneRow, episode: PhoneRow) -> PhoneOperation:
    """Put an episode of a subscribed show at the end of the queue."""

    def run(pilot: PhonePilot) -> Script:
        yield from tab("podcasts", "shows")(pilot)
        yield from pilot.tap_entry(show["title"], "image")
        yield from pilot.tap_entry(episode["title"])
        yield from pilot.tap_entry(pilot.words("podcasts", "enqueue"), "button")

    def effect(phone: ExpectedPhone) -> None:
        last = max((row["place"] for row in phone.rows("podcasts.queue")), default=0)
        phone.add("podcasts.queue", episode=episode["id"], place=last + 1)

    return PhoneOperation(run, effect, actions=5)


def clear_queue(episode: PhoneRow) -> PhoneOperation:
    """Take an episode out of the queue; later ones move up."""

    def run(pilot: PhonePilot) -> Script:
        yield from tab("podcasts", "queue")(pilot)
        yield from pilot.tap_entry(episode["title"])
        yield from pilot.tap_entry(pilot.words("podcasts", "unqueue"), "button")

    def effect(phone: ExpectedPhone) -> None:
        row = phone.find("podcasts.queue", episode=episode["id"])
        if row is None:
            raise KeyError("the episode is not queued")
        phone.remove("podcasts.queue", row["id"])
        rest = sorted(phone.rows("podcasts.queue"), key=lambda each: (each["place"], each["id"]))
        for place, each in enumerate(rest, 1):
            if each["place"] != place:
                phone.change("podcasts.queue", each["id"], place=place)

    return PhoneOperation(run, effect, actions=4)
