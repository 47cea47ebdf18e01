"""Short conversations, each about one topic."""

from collections.abc import Iterator, Sequence

from hexathlon.tasks.gui.world.phone.app import ContentDraws

__all__ = ["draw_lines"]

_OPENINGS = (
    "Are you coming on Thursday?|周四你来吗？",
    "Did the parcel arrive?|包裹到了吗？",
    "Shall I bring the projector?|我把投影仪带来好吗？",
    "The plumber comes at {h}.|水管工{h}点来。",
    "Can you water the plants this week?|这周能帮忙浇花吗？",
    "The table is booked for {n}.|订了{n}人的桌子。",
    "I left my scarf at your place.|我的围巾落在你家了。",
    "Practice is moved to {h} o'clock.|排练改到{h}点。",
    "Have you got the receipt for the lamp?|台灯的收据在你那儿吗？",
    "Lunch tomorrow?|明天一起吃午饭？",
    "The train is {n} minutes late.|火车晚点{n}分钟。",
    "I found the recipe.|我找到菜谱了。",
)  # fmt: skip
_REPLIES = (
    "Yes, see you then.|好的，到时见。",
    "Not yet, I'll check tonight.|还没有，我今晚看看。",
    "That would be great, thanks!|太好了，谢谢！",
    "Sorry, I can't make it.|抱歉，我去不了。",
    "Fine by me.|我没问题。",
    "Let me ask and get back to you.|我问一下再回你。",
    "Could we make it {h}?|改到{h}点行吗？",
    "I'll be there in {n} minutes.|我{n}分钟后到。",
    "It is on the shelf by the door.|在门口的架子上。",
    "Good idea.|好主意。",
    "Who else is coming?|还有谁来？",
    "Please bring {n} cups.|请带{n}个杯子。",
)  # fmt: skip
_NOTICES = (
    "Your parcel {n} is at the counter until {h} pm.|您的包裹{n}可在柜台领取，晚上{h}点前有效。",
    "Your code is {n:02d}{h}{h}{n:02d}. Do not share it.|"
    "您的验证码是{n:02d}{h}{h}{n:02d}，请勿告知他人。",
    "Your appointment is confirmed for {h}:00.|您的预约已确认，时间{h}:00。",
    "Win a cruise! Reply YES now.|免费邮轮大奖！立即回复“是”。",
)  # fmt: skip


def draw_lines(draws: ContentDraws, *, known: bool) -> Iterator[tuple[str, bool]]:
    """Draw the texts of a conversation, each with whether the user wrote it."""
    if not known:
        yield _text(draws, draws.pick(_NOTICES)), False
        return
    mine = draws.chance(0.4)
    openings: list[str] = []
    replies: list[str] = []
    for _ in range(draws.between(1, 2 + draws.scale)):
        yield _text(draws, _next(draws, openings, draws.own(_OPENINGS))), mine
        mine = not mine
        for _ in range(draws.between(1, 3)):
            yield _text(draws, _next(draws, replies, _REPLIES)), mine
            mine = not mine


def _next(draws: ContentDraws, rest: list[str], texts: Sequence[str]) -> str:
    """Draw a text that the conversation lacks; once all are used, start over."""
    if not rest:
        rest += draws.sample(texts, len(texts))
    return rest.pop()


def _text(draws: ContentDraws, text: str) -> str:
    text = text.split("|")[1 if draws.language == "zh" else 0]
    return text.format(n=draws.between(3, 45), h=draws.between(4, 9))
