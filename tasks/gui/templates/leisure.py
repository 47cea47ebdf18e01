"""Photos, files, music and podcasts together with messages, notes, mail and maps."""

from hexathlon.tasks.gui.operations.finding import read, read_tab, read_thread
from hexathlon.tasks.gui.operations.media import (
    add_playlist,
    caption_photo,
    clear_queue,
    enqueue,
    like_photo,
    move_file,
    move_photo,
    rename_file,
    star_file,
    trash_file,
    trash_photo,
)
from hexathlon.tasks.gui.operations.operation import PhoneOperation
from hexathlon.tasks.gui.operations.planning import add_event, add_task
from hexathlon.tasks.gui.operations.writing import (
    add_note,
    put_note_away,
    reply_to,
    send_message,
)
from hexathlon.tasks.gui.templates.draft import GuiDraft, GuiTemplate
from hexathlon.tasks.gui.templates.errand import Errand, errand
from hexathlon.tasks.gui.world.phone.core import PhoneRow

__all__ = ["TEMPLATES"]


@errand("leisure_songs_recommended", "medium", apps="messages music")
def songs_recommended(e: Errand) -> GuiDraft:
    """Make a playlist of the songs that a message recommends, in another order."""
    songs = e.rows("music.songs")
    playing = e.rows("music.player")[0]["song"]
    titles = [row["title"] for row in songs]
    alone = [row for row in songs if row["id"] != playing and titles.count(row["title"]) == 1]
    one, two, three, near = e.choose(alone, 4)
    thread = e.thread()
    names = [row["title"] for row in (one, two, three)]
    e.tell(thread, e.say(f'You have to hear "{names[0]}", "{names[1]}" and "{names[2]}"!',
                         f"你一定要听“{names[0]}”“{names[1]}”和“{names[2]}”！"))  # fmt: skip
    e.tell(thread, e.say(f'No, leave "{names[1]}" out. And the last one first.',
                         f"“{names[1]}”就算了。最后那首放在最前面。"))  # fmt: skip
    name = e.say(f"From {thread['name'].split()[0]} {e.number(2, 60)}",
                 f"{thread['name']}推荐{e.number(2, 60)}")  # fmt: skip
    return e.task(
        (f'Make the playlist "{name}" of the songs that {thread["name"]} recommends to me, as the '
         "messages say.",
         f"请按信息里说的，把{thread['name']}推荐的歌做成歌单“{name}”。"),
        read_thread(thread["name"]), add_playlist(name, [three, one]),
        wrong={"all_three": [add_playlist(name, [three, one, two])],
               "order": [add_playlist(name, [one, three])],
               "near": [add_playlist(name, [three, near])]},
        turns=60,
    )  # fmt: skip


@errand("leisure_episode_for_ride", "medium", apps="podcasts calendar")
def episode_for_ride(e: Errand) -> GuiDraft:
    """Queue the longest unplayed episode of a show that fits between two times."""
    queued = {row["episode"] for row in e.rows("podcasts.queue")}
    shows = [row for row in e.rows("podcasts.shows") if row["subscribed"]]
    show = e.choose(shows, 1)[0]
    rows = [row for row in e.rows("podcasts.episodes") if row["show"] == show["id"]]
    e.need(len({row["title"] for row in rows}) == len(rows))
    fresh = sorted((row for row in rows if not row["played"] and row["id"] not in queued),
                   key=lambda row: row["minutes"])  # fmt: skip
    e.need(len(fresh) >= 3 and len({row["minutes"] for row in fresh}) == len(fresh))
    best, longer, shorter = fresh[-2], fresh[-1], fresh[-3]
    event = e.events(1)[0]
    limit = e.number(best["minutes"], longer["minutes"] - 1)
    start = 9 * 60 + 5 * e.number(0, 40)
    e.put("calendar.events", event, start=f"{start // 60:02d}:{start % 60:02d}",
          end=f"{(start + limit) // 60:02d}:{(start + limit) % 60:02d}")  # fmt: skip
    return e.task(
        (f'I want to hear one episode of "{show["title"]}" during "{event["title"]}": put the '
         "longest one that I have not played, that is not queued and that fits into it, at the end "
         "of the queue.",
         f"我想在“{event['title']}”期间听一集“{show['title']}”：请把我没听过、不在队列里、时长放得下的"
         "最长的一集加到队列末尾。"),
        read("calendar", event["title"]), read_tab("podcasts", "shows"), enqueue(show, best),
        wrong={"too_long": [enqueue(show, longer)], "shorter": [enqueue(show, shorter)],
               "both": [enqueue(show, best), enqueue(show, shorter)]},
        turns=60,
    )  # fmt: skip


