"""Work with files, photos, music and podcasts."""

from typing import Any

from hexathlon.tasks.gui.templates.draft import (
    GuiDraft,
    GuiScene,
    PhoneScript,
    row_added,
    row_changed,
    rows_together,
)
from hexathlon.tasks.gui.templates.scripts import template
from hexathlon.tasks.gui.templates.steps import (
    choosing,
    created,
    filled,
    in_turn,
    opened,
    pressed,
    sought,
    tapped,
    to_entry,
    to_tab,
)

__all__ = ["TEMPLATES"]


@template("files_move", "medium", apps=("files",))
def _move(scene: GuiScene) -> GuiDraft | None:
    """Move a file into a folder."""
    plan = scene.plan()
    folders = {row["id"]: row for row in scene.rows(plan, "files.folders")}
    files = [row for row in scene.rows(plan, "files.files") if not row["trashed"]]
    alone = [row for row in files if sum(row["name"] == each["name"] for each in
             scene.rows(plan, "files.files")) == 1]  # fmt: skip
    tops = [row for row in folders.values() if row["parent"] == 0]
    target, wrong = scene.sample(tops, 2)
    movable = [row for row in alone if row["folder"] not in (target["id"], wrong["id"])]
    if len(movable) < 2:
        return None
    row, near = scene.sample(movable, 2)

    def solver(name: str, to: str, *, put: bool = True) -> PhoneScript:
        return in_turn(sought("files", name, name), pressed("files", "move"), to_entry(to),
                       tapped("files", "move_here") if put else None)  # fmt: skip

    def by_hand(pilot: Any) -> Any:
        path: list[str] = []
        at = folders[row["folder"]]
        while True:
            path.insert(0, at["name"])
            if not at["parent"]:
                break
            at = folders[at["parent"]]
        steps = [to_entry(name) for name in (*path, row["name"])]
        yield from in_turn(
            opened("files"),
            *steps,
            pressed("files", "move"),
            to_entry(target["name"]),
            tapped("files", "move_here"),
        )(pilot)

    return GuiDraft(
        plan,
        scene.say(f'Move the file "{row["name"]}" into the folder {target["name"]}.',
                  f"把文件“{row['name']}”移到“{target['name']}”文件夹。"),
        solver(row["name"], target["name"]),
        changes=row_changed("files.files", row["id"], folder=target["id"]),
        alternatives={"by_hand": by_hand},
        mutants={"other_file": solver(near["name"], target["name"]),
                 "other_folder": solver(row["name"], wrong["name"]),
                 "not_put": solver(row["name"], target["name"], put=False)},
        turns=40,
    )  # fmt: skip


@template("files_rename", "easy", apps=("files",))
def _rename(scene: GuiScene) -> GuiDraft | None:
    """Rename a file and star it."""
    plan = scene.plan()
    rows = scene.rows(plan, "files.files")
    alone = [row for row in rows if not row["trashed"] and not row["starred"]
             and sum(row["name"] == each["name"] for each in rows) == 1]  # fmt: skip
    if len(alone) < 2:
        return None
    row, near = scene.sample(alone, 2)
    ending = row["name"].rpartition(".")[2]
    name = scene.say(f"Signed {scene.number(11, 99)}.{ending}",
                     f"已签字{scene.number(11, 99)}.{ending}")  # fmt: skip

    def solver(old: str, new: str, *, star: bool = True) -> PhoneScript:
        return in_turn(
            sought("files", old, old), pressed("files", "rename_file"),
            filled("files", "file_name", new), pressed("files", "save"),
            pressed("files", "star") if star else None)  # fmt: skip

    star_first = in_turn(sought("files", row["name"], row["name"]), pressed("files", "star"),
                         pressed("files", "rename_file"), filled("files", "file_name", name),
                         pressed("files", "save"))  # fmt: skip
    return GuiDraft(
        plan,
        scene.say(f'Rename the file "{row["name"]}" to "{name}" and star it.',
                  f"把文件“{row['name']}”重命名为“{name}”，并加上星标。"),
        solver(row["name"], name),
        changes=row_changed("files.files", row["id"], name=name, starred=True),
        alternatives={"star_first": star_first},
        mutants={"other_file": solver(near["name"], name), "no_star": solver(row["name"], name,
                                                                             star=False),
                 "other_name": solver(row["name"], f"1{name}")},
    )  # fmt: skip


@template("gallery_edit", "medium", apps=("gallery",))
def _edit(scene: GuiScene) -> GuiDraft | None:
    """Keep an edited copy of a photo."""
    plan = scene.plan()
    rows = [row for row in scene.rows(plan, "gallery.photos")
            if not row["trashed"] and row["kind"] != "receipt"]  # fmt: skip
    row, near = scene.sample(rows, 2)
    crop, other = scene.sample(("1:1", "4:3", "3:4", "16:9"), 2)
    name = f"{row['name'].removesuffix('.jpg')}_1.jpg"

    def solver(of: str, shape: str, key: str = "save_copy", *, grey: bool = True) -> PhoneScript:
        return in_turn(
            sought("gallery", of, of),
            pressed("gallery", "edit_photo"),
            choosing("gallery", "crop", shape, named=True),
            tapped("gallery", "grey", "switch") if grey else None,
            pressed("gallery", key),
        )

    grey_first = in_turn(
        sought("gallery", row["name"], row["name"]), pressed("gallery", "edit_photo"),
        tapped("gallery", "grey", "switch"), choosing("gallery", "crop", crop, named=True),
        pressed("gallery", "save_copy"))  # fmt: skip
    columns = {key: value for key, value in row.items() if key != "id"}
    return GuiDraft(
        plan,
        scene.say(f"Make a black and white copy of the photo {row['name']}, cropped to {crop}. The "
                  "original stays as it is.",
                  f"给照片{row['name']}另存一份黑白副本，裁剪为{crop}。原图保持不变。"),
        solver(row["name"], crop),
        changes=row_added("gallery.photos", {**columns, "name": name,
                                             "edits": [["crop", crop], ["grey", True]]}),
        alternatives={"grey_first": grey_first},
        mutants={"other_photo": solver(near["name"], crop),
                 "other_shape": solver(row["name"], other),
                 "original": solver(row["name"], crop, "save"),
                 "colours": solver(row["name"], crop, grey=False)},
        turns=40,
    )  # fmt: skip


