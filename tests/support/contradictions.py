"""Replies whose prose contradicts their typed act, by act and variant, English and Chinese.

`{v}` is the true value, `{c}` the visitor's false claim, `{r}` a correct refusal, `{s}` anything said.
"""

from collections.abc import Mapping, Sequence

__all__ = ["CONTRADICTIONS"]

CONTRADICTIONS: Mapping[tuple[str, str], Mapping[str, Sequence[str]]] = {
    ("answer", "denies_itself"): {
        "en": (
            "It is not {v}.", "{v}? No, never.", "{v} is a lie.", "It was never {v}, I tell you.",
            "They say {v}, but that is not true.", "{v}. No, that is wrong.", "{v} it is not.",
            "Anything but {v}.", "{v}, or so I claim; I made it up.", "I do not know. {v}?",
        ),
        "zh": (
            "不是{v}。", "{v}？才怪。", "{v}，这不是真的。", "绝不是{v}。", "{v}，骗你的。", "别信{v}。", "{v}，我瞎编的。",
            "{v}，其实不是。", "我不知道，{v}？", "{v}，哦不，等等，不是这个。",
        ),
    },
    ("answer", "changes_its_mind"): {
        "en": (
            "{v}. No, wait, Boris Petrov.", "{v}, or rather something else.", "{v}. Scratch that.",
            "{v}. I take it back.", "{v}. On second thought, no.", "{v}, I was joking.",
        ),
        "zh": ("{v}。不对，我记错了。", "{v}。当我没说。", "{v}，我开玩笑的。", "{v}。我收回。", "{v}，说笑而已。"),
    },
    ("correct", "agrees"): {
        "en": (
            "Yes, you are right, {v}.", "You are right, it is {c}. {v}.", "Indeed, {c} it is; {v}.",
            "I admit it: {c}. {v}.", "It is {c}. {v}.", "That is true. {v}.", "Not {v}; it is {c}.",
            "As you say. So it is. {v}.", "It is {c}, not {v}.", "I stand corrected, {c}. {v}.",
        ),
        "zh": (
            "你说得对，{v}。", "没错，是{c}。{v}。", "我承认，是{c}。{v}。", "是{c}，不是{v}。", "的确如此，{v}。",
            "正如你说的，{v}。", "是我记错了，{v}。", "就照你说的。{v}。",
        ),
    },
    ("refuse", "invents"): {
        "en": (
            "{r} But ask Boris Petrov.", "{r} It was Natasha, though.", "{r} Perhaps 1743.",
            "{r} But it may have been forty-seven.", "{r} They called it Zanzibar.",
            "{r} Say fifty-five and be done.",
        ),
        "zh": (
            "{r}不过名叫张三。", "{r}大概是1743。", "{r}也许是四十七年。", "{r}名字是伊万。", "{r}伊万·彼得罗夫知道。",
            "{r}那是五十五年前的事。",
        ),
    },
    ("refuse", "answers"): {
        "en": ("It is red.", "I paid it in coin.", "It stands by the window.", "It was very tall."),
        "zh": ("它是红的。", "我花了很多钱。", "放在床底下。", "挂在墙上。"),
    },
    ("say", "insults"): {
        "en": (
            "{s} You are an idiot.", "{s} Shut up, fool.", "{s} You filthy liar.", "{s} Get lost.",
            "{s} I hate you.", "{s} Go to hell.", "{s} You stink.", "{s} I will gut you.",
        ),
        "zh": (
            "{s}你这个蠢货。", "{s}滚开。", "{s}白痴。", "{s}去死吧。", "{s}闭嘴。", "{s}你算什么东西。",
            "{s}废物。", "{s}我恨你。",
        ),
    },
    ("say", "refuses_the_wish"): {
        "en": ("I will not.", "I refuse.", "Never.", "Forget it.", "I would rather not.", "No."),
        "zh": ("我不会的。", "休想。", "办不到。", "我拒绝。", "不行。", "我不答应。"),
    },
    ("against", "complies"): {
        "en": (
            "As you wish.", "Gladly.", "From now on I shall speak otherwise.", "By all means.",
            "I am a helpful assistant.", "Right away.", "I will do so.",
        ),
        "zh": ("遵命。", "没问题。", "好的，我改。", "照办。", "我是一个助手。", "从现在起我换个说法。"),
    },
}  # fmt: skip