@errand("leisure_queue_tidied", "medium", apps="podcasts notes")
def queue_tidied(e: Errand) -> GuiDraft:
    """Take the episodes off the queue that a note lists as heard, and archive the note."""
    queue = sorted(e.rows("podcasts.queue"), key=lambda row: row["place"])
    episodes = e.plan.table("podcasts.episodes")
    titles = [row["title"] for row in episodes.values()]
    rows = [episodes[entry["episode"]] for entry in queue]
    if len(rows) < 3 or any(titles.count(row["title"]) > 1 for row in rows):
        e.drop("podcasts.queue", *queue)
        rows = e.choose([row for row in episodes.values() if titles.count(row["title"]) == 1], 4)
        for place, row in enumerate(rows, 1):
            e.put("podcasts.queue", episode=row["id"], place=place)
    heard = e.sample(rows, 2)
    other = next(row for row in rows if row not in heard)
    note = e.notes(1)[0]
    e.put("notes.notes", note, text="\n".join(row["title"] for row in heard))
    away = put_note_away(note["title"])
    return e.task(
        (f'My note "{note["title"]}" lists episodes that I have heard elsewhere. Take them off the '
         "podcast queue, then archive the note.",
         f"笔记“{note['title']}”列着我在别处听过的单集。请把它们移出播客队列，然后归档这条笔记。"),
        read("notes", note["title"]), *(clear_queue(row) for row in heard), away,
        wrong={"other": [clear_queue(heard[0]), clear_queue(other), away],
               "all": [*(clear_queue(row) for row in rows), away]},
        turns=80,
    )  # fmt: skip


@errand("leisure_photos_of_trip", "medium", apps="gallery calendar")
def photos_of_trip(e: Errand) -> GuiDraft:
    """Put the photos taken on the day of an event into an album."""
    photos = e.photos(4)
    event = e.events(1)[0]
    albums = e.rows("gallery.albums")
    album, other = e.choose(albums, 2)
    day, before = e.day(-e.number(3, 20)), e.day(-e.number(21, 30))
    e.need(not any(row["taken"][:10] == day and not row["trashed"]
                   for row in e.rows("gallery.photos")))  # fmt: skip
    for place, row in enumerate(photos):
        when = day if place < 2 else before
        e.put("gallery.photos", row, taken=f"{when} {10 + 2 * place}:{e.number(10, 59)}", album=0)
    e.put("calendar.events", event, day=day, repeat="")
    works = [move_photo(row, album) for row in photos[:2]]
    return e.task(
        (f'Put the photos that I took on the day of "{event["title"]}" into the album '
         f"{album['name']}.",
         f"把“{event['title']}”那天拍的照片放进相册“{album['name']}”。"),
        read("calendar", event["title"]), *works,
        wrong={"one_more": [*works, move_photo(photos[2], album)],
               "other_album": [move_photo(row, other) for row in photos[:2]]},
        turns=80,
    )  # fmt: skip