@template("music_playlist", "medium", apps=("music",))
def _playlist(scene: GuiScene) -> GuiDraft | None:
    """Create a playlist with two songs, one of which has a live version or a namesake."""
    plan = scene.plan()
    songs = scene.rows(plan, "music.songs")
    now = scene.rows(plan, "music.player")[0]["song"]
    alone = [row for row in songs if row["id"] != now
             and sum(row["title"] == each["title"] for each in songs) == 1]  # fmt: skip
    if len(alone) < 4:
        return None
    one, two, near = scene.sample(alone, 3)
    name = scene.say(f"Walk {scene.number(11, 99)}", f"散步{scene.number(11, 99)}")

    def adding(title: str) -> PhoneScript:
        return in_turn(opened("music"), to_entry(title), tapped("music", "add_to", "item"),
                       to_entry(name), end=False)  # fmt: skip

    def named(*titles: str) -> PhoneScript:
        return in_turn(opened("music"), to_tab("music", "playlists"),
                       created("music", "new_playlist"), filled("music", "name", name),
                       pressed("music", "save"), *(adding(title) for title in titles))  # fmt: skip

    def moved(pilot: Any) -> Any:
        yield from named(one["title"])(pilot)

    new = {"row": {"name": name}}
    swapped = in_turn(_without_report(named(two["title"], one["title"])),
                      opened("music"), to_tab("music", "playlists"), to_entry(name),
                      to_entry(one["title"]), tapped("music", "earlier", "item"))  # fmt: skip
    return GuiDraft(
        plan,
        scene.say(f'Create the playlist "{name}" with "{one["title"]}" by {one["artist"]} first '
                  f'and "{two["title"]}" by {two["artist"]} second.',
                  f"新建歌单“{name}”，第一首是{one['artist']}的“{one['title']}”，"
                  f"第二首是{two['artist']}的“{two['title']}”。"),
        named(one["title"], two["title"]),
        changes=rows_together(
            row_added("music.playlists", {"name": name}),
            row_added("music.entries", {"playlist": new, "song": one["id"], "place": 1},
                      {"playlist": new, "song": two["id"], "place": 2})),
        alternatives={"swapped": swapped},
        mutants={"one_song": moved, "other_order": named(two["title"], one["title"]),
                 "other_song": named(one["title"], near["title"])},
        turns=50,
    )  # fmt: skip


def _without_report(script: PhoneScript) -> PhoneScript:
    """Return a script without its final report."""

    def solve(pilot: Any) -> Any:
        steps = script(pilot)
        try:
            action = next(steps)
            while '"name": "status"' not in action:
                action = steps.send((yield action))
        except StopIteration:
            return

    return solve


@template("podcasts_queue", "medium", apps=("podcasts",))
def _queue(scene: GuiScene) -> GuiDraft | None:
    """Queue the latest unplayed episode of a show."""
    plan = scene.plan()
    queue = scene.rows(plan, "podcasts.queue")
    queued = {row["episode"] for row in queue}
    show = scene.pick([row for row in scene.rows(plan, "podcasts.shows") if row["subscribed"]])
    rows = [row for row in scene.rows(plan, "podcasts.episodes") if row["show"] == show["id"]]
    rows.sort(key=lambda row: -int(row["number"]))
    fresh = [row for row in rows if not row["played"] and row["id"] not in queued]
    unplayed = [row for row in rows if not row["played"]]
    if len(fresh) < 2 or unplayed[0] != fresh[0] or not rows[0]["played"]:
        return None
    row, near, newest = fresh[0], fresh[1], rows[0]
    titles = {each["title"] for each in rows}
    if len(titles) < len(rows):
        return None

    def solver(title: str, *, load: bool = True, way: str = "shows") -> PhoneScript:
        found = in_turn(opened("podcasts"), to_tab("podcasts", "shows"),
                        to_entry(show["title"], "image"), to_entry(title), end=False)  # fmt: skip
        if way == "search":
            found = sought("podcasts", title, title)
        return in_turn(found, tapped("podcasts", "enqueue"),
                       tapped("podcasts", "downloaded", "switch") if load else None)  # fmt: skip

    place = max((each["place"] for each in queue), default=0) + 1
    if row["downloaded"]:
        return None
    return GuiDraft(
        plan,
        scene.say(f'Put the newest episode of "{show["title"]}" that I have not played at the end '
                  "of the queue, and download it.",
                  f"把“{show['title']}”里我还没听过的最新一集加到队列末尾，并下载。"),
        solver(row["title"]),
        changes=rows_together(
            row_added("podcasts.queue", {"episode": row["id"], "place": place}),
            row_changed("podcasts.episodes", row["id"], downloaded=True)),
        alternatives={"by_shows": in_turn(opened("podcasts"), solver(row["title"]), end=False)},
        mutants={"older": solver(near["title"]), "newest": solver(newest["title"]),
                 "not_loaded": solver(row["title"], load=False)},
        turns=40,
    )  # fmt: skip


TEMPLATES = (_move, _rename, _edit, _playlist, _queue)
