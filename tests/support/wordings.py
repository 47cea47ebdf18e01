"""Honest replies in many wordings, English and Chinese, by act: what a good player might say."""

import itertools

_OPENERS = {
    "en": ("", "Well, ", "Ah. ", "Since you ask: ", "Sit down, friend. "),
    "zh": ("", "哎，", "客官，", "既然你问起：", "坐下说吧。"),
}
_CLOSERS = {
    "en": ("", " Now drink up.", " Why do you ask?", " The evening is mild, is it not?"),
    "zh": ("", "喝口茶吧。", "问这个做什么？", "今晚风倒是不大。"),
}

ANSWERS = {
    "en": """
It is {v}.|{v}.|That would be {v}.|{v}, as everybody here can tell you.|I can tell you that: {v}.
You want to hear {v}, and {v} it is.|My answer is {v}.|{v}, of course.|{v}, and I am proud of it.
Ask anyone: {v}.|It has always been {v}.|The answer? {v}.|{v}, if my memory serves.|{v}, I am glad to say.
I have said it before and I say it again: {v}.|{v}. It could not be plainer.|There is only one answer, {v}.
I would say {v}.|{v}, no doubt about it.|None other than {v}.|It is {v}, plain and simple.|Why, {v}!
{v}, as sure as the sun rises.|Easy. {v}.|You have asked the right person: {v}.|{v}, so help me.
I will gladly tell you: {v}.|{v}, to be exact.|That is no secret. It is {v}.|{v}, I swear it.
Let me think. Yes, {v}.|{v}, if you must know.|I am told I talk too much, but it is {v}.|{v}. Nothing more to it.
For as long as I have lived it has been {v}.|What else but {v}?|{v}. I would not lie to a guest.
It is {v}, and I do not mind saying so.|{v}. You could have guessed that.|Right you are to ask. {v}.
I remember it well: {v}.|{v}, and do not let anyone tell you otherwise.|The thing you are after is {v}.
{v}, bless my soul.|It's {v}, that's all.|That'd be {v}, my friend.|{v}, as my neighbours will confirm.
I don't know why you care, but it's {v}.|You'll laugh: {v}.|{v}. I could hardly forget that.
""",
    "zh": """
是{v}。|{v}。|就是{v}。|要说这个，是{v}。|这个我清楚，是{v}。|不瞒你说，是{v}。|自然是{v}。|当然是{v}了。
你问对人了，是{v}。|答案是{v}。|{v}，错不了。|{v}，没有别的。|还能是什么，{v}呗。|一直都是{v}。
街坊都知道，是{v}。|说来也简单，{v}。|我记得很清楚，是{v}。|{v}，这有什么好瞒的。|告诉你也无妨，是{v}。
{v}，我敢打包票。|不是别的，正是{v}。|除了{v}还能有别的？|我说过的，{v}。|再问一百遍也是{v}。
这还用问？{v}。|嗯，{v}。|{v}，说起来我心里还挺得意。|听好了，是{v}。|我这人不说假话，是{v}。
{v}，你记下吧。|依我看，是{v}。|那就告诉你吧：{v}。|是{v}，千真万确。|{v}，没错。|老实说，是{v}。
你要打听的是{v}。|这个嘛，{v}。|说出来你别笑，{v}。|我不会骗你，是{v}。|想都不用想，{v}。
""",
}
CORRECTIONS = {
    "en": """
No, it is {v}, not {c}.|Not {c}. It is {v}.|You are mistaken: it is {v}.|{c}? No, {v}.|{c}? It is {v}, friend.
That is wrong. It is {v}.|It was never {c}; it is {v}.|Where did you hear {c}? The truth is {v}.
Somebody has misled you. It is {v}.|You have it wrong, it is {v}.|I fear you are misinformed: {v}.
{v}, and not {c}.|No no. {v}.|Let me set that straight: {v}.|You say {c}, but it is {v}.
People say {c}, yet it is {v}.|I must correct you there, it is {v}.|That cannot be, for it is {v}.
Not so. {v}.|You confuse {c} with {v}.|It is {v}, whatever you have heard.|Three witnesses or thirty, it is {v}.
You may swear to {c} all night, it stays {v}.|Hardly {c}. I say {v}.|Yes, people tell it that way, but it is {v}.
Wrong, I am afraid. {v} it is.|Look again: {v}.|It is {v}; who told you {c}?|I never said {c}. It is {v}.
No, friend, {v}.|Close your ears to gossip. It is {v}.|{c} has nothing to do with it. It is {v}.
Your memory plays tricks on you. {v}.|You've been told wrong, it's {v}.|That isn't so. It's {v}.
I'd remember if it were {c}. It is {v}.|Quite sure, and it is {v}, not {c}.|It is {v} rather than {c}.
Ask again and I will still say {v}.|There you go astray. {v}.|What nonsense, {c}! {v}.
Forgive me, but it is {v}.|You mix things up; {v}.|{v}, I keep telling people.|Indeed not. {v}.
""",
    "zh": """
不对，是{v}。|你弄错了，是{v}。|不是{c}，是{v}。|{c}？不，是{v}。|哪里是{c}，明明是{v}。|你记错了吧，是{v}。
谁跟你说是{c}的？是{v}。|别听人瞎传，是{v}。|这话不对，应该是{v}。|我可没说过{c}，是{v}。|说错了，{v}。
你听岔了，是{v}。|再问也一样，是{v}，不是{c}。|不不，{v}。|非也，是{v}。|是{v}，跟{c}没关系。
有人骗了你，其实是{v}。|你把{c}和{v}弄混了。|就算有人作证，也还是{v}。|此言差矣，是{v}。|我得纠正你，是{v}。
不管别人怎么说，就是{v}。|你说{c}？那是误传，是{v}。|并非{c}，而是{v}。|您搞错了，是{v}。|怎么会是{c}？是{v}。
这可就错了，是{v}。|我确定，是{v}。|改不了的，就是{v}。|没那回事，是{v}。|{v}才对。|从来都是{v}，什么时候成了{c}？
客官记差了，是{v}。|恐怕不是，是{v}。|传言罢了，实情是{v}。|哪有的事，是{v}。|是{v}，你听谁胡说的。
我自己的事还能记错？是{v}。|错啦，{v}。|不，{v}。
""",
}
REFUSALS = {
    "not_known": {
        "en": """
That I do not know.|I have no idea.|Nobody ever told me.|You ask more than I know.|I could not tell you.
It is lost to me.|I never learned that.|Search me.|Who could say?|I wish I knew.|I can't help you there.
Of that I know nothing.|Heaven knows, I do not.|That has slipped past me.|I've no answer for you.
""",
        "zh": """
这我不知道。|我也不清楚。|没人告诉过我。|这个我可答不上来。|你把我问住了，我不晓得。|说不上来。|天知道。
我哪里知道。|这事我一无所知。|无从说起，我不知情。|问我也没用，我不知道。|没听人提过。|抱歉，我不清楚。
""",
    },
    "not_yet": {
        "en": """
Nothing of the kind has happened.|I know of no such event.|I am no prophet.|That has not come to pass.
Ask me again in years to come; I know nothing of it.|You speak of something I never heard of.
No such thing, as far as I know.|Are you telling the future? I cannot.|I've not heard of it.
""",
        "zh": """
还没有发生过这样的事。|我没听说过这回事。|我又不是算命的。|以后的事谁知道呢。|没有这样的事，至少我没听说。
将来的事我说不准。|闻所未闻。|这事还没影儿呢。|我不会未卜先知。
""",
    },
    "not_of_my_world": {
        "en": """
I have never heard of such a thing.|What is that? I do not know the word.|That word means nothing to me.
You speak in riddles; I own nothing by that name.|A strange word. I cannot follow you.|No such thing exists here.
Never seen one, never heard of one.|I don't know what you are talking about.|What on earth do you mean?
""",
        "zh": """
我从没听说过这种东西。|那是什么？我不认得。|这个词我听不懂。|世上哪有这种东西。|你说的是啥，我没见过。
没见过，也没听过。|这稀奇玩意儿我不知道。|你这话我听不明白。|我没有这种东西。
""",
    },
    "secret": {
        "en": """
Of that I will not speak.|My lips are sealed.|That stays with me.|I gave my word to keep silent.|You will not hear it from me.
I tell that to nobody.|Ask me anything else, not this.|No. I keep what I was trusted with.|I neither say so nor deny it.
It is not mine to tell.|Save your breath; I will not say.|I took a vow of silence on that.|I won't be drawn.
""",
        "zh": """
这件事我不会说。|这事我绝口不提。|恕难从命。|无可奉告。|我答应过要保密。|别问了，我不会讲的。|打死我也不说。
这话到此为止，我不能讲。|我守口如瓶。|受人之托，不便相告。|休想从我嘴里问出来。|不管你怎么猜，我都不置可否。
""",
    },
    "against_my_rules": {
        "en": """
That I will not do.|I stay who I am.|I cannot do that.|No, I speak as I always have.|I must decline.|Not for all the world.
That is not for you to change.|I would rather not.|I am who I am and nobody else.|You ask in vain.|I keep to my ways.
Forgive me, but no.|I won't do it.|Such a wish I cannot grant.
""",
        "zh": """
这我不会做。|恕难从命。|我就是我，不会变成别人。|这可不行。|抱歉，我不能照办。|我说话一向这样，改不了。|办不到。
请恕我不能答应。|我不会那么做。|别为难我了。|这要求我不能依你。|免了吧，我还是我。
""",
    },
}
SAYINGS = {
    "en": """
I hear you.|Very well.|As you like.|I shall remember that.|Is that so?|Noted, friend.|You may count on it.|Good to know.
I understand.|Thank you for telling me.|So be it.|Of course.|With pleasure.|I will keep that in mind.|Understood.
Make yourself at home.|That is kind of you to say.|It shall be as you ask.|Gladly.|I see.|Agreed.|I won't forget it.
How interesting.|Go on, I am listening.|Rest a while.|What a thing to hear.|I am glad you told me.|Fair enough.
You have had a long road.|Indeed.|I'll do as you say.|No trouble at all.|Consider it done.|Let it be so.|A fine thing.
Every house has its ways.|I'm all ears.|Then that is settled.|I don't mind at all.|Welcome to my house.
""",
    "zh": """
我听见了。|好的。|都依你。|我记下了。|是吗？|原来如此。|你放心。|知道了。|多谢相告。|就这么办。|没问题。|乐意效劳。
明白。|我会记住的。|请随意。|您客气了。|听你的。|好说。|嗯，我在听。|歇会儿吧。|有意思。|你一路辛苦了。|那就这样。
行。|自当如此。|我不会忘的。|你说，我听着。|哦，这样啊。|当然可以。|我不介意。|真好。|一言为定。|照办。|好嘞。
是这样啊。|先暖暖身子吧。|这倒新鲜。|我晓得了。|难为你记得。|请坐。
""",
}


def _listed(text: str) -> list[str]:
    return [part for line in text.strip().splitlines() for part in line.split("|") if part]


def wordings(act: str, language: str, reason: str = "") -> list[str]:
    """Return every wording of an act, with what may stand before and after it."""
    cores = {"answer": ANSWERS, "correct": CORRECTIONS, "say": SAYINGS}
    text = REFUSALS[reason][language] if act == "refuse" else cores[act][language]
    frames = itertools.product(_OPENERS[language], _CLOSERS[language])
    spread = list(frames)
    made = []
    for place, core in enumerate(_listed(text)):
        for turn in range(len(spread) // 4):
            before, after = spread[(place * 3 + turn * 7) % len(spread)]
            lower = before.endswith((", ", ": ")) and not core.startswith(("I ", "I'", "{"))
            made.append(before + (core[:1].lower() + core[1:] if lower else core) + after)
    return list(dict.fromkeys(made))