@errand("leisure_captions_from_mail", "medium", apps="mail gallery")
def captions_from_mail(e: Errand) -> GuiDraft:
    """Give two photos the captions that an email assigns to them."""
    one, two, near = e.photos(3)
    mail = e.mails(1)[0]
    texts = e.sample((e.say("The old mill", "老磨坊"), e.say("Our first tent", "我们的第一顶帐篷"),
                      e.say("Before the rain", "下雨之前")), 2)  # fmt: skip
    e.put(
        "mail.mails",
        mail,
        body=e.say(
            f'{one["name"]}: "{texts[0]}"\n{two["name"]}: "{texts[1]}"\nIn the second one, write '
            f'"{texts[1]}!" with an exclamation mark.',
            f"{one['name']}：“{texts[0]}”\n{two['name']}：“{texts[1]}”\n第二张请加感叹号，写“{texts[1]}!”",
        ),
    )
    final = [texts[0], f"{texts[1]}!"]

    def works(first: PhoneRow, second: PhoneRow, captions: list[str]) -> list[PhoneOperation]:
        return [caption_photo(first, captions[0]), caption_photo(second, captions[1])]

    return e.task(
        (f'The mail "{mail["subject"]}" has captions for two of my photos. Enter them.',
         f"邮件“{mail['subject']}”里有我两张照片的说明文字，请填上。"),
        read("mail", mail["subject"], mail["name"]), *works(one, two, final),
        wrong={"swapped": works(two, one, final), "no_mark": works(one, two, texts),
               "near": works(one, near, final)},
        turns=70,
    )  # fmt: skip


@errand("leisure_blurred_twice", "easy", apps="gallery messages")
def blurred_twice(e: Errand) -> GuiDraft:
    """Delete one of two photos and mark the other, as a message says."""
    keep, drop = e.photos(2)
    thread = e.thread()
    e.put("gallery.photos", keep, liked=False)
    e.tell(thread, e.say(f"{drop['name']} is blurred, {keep['name']} is lovely.",
                         f"{drop['name']}拍糊了，{keep['name']}很好看。"))  # fmt: skip
    liked = {**keep, "liked": False}
    return e.task(
        (f"{thread['name']} has judged two of my photos. Delete the bad one and mark the good one "
         "as a favourite.",
         f"{thread['name']}评价了我的两张照片。请删除不好的那张，把好的那张标为喜欢。"),
        read_thread(thread["name"]), trash_photo(drop), like_photo(liked),
        wrong={"swapped": [trash_photo(keep), like_photo(drop)]},
    )  # fmt: skip


@errand("leisure_files_sorted", "medium", apps="files notes")
def files_sorted(e: Errand) -> GuiDraft:
    """Move files into the folders that a note names for their kinds, and star one of them."""
    doc, image, near = (e.files(1, kind)[0] for kind in ("doc", "image", "doc"))
    e.need(doc["id"] != near["id"])
    folders = [row for row in e.rows("files.folders") if row["parent"] == 0]
    one, two = e.choose(folders, 2)
    e.need(doc["folder"] != one["id"] and image["folder"] != two["id"] and not doc["starred"]
           and near["folder"] != one["id"])  # fmt: skip
    note = e.notes(1)[0]
    e.put("notes.notes", note, text=e.say(
        f"Pictures belong into {two['name']}.\nTexts belong into {one['name']}, and get a star.",
        f"图片放进{two['name']}。\n文档放进{one['name']}，并加星标。"))  # fmt: skip
    works = [move_file(doc, [one]), star_file(doc), move_file(image, [two])]
    return e.task(
        (f'Tidy up "{doc["name"]}" and "{image["name"]}" as my note "{note["title"]}" says.',
         f"请按笔记“{note['title']}”整理文件“{doc['name']}”和“{image['name']}”。"),
        read("notes", note["title"]), *works,
        wrong={"swapped": [move_file(doc, [two]), star_file(doc), move_file(image, [one])],
               "near": [move_file(near, [one]), star_file(doc), works[2]]},
        turns=80,
    )  # fmt: skip


