"""Songs and playlists of a new phone."""

from hexathlon.tasks.gui.world.phone.app import ContentDraws

__all__ = ["seed_music"]

_ARTISTS = (
    "The Paper Lanterns|纸灯笼乐队", "Paper Lantern Choir|纸灯笼合唱团", "Nora Vale|诺拉·维尔",
    "Nora Vance|诺拉·万斯", "Copper Hills|铜山", "Copper Mill|铜磨坊", "Blue Harbour|蓝港",
    "Blue Heron|蓝鹭", "Iris & Oak|鸢尾与橡树", "Iron Oak|铁橡树", "Slow Ferry|慢渡轮",
    "Snow Ferry|雪渡轮", "Marcel Dune|马塞尔·杜恩", "Marcel Dunn|马塞尔·邓恩",
    "Velvet Static|丝绒杂音", "Velvet Station|丝绒车站", "June Arcade|六月拱廊",
    "July Arcade|七月拱廊", "Tall Grass|高草", "Tall Glass|高杯", "North Window|北窗",
    "Night Window|夜窗", "Sable Coast|黑貂海岸", "Silver Coast|银色海岸",
)  # fmt: skip
_FIRST = ("Long|漫长的", "Quiet|安静的", "Golden|金色的", "Last|最后的", "Little|小小的",
          "Empty|空荡的",
          "Open|敞开的", "Northern|北方的", "Broken|破碎的", "Early|清早的", "Second|第二次",
          "Distant|遥远的")  # fmt: skip
_SECOND = ("River|河流", "Street|街道", "Summer|夏天", "Letter|信", "Window|窗户", "Train|列车",
           "Garden|花园", "Winter|冬天", "Signal|信号", "Harbour|港湾", "Mirror|镜子",
           "Morning|清晨")  # fmt: skip
_LISTS = ("Morning run|晨跑", "Evening run|夜跑", "Focus|专注", "Kitchen|厨房",
          "Road trip|公路旅行",
          "Rainy day|雨天", "Party|派对", "Party, late|派对后半场", "Sleep|睡眠",
          "Train ride|火车上",
          "Gym|健身", "Old favourites|老歌")  # fmt: skip


def seed_music(draws: ContentDraws) -> None:
    """Draw songs with live and remixed versions, playlists and the player."""
    side = 1 if draws.language == "zh" else 0
    gap = draws.say(" ", "")
    for artist in draws.sample(draws.own(_ARTISTS), 3 + draws.scale // 2):
        name = artist.split("|")[side]
        for _ in range(1 + draws.scale // 2):
            album = (draws.pick(_FIRST).split("|")[side] + gap
                     + draws.pick(_SECOND).split("|")[side])  # fmt: skip
            year = draws.between(1988, 2025)
            art = draws.between(1, 9999)
            titles = {draws.pick(_FIRST).split("|")[side] + gap + draws.pick(_SECOND).split("|")[
                side] for _ in range(draws.between(4, 7))}  # fmt: skip
            for title in sorted(titles):
                versions = ["", draws.say(" (live)", "（现场版）")] if draws.chance(0.2) else [""]
                for version in versions:
                    draws.add("songs", title=title + version, artist=name, album=album, year=year,
                              seconds=draws.between(128, 342), liked=draws.chance(0.14),
                              offline=draws.chance(0.4), art=art)  # fmt: skip
    songs = draws.rows("songs")
    for name in draws.sample(draws.own(_LISTS), min(3, 1 + draws.scale)):
        key = draws.add("playlists", name=name.split("|")[side])
        for place, song in enumerate(draws.sample(songs, draws.between(4, 9))):
            draws.add("entries", playlist=key, song=song["id"], place=place + 1)
    draws.add("player", id="now", song=draws.pick(songs)["id"], playing=False, shuffle=False,
              repeat="off", sleep=0)  # fmt: skip
    for name, value in (("crossfade", 0), ("wifi_only", True), ("loudness", True)):
        draws.add("prefs", id=name, value=value)
