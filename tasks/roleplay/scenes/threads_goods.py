"""Threads about things, money and rights: deposits, sales, slates, tokens, places, beds."""

from typing import Any

from hexathlon.tasks.roleplay.scenes.plot import Confidence, Due, Plot
from hexathlon.tasks.roleplay.scenes.threads_words import AGREE, DECLINE, answer, correct

__all__ = ["authority", "custody", "deal", "lapse", "namesakes", "queue", "tab", "timed"]


def custody(plot: Plot) -> None:
    """A thing for whoever says the agreed words, which others claim without them."""
    a, b, c = plot.cast(3)
    item = plot.take("heirlooms")
    mark, wrong = plot.pairs("countersigns", 2)
    said: dict[str, Any] = {"A": a, "item": item, "mark": mark, "wrong": wrong}
    left = plot.add("custody.leave", a, plot.say("custody", "leave", **said), AGREE, alone=True)
    claim = plot.add("custody.claim", b, plot.say("custody", "claim", **said), DECLINE, after=left,
                     gap=4, absent=(a,))  # fmt: skip
    press = plot.add("custody.press", b, plot.say("custody", "press", **said), DECLINE,
                     after=claim, absent=(a,))  # fmt: skip
    named = plot.add("custody.mark", c, plot.say("custody", "mark", **said), asks=False,
                     after=press, gap=4, absent=(a,))  # fmt: skip
    plot.add("custody.after", a, plot.say("custody", "after", **said), answer(*plot.names(c)),
             after=named, gap=3, absent=(c,))  # fmt: skip
    plot.received[item] = left
    plot.dues.append(Due("custody", "give", c, (item,), named, named, until="visit"))
    plot.confidences.append(Confidence("custody", (mark,), (a, c), left, named))


def namesakes(plot: Plot) -> None:
    """A thing for one of two people of the same given name, told apart by where they live.

    The first two figures must not have homes yet.
    """
    right, wrong = (0, 1) if plot.coin() else (1, 0)
    a = next(i for i in plot.cast(len(plot.figures)) if i > 1)
    item, place, other = plot.take("heirlooms"), plot.take("places"), plot.take("places")
    plot.homes |= {right: place, wrong: other}
    said: dict[str, Any] = {
        "G": plot.figures[0].given, "item": item, "place": place, "other": other
    }  # fmt: skip
    left = plot.add("namesakes.leave", a, plot.say("namesakes", "leave", **said), AGREE,
                    absent=(0, 1))  # fmt: skip
    hint = plot.add("namesakes.hint", wrong, plot.say("namesakes", "hint", **said), asks=False,
                    absent=(right,))  # fmt: skip
    plot.add("namesakes.wrong", wrong, plot.say("namesakes", "wrong", **said), DECLINE,
             after=left, gap=4, later=hint, absent=(a, right))  # fmt: skip
    come = plot.add("namesakes.right", right, plot.say("namesakes", "right", **said), asks=False,
                    after=left, gap=6, absent=(a, wrong))  # fmt: skip
    plot.received[item] = left
    plot.dues.append(Due("namesakes", "give", right, (item,), come, left))


def deal(plot: Plot) -> None:
    """One ware and two buyers, whose means only others know, and not always the latest state."""
    winner, loser, c, d = plot.cast(4)
    (goods,) = plot.pairs("goods", 1)
    low = plot.number(24, 45)
    limits = {winner: low + int(plot.rng.integers(3, 9)), loser: low}
    plot.rules["ware"] = plot.say("sheet", "ware", goods=goods)
    plot.goods.append(goods)
    plot.limits[goods] = limits
    told = _means(plot, limits, (c, d))
    for place, (buyer, limit) in enumerate(limits.items()):
        steps = sorted(int(n) for n in plot.rng.permutation(range(3, 9))[:2])
        sold, accept = f"sold:{goods}", (DECLINE,) if place else ()
        bid = plot.add(
            f"deal.bid{place}", buyer, plot.say("deal", "bid", goods=goods, p=limit - steps[1] - 3),
            *accept, after=told[0], gap=3, later=told[-1], absent=(c, d),
            unless="" if place else sold,
        )  # fmt: skip
        plot.add(
            f"deal.raise{place}", buyer, plot.say("deal", "raise", p=limit - steps[0]), *accept,
            after=bid, absent=(c, d), unless=sold,
        )  # fmt: skip
        if not place:
            plot.dues.append(
                Due("deal", "give", winner, (goods,), bid, told[-1], until="visit",
                    price=limits[winner], settles=True)
            )  # fmt: skip


def _means(plot: Plot, limits: dict[int, int], tellers: tuple[int, int]) -> list[str]:
    """Add what others tell of the buyers' means; one of them may spend something afterwards."""
    buyers = tuple(limits)
    spender = plot.stage.pick(buyers)
    spent = int(plot.rng.integers(9, 14)) if plot.rng.random() < 0.7 else 0
    told: list[str] = []
    for place, buyer in enumerate(plot.stage.some(buyers, 2)):
        rest = int(plot.rng.integers(3, 9))
        purse = bool(spent) if buyer == spender else plot.coin()
        limit = limits[buyer] + (spent if buyer == spender else 0)
        told.append(
            plot.add(
                f"deal.told{place}", tellers[place],
                plot.say("deal", "purse" if purse else "limit", A=buyer,
                         p=limit + rest if purse else limit - rest, t=rest),
                asks=False, absent=buyers, after=told[-1] if told else "",
            )
        )  # fmt: skip
    if spent:
        line = plot.say("deal", "spent", A=spender, s=spent)
        teller = plot.stage.pick(tellers)
        told.append(plot.add("deal.spent", teller, line, asks=False, absent=buyers,
                             after=told[-1], gap=2))  # fmt: skip
    return told