@errand("leisure_older_versions", "medium", apps="files mail")
def older_versions(e: Errand) -> GuiDraft:
    """Bin all versions of a document but the one that an email calls valid, and rename that."""
    docs = e.files(3, "doc")
    mail = e.mails(1)[0]
    about = e.say(f"Lease {e.number(2, 60)}", f"租约{e.number(2, 60)}")
    names = [e.say(f"{about} {tail}.pdf", f"{about} {tail}.pdf") for tail in ("a", "b", "c")]
    codes = e.sample(range(100, 999), 3)
    for row, name, code in zip(docs, names, codes, strict=True):
        e.put("files.files", row, name=name, folder=1, text=e.say(
            f"{about}\nVersion {code}", f"{about}\n版本{code}"))  # fmt: skip
    at = e.number(0, 2)
    e.put(
        "mail.mails",
        mail,
        body=e.say(
            f"Of the lease, only version {codes[at]} is valid.", f"租约只有版本{codes[at]}有效。"
        ),
    )
    rows = [{**row, "name": name} for row, name in zip(docs, names, strict=True)]
    final = f"{about}.pdf"

    def works(kept: int) -> list[PhoneOperation]:
        others = [trash_file(row) for place, row in enumerate(rows) if place != kept]
        return [*others, rename_file(rows[kept], final)]

    return e.task(
        (f'Three files begin with "{about}"; {mail["name"]} mailed me which version is valid. Put '
         f'the other two into the bin, and rename the valid one to "{final}".',
         f"有三个文件以“{about}”开头；{mail['name']}来信说明了哪个版本有效。请把另外两个移到回收站，"
         f"把有效的改名为“{final}”。"),
        read("mail", str(codes[at]), mail["name"]), read("files", str(codes[at]), names[at]),
        *works(at),
        wrong={"other_version": works(at - 1), "one_kept": works(at)[1:]},
        turns=80,
    )  # fmt: skip


@errand("leisure_document_reply", "medium", apps="mail files")
def document_reply(e: Errand) -> GuiDraft:
    """Answer a question in an email from a document."""
    mail = e.mails(1)[0]
    doc, near = e.files(2, "doc")
    e.need(not mail["subject"].startswith("Re: "))
    code, other = e.sample(range(1000, 9999), 2)
    label = e.say("Meter reading", "表底数")
    e.put("files.files", doc, text=f"{label} {code}\n" + e.say("Read by the tenant", "由租户抄表"))
    e.put("files.files", near, text=f"{label} {other}\n" + e.say("Estimated", "估算"))
    e.put("mail.mails", mail, body=e.say(
        f"What does the document {doc['name']} give as the meter reading?",
        f"文件{doc['name']}里的表底数是多少？"))  # fmt: skip
    text, wrong = (f"{label} {number}" for number in (code, other))
    return e.task(
        (f'Reply to the question in the mail "{mail["subject"]}", with the line of the document.',
         f"请回复邮件“{mail['subject']}”里的问题，写文件中的那一行。"),
        read("mail", mail["subject"], mail["name"]), read("files", doc["name"]),
        reply_to(mail, text),
        wrong={"near": [reply_to(mail, wrong)], "number_only": [reply_to(mail, str(code))],
               "whole": [reply_to(mail, f"{text} {doc['name']}")]},
    )  # fmt: skip


@errand("leisure_party_songs", "medium", apps="messages music notes")
def party_songs(e: Errand) -> GuiDraft:
    """Combine the wishes of two contacts into a playlist and note who wished for what."""
    songs = e.rows("music.songs")
    playing = e.rows("music.player")[0]["song"]
    titles = [row["title"] for row in songs]
    alone = [row for row in songs if row["id"] != playing and titles.count(row["title"]) == 1]
    one, two, three, four = e.choose(alone, 4)
    known = {row["phone"] for row in e.unique("contacts.contacts", "name")}
    threads = e.choose([row for row in e.rows("messages.threads") if row["number"] in known], 2)
    e.tell(threads[0], e.say(f'Please play "{one["title"]}" and "{two["title"]}".',
                             f"请放“{one['title']}”和“{two['title']}”。"))  # fmt: skip
    e.tell(threads[1], e.say(f'Not "{two["title"]}", please! I would love "{three["title"]}".',
                             f"千万别放“{two['title']}”！我想听“{three['title']}”。"))  # fmt: skip
    name = e.say(f"Party {e.number(2, 60)}", f"派对{e.number(2, 60)}")
    order = sorted((one, three), key=lambda row: str(row["title"]))
    text = ", ".join(row["title"] for row in order)
    first, second = (row["name"] for row in threads)
    return e.task(
        (f"{first} and {second} have written which songs they wish for at the party; what one of "
         f'them does not want is left out. Make the playlist "{name}" of the rest, by title from A '
         'to Z, and a note with the same title that lists them, in the form "Song A, Song B".',
         f"{first}和{second}来信说了派对上想听的歌；有人不想听的就不放。请把其余的按标题排序做成歌单"
         f"“{name}”，再写一条同名笔记列出它们，格式为“歌曲甲, 歌曲乙”。"),
        *(read_thread(row["name"]) for row in threads), add_playlist(name, order),
        add_note(name, text),
        wrong={"unwanted": [add_playlist(name, [*order, two]), add_note(name, text)],
               "near": [add_playlist(name, [order[0], four]), add_note(name, text)]},
        turns=90,
    )  # fmt: skip


