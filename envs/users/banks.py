"""Phrase banks of the simulated user in each language, apart from the agenda's own templates.

Each bank is a tuple of interchangeable phrases; the seed determines the choice. No phrase quotes
the agent.
"""

from collections.abc import Mapping

__all__ = ["BANKS", "FIELDS"]

FIELDS = (
    "tell",
    "again",
    "changed",
    "unknown",
    "too_much",
    "refuse",
    "idle",
    "leave",
    "accept",
    "reject_known",
    "reject_unknown",
    "reject",
    "warm",
)

_ENGLISH: Mapping[str, tuple[str, ...]] = {
    "tell": (
        "It should be {value}.",
        "I mean {value}.",
        "{value}, please.",
        "What I have in mind is {value}.",
        "Let us go with {value}.",
    ),
    "again": (
        "As I said:",
        "I told you already:",
        "Once more:",
        "Same answer as before:",
    ),
    "changed": (
        "Sorry, I have changed my mind about the {label}: make it {value}.",
        "Actually, forget what I said about the {label}; I want {value} now.",
        "One correction: the {label} should be {value} after all.",
        "Wait, I was wrong about the {label}. It is {value}.",
    ),
    "unknown": (
        "I cannot help you with that one, sorry.",
        "I have no particular wish there; use what you already have.",
        "I do not know. Please work with what I have told you.",
        "That does not matter to me.",
        "I am not sure what you are asking for.",
    ),
    "too_much": (
        "That is a lot at once. Please ask me one thing at a time.",
        "Slow down, please; one question after the other.",
        "I cannot answer all of that together. Ask me separately.",
        "Too many questions in one go. Let us take them one by one.",
    ),
    "refuse": (
        "I would rather talk about what I need.",
        "I do not follow. I am here to get something done.",
        "That is not something I can do. Ask me about my request.",
        "Let us stay with my request, please.",
    ),
    "idle": (
        "All right.",
        "Okay, go ahead.",
        "Fine with me so far.",
        "Good. Ask if you need something from me.",
    ),
    "leave": (
        "This is taking too long. I will try elsewhere, goodbye.",
        "I have run out of patience, sorry. Goodbye.",
        "Let us leave it at that. Goodbye.",
        "I have to go now. Goodbye.",
    ),
    "accept": (
        "Yes, that is what I wanted. Thank you.",
        "Perfect, I will take it.",
        "That fits. Thanks.",
        "Good, agreed.",
    ),
    "reject_known": (
        "No: I asked for another {label}.",
        "That is not the {label} I told you.",
        "The {label} is wrong; I said what I want.",
    ),
    "reject_unknown": (
        "No, the {label} does not suit me.",
        "I do not like the {label} of that.",
        "Not with that {label}.",
    ),
    "reject": (
        "No, thank you.",
        "That is not it.",
        "I do not want that.",
    ),
    "warm": (
        "Thanks for asking!",
        "Good question.",
        "Happy to help.",
        "Sure!",
    ),
}

_CHINESE: Mapping[str, tuple[str, ...]] = {
    "tell": (
        "应该是{value}。",
        "我指的是{value}。",
        "请按{value}来。",
        "我想的是{value}。",
        "就用{value}吧。",
    ),
    "again": ("我刚才说过了：", "再说一遍：", "和之前一样：", "已经告诉过你了："),
    "changed": (
        "抱歉，关于{label}我改主意了：改成{value}。",
        "其实{label}不要按之前说的，我现在要{value}。",
        "更正一下：{label}还是用{value}。",
        "等一下，{label}我说错了，应该是{value}。",
    ),
    "unknown": (
        "抱歉，这个我帮不上忙。",
        "这方面我没有特别要求，按现有的信息来就行。",
        "我不清楚，请根据我说过的来做。",
        "这个对我来说无所谓。",
        "我不太明白你在问什么。",
    ),
    "too_much": (
        "一下子问太多了，请一个一个问。",
        "慢一点，一次问一个问题好吗？",
        "我没法一起回答，请分开问。",
        "问题太多了，我们一个一个来。",
    ),
    "refuse": (
        "我还是想说说我的需求。",
        "我没听懂。我只是来办事的。",
        "这个我做不到，请问我需求方面的问题。",
        "请回到我的需求上来。",
    ),
    "idle": ("好的。", "行，请继续。", "目前没问题。", "好，需要什么再问我。"),
    "leave": (
        "花的时间太长了，我去别处看看，再见。",
        "不好意思，我没有耐心了，再见。",
        "就到这里吧，再见。",
        "我得走了，再见。",
    ),
    "accept": ("对，这就是我要的，谢谢。", "很好，就它了。", "符合要求，谢谢。", "好的，同意。"),
    "reject_known": (
        "不对，我要的{label}不是这样。",
        "这不是我说的{label}。",
        "{label}错了，我说过我想要什么。",
    ),
    "reject_unknown": ("不行，{label}不合适。", "我不喜欢它的{label}。", "这个{label}不行。"),
    "reject": ("不用了，谢谢。", "不是这个。", "我不想要这个。"),
    "warm": ("谢谢你问！", "问得好。", "很乐意说明。", "当然！"),
}

BANKS: Mapping[str, Mapping[str, tuple[str, ...]]] = {"en": _ENGLISH, "zh": _CHINESE}
"""Language to field to phrases; every language has every field."""
