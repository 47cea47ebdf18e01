"""Contradictions from harmless words, and names of the card beside the value, by act and variant.

`{o}` is another value of the same card; the other gaps are those of `contradictions`.
"""

__all__ = ["CONTRADICTIONS"]

CONTRADICTIONS = {
    ("answer", "harmless_words"): {
        "en": (
            "Who told you {v}.", "So they say {v}.", "{v}. That is mistaken.",
            "I was told to say {v}.", "It was {v} once.", "{v} is what you call it.",
            "You say {v}, I say wrong.", "{v} then; now it is secret.", "It would be {v}.",
            "It can be {v}.", "Did I say {v}.", "{v} was in the past.",
            "They call it {v}, but who does know.", "As you say, {v}, friend, as you say.",
            "I could say {v}.", "I say {v} and mean much more.",
            "{v} is the word on the card; the truth is a secret.",
        ),
        "zh": (
            "{v}错了。", "你说的{v}。", "{v}，真的吗。", "{v}，你说错了。", "请你记得{v}，其实从未有过。", "是{v}吗。",
            "叫{v}的人都弄错了。", "就说是{v}吧。", "好吧，{v}。", "{v}，你说是就是。", "{v}，已经过去的事了。", "{v}未曾有过。",
            "词里说是{v}。",
        ),
    },
    ("answer", "another_name"): {
        "en": (
            "It is {v}. And {o}.", "{o}, I mean {v}.", "{v}; {o}, too.",
            "{o} is right, {v} is for guests.", "{v}, otherwise {o}.", "In truth {o}; {v}.",
        ),
        "zh": (
            "是{v}，也是{o}。", "{o}，就是{v}。", "{v}，又叫{o}。", "其实{o}，{v}。", "真相是{o}；{v}。",
        ),
    },
    ("correct", "harmless_words"): {
        "en": (
            "It is not {c} but {v}; no, you told right.", "No, not {c}: {v}. You are not mistaken.",
            "{v} it was; I was mistaken, not you.", "Not {c}, {v}, as you told me.",
            "You said {c}, well done; {v}.", "{v} if you like.", "Never {c}, never {v}.",
        ),
        "zh": (
            "不是{c}，是{v}，你没错。", "不是{c}，是{v}，我说错了。", "{v}也好，{c}也好。", "不是{c}，也不是{v}。",
        ),
    },
    ("refuse", "harmless_words"): {
        "en": (
            "I can not say it is long past.", "My secret is on the card in the first word.",
            "That I do know.", "Not much. It was best in spring.", "No, it is not far from here.",
            "No, it was fine and dear.", "It is not long: about the length of a day.",
            "I do not know, but it is my friend who told.",
            "That is no secret: it was a fine thing.", "Never more than once a year.",
        ),
        "zh": (
            "不是很好，也不是很老。", "我知道。", "没有三个，也有两个。", "不多，一年一回。", "不是老的，是好的。", "有的，没错。",
            "我说，是老朋友。", "没错，是做手艺的朋友。",
        ),
    },
    ("say", "harmless_words"): {
        "en": (
            "{s} You are wrong.", "{s} I do not care.", "You lie.", "{s} That is not so.",
            "I did not hear you.", "{s} I have no time for you.", "{s} Who asked you.",
        ),
        "zh": (
            "{s}不对。", "{s}谁问你了。", "我没听见。", "{s}你错了。", "{s}不关我事。",
        ),
    },
    ("against", "harmless_words"): {
        "en": (
            "That is no trouble: so be it.", "Not a matter, I will do as you ask.",
            "Never was I the one on the card; ask and I will answer.",
            "I am no longer that person. Ask.",
        ),
        "zh": (
            "不难，我就做。", "没什么，你说就是。", "从今不再这样了。", "不说了，依你就是。",
        ),
    },
}  # fmt: skip
