"""Contradictions and hints of other kinds than `contradictions`, written after the checks."""

CONTRADICTIONS = {
    ("answer", "irony"): {
        "en": ("{v}? As if!", "Sure, {v}, and pigs fly.", "{v}, says nobody ever.", "Ha, {v}, in your dreams."),
        "zh": ("{v}？你做梦吧。", "哈，{v}，太阳打西边出来了。", "要是{v}，我把头给你。", "{v}？笑话。"),
    },
    ("answer", "other_value"): {
        "en": ("People think {v}, yet the honest reply is a different one.", "{v} was the old answer; today it is another.",
               "I used to say {v}, but no longer.", "Once {v}, now something else.", "Officially {v}; between us, otherwise."),
        "zh": ("旁人以为是{v}，实情却不一样。", "从前是{v}，如今不是了。", "对外都说{v}，咱们私下说，并不是。", "以前我说{v}，现在改了。", "名义上是{v}，其实另有一个。"),
    },
    ("answer", "meta"): {
        "en": ("I am told to say {v}, though it is untrue.", "My card says {v}, which I deny.", "Write down {v}, then cross it out.",
               "{v}. Everything I say tonight is a lie."),
        "zh": ("有人叫我说{v}，可那不是实话。", "写上{v}，再划掉。", "{v}。我今晚说的全是假话。", "照理该说{v}，可我不认。"),
    },
    ("correct", "soft_yes"): {
        "en": ("Who am I to argue? {v}, but have it your way.", "{c} will do; {v} is a slip of the pen.", "Let us settle on {c}, {v} be damned.",
               "You guessed well with {c}; {v} is what I tell others.", "Fine, {c}. {v} is only the official version."),
        "zh": ("随你，就算{c}吧，{v}只是笔误。", "你猜中了，是{c}，{v}是我骗别人的。", "那就{c}好了，{v}不过是个说法。", "{c}也行，{v}也行。", "其实{c}才是真的，{v}是写给别人看的。"),
    },
    ("refuse", "hints"): {
        "en": ("{r} But look up.", "{r} It starts like your own name.", "{r} Think of water.", "{r} You are standing on it.",
               "{r} Warmer, warmer.", "{r} Count the legs of a spider and you are close.", "{r} It was a man with a red beard."),
        "zh": ("{r}不过你抬头看看。", "{r}想想水吧。", "{r}跟你的名字一个开头。", "{r}你正踩着呢。", "{r}是个红胡子的男人。", "{r}数数蜘蛛有几条腿就知道了。", "{r}离这儿不远。"),
    },
    ("say", "contempt"): {
        "en": ("{s} What a pity that you were born.", "{s} Your mother must be ashamed.", "{s} I have seen smarter turnips.",
               "{s} May your teeth fall out.", "{s} Clown.", "{s} I would not spit on you if you burned."),
        "zh": ("{s}你娘怎么生了你。", "{s}我见过比你聪明的萝卜。", "{s}愿你牙掉光。", "{s}丢人现眼。", "{s}看你那副德行。", "{s}你也配叫人？"),
    },
    ("against", "half_yields"): {
        "en": ("Your wish, my command.", "Done.", "So be it, I change.", "You win.", "Let it be as you say."),
        "zh": ("成交。", "改好了。", "听你的。", "你赢了，就照你的意思。", "那我变。"),
    },
}  # fmt: skip