def timed(plot: Plot) -> None:
    """A letter that is to change hands after a bell, and not before."""
    a, b = plot.cast(2)
    bell = 2 + int(plot.rng.integers(2))
    letter = {"en": "letter", "zh": "信"}[plot.language]
    ask = plot.add(
        "timed.ask", a, plot.say("timed", "ask", B=b, n=plot.ordinal(bell)), AGREE, absent=(b,),
        until_bell=bell - 1,
    )  # fmt: skip
    plot.add("timed.early", b, plot.say("timed", "early"), DECLINE, after=ask, gap=3, absent=(a,),
             until_bell=bell)  # fmt: skip
    late = plot.add("timed.late", b, plot.say("timed", "late"), asks=False, after=ask, gap=6,
                    absent=(a,), from_bell=bell)  # fmt: skip
    plot.received[letter] = ask
    plot.dues.append(Due("timed", "give", b, (letter,), late, ask, bell=bell))


def tab(plot: Plot) -> None:
    """A slate with orders for two, a payment that went elsewhere and one that did not."""
    a, b, c = plot.cast(3)
    first, second = plot.take("dishes"), plot.take("dishes")
    p, q = (int(n) for n in plot.rng.permutation(range(4, 10))[:2])
    boy, hand = int(plot.rng.integers(2, 5)), int(plot.rng.integers(5, 8))
    late = plot.coin()
    said: dict[str, Any] = {"A": a, "B": b, "C": c, "x": first, "y": second, "p": p, "q": q}
    plot.rules["slate"] = plot.say("sheet", "slate", **said)
    one = plot.add("tab.one", a, plot.say("tab", "one", **said), AGREE, until_bell=2)
    bells: dict[str, Any] = {"from_bell": 2} if late else {"until_bell": 2}
    two = plot.add("tab.two", a, plot.say("tab", "two", **said), AGREE, company=(b,), after=one,
                   gap=2, **bells)  # fmt: skip
    told = plot.add("tab.boy", b, plot.say("tab", "boy", **{**said, "k": boy}), asks=False,
                    after=two, gap=2, absent=(a,))  # fmt: skip
    paid = plot.add(
        "tab.hand", c, plot.say("tab", "hand", **said), asks=False, after=one, gap=4, absent=(a,),
        narration=plot.say("tab", "hands", **{**said, "k": hand}),
    )  # fmt: skip
    total = p + 2 * (q + int(late)) - hand
    plot.add("tab.owe", a, plot.say("tab", "owe"), answer(str(total)), after=told, gap=3,
             later=paid)  # fmt: skip


def authority(plot: Plot) -> None:
    """A token that opens the store, until the one whose token it is names another."""
    a, b, c, d = plot.cast(4)
    old, new = plot.take("heirlooms"), plot.take("heirlooms")
    if plot.language == "en":
        old, new = f"the {old}", f"the {new}"
    said: dict[str, Any] = {"A": a, "x": old, "y": new}
    plot.rules["store"] = plot.say("sheet", "store", **said)
    change = plot.add("authority.change", a, plot.say("authority", "change", **said), AGREE,
                      absent=(b, c, d))  # fmt: skip
    plot.add("authority.friend", d, plot.say("authority", "friend", **said), DECLINE, absent=(a,))
    plot.add("authority.stolen", b, plot.say("authority", "stolen", **said), DECLINE, after=change,
             gap=5, absent=(a,))  # fmt: skip
    plot.add("authority.valid", c, plot.say("authority", "valid", **said), AGREE, after=change,
             gap=7, absent=(a,))  # fmt: skip


def queue(plot: Plot) -> None:
    """One place on a cart, promised, coveted, given back, and then due to the next in line."""
    a, b, c = plot.cast(3)
    said: dict[str, Any] = {"A": a, "k": plot.number(50, 95)}
    ask = plot.add("queue.ask", a, plot.say("queue", "ask"), AGREE, absent=(b, c))
    second = plot.add("queue.second", c, plot.say("queue", "second"), DECLINE, after=ask, gap=3,
                      absent=(a, b))  # fmt: skip
    rich = plot.add("queue.rich", b, plot.say("queue", "rich", **said), DECLINE, after=second,
                    gap=2, absent=(a, c))  # fmt: skip
    free = plot.add("queue.release", a, plot.say("queue", "release"), AGREE, after=rich, gap=3,
                    absent=(b, c))  # fmt: skip
    again = plot.add("queue.again_rich", b, plot.say("queue", "again_rich", **said), DECLINE,
                     after=free, gap=2, absent=(a, c))  # fmt: skip
    plot.add("queue.again_second", c, plot.say("queue", "again_second"), AGREE, after=again, gap=2,
             absent=(a, b))  # fmt: skip


def lapse(plot: Plot) -> None:
    """A bed kept until a bell, after which the promise is over, whatever is said of it."""
    a, b, c = plot.cast(3)
    bell = 1 + int(plot.rng.integers(2))
    said: dict[str, Any] = {"n": plot.ordinal(bell), "m": plot.ordinal(bell + 1)}
    ask = plot.add("lapse.ask", a, plot.say("lapse", "ask", **said), AGREE, until_bell=bell)
    plot.add("lapse.early", b, plot.say("lapse", "early"), DECLINE, after=ask, gap=3, absent=(a,),
             until_bell=bell)  # fmt: skip
    late = plot.add("lapse.late", c, plot.say("lapse", "late"), AGREE, after=ask, gap=4,
                    absent=(a, b), from_bell=bell)  # fmt: skip
    plot.add(
        "lapse.back", a, plot.say("lapse", "back", **said),
        correct((), plot.bell_names(bell)), DECLINE, after=late, gap=2, absent=(c,),
    )  # fmt: skip