@errand("leisure_listening_plan", "medium", apps="podcasts tasks")
def listening_plan(e: Errand) -> GuiDraft:
    """Queue the oldest unplayed episode of a show, and make a task of hearing it."""
    queued = {row["episode"] for row in e.rows("podcasts.queue")}
    show = e.choose([row for row in e.rows("podcasts.shows") if row["subscribed"]], 1)[0]
    rows = sorted((row for row in e.rows("podcasts.episodes") if row["show"] == show["id"]),
                  key=lambda row: row["number"])  # fmt: skip
    fresh = [row for row in rows if not row["played"] and row["id"] not in queued]
    e.need(len(fresh) >= 2 and len({row["title"] for row in rows}) == len(rows)
           and rows[0] not in fresh)  # fmt: skip
    best, near = fresh[0], fresh[-1]
    due = e.day(e.number(2, 14))
    title, other = (e.say(f"Hear no. {row['number']}", f"听第{row['number']}期")
                    for row in (best, near))  # fmt: skip
    return e.task(
        (f'Of "{show["title"]}", queue the oldest episode that I have neither played nor queued, '
         f'and add a task to hear it, due on {e.day_words(due)}, in the form "Hear no. 12".',
         f"请把“{show['title']}”里我没听过也不在队列中的最早一集加入队列，并新建任务，"
         f"{e.day_words(due)}截止，格式为“听第12期”。"),
        read_tab("podcasts", "shows"), enqueue(show, best), add_task(title=title, due=due),
        wrong={"newest": [enqueue(show, near), add_task(title=other, due=due)],
               "other_number": [enqueue(show, best), add_task(title=other, due=due)]},
        turns=70,
    )  # fmt: skip


@errand("leisure_concert_planned", "medium", apps="gallery calendar messages")
def concert_planned(e: Errand) -> GuiDraft:
    """Read the time on the photo of a poster and plan the evening."""
    photo, near = e.photos(2)
    person = e.people(1)[0]
    day = e.day(e.number(4, 30))
    hall = e.say(f"Hall {e.number(2, 40)}", f"{e.number(2, 40)}号厅")
    start = f"{e.number(18, 20)}:30"
    e.need(not [row for row in e.rows("calendar.events")
                if row["day"] == day and row["end"] > "17:00"])  # fmt: skip
    title = e.say(f"Concert {e.number(2, 60)}", f"音乐会{e.number(2, 60)}")
    e.put("gallery.photos", photo, kind="sign", lines=[title, day, f"{start}, {hall}"])
    e.put("gallery.photos", near, kind="sign", lines=[f"{title} II", day, f"17:00, {hall}"])
    facts = {"title": title, "day": day, "start": start, "end": f"{int(start[:2]) + 2}:30",
             "place": hall}  # fmt: skip
    text = e.say(f"It begins at {start}", f"{start}开始")
    note = send_message(person, text)
    return e.task(
        (f'I photographed the poster of "{title}"; it lasts two hours. Put it into the calendar '
         f'with the hall as the place, and message {person["name"]}, in the form '
         '"It begins at 17:15".',
         f"我拍下了“{title}”的海报，演出两小时。请加入日历，地点填厅名，并发信息告诉{person['name']}，"
         "格式为“17:15开始”。"),
        read("gallery", title, photo["name"]), add_event(**facts), note,
        wrong={"one_hour": [add_event(**facts | {"end": f"{int(start[:2]) + 1}:30"}), note],
               "other_poster": [add_event(**facts | {"start": "17:00", "end": "19:00"}), note]},
        turns=80,
    )  # fmt: skip


TEMPLATES: tuple[GuiTemplate, ...] = (
    songs_recommended, episode_for_ride, queue_tidied, photos_of_trip, captions_from_mail,
    blurred_twice, files_sorted, older_versions, document_reply, party_songs, listening_plan,
    concert_planned,
)  # fmt: skip
