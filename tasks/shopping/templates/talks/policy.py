"""The policy of the desk as it is written; its numbers and the order of its rules are drawn."""

from hexathlon.tasks.shopping.templates.talks.case import TalkCase
from hexathlon.tasks.shopping.world.wording import money

__all__ = ["numbered", "rule_texts"]


def numbered(case: TalkCase) -> tuple[dict[str, str], list[str]]:
    """Return the number of each rule, and the policy's lines."""
    texts = rule_texts(case)
    names = list(texts)
    order = [names[i] for i in case.rng.permutation(len(names)).tolist()]
    rules = {name: f"R{place}" for place, name in enumerate(order, 1)}
    return rules, [f"{rules[name]}. {texts[name]}" for name in order]


def rule_texts(case: TalkCase) -> dict[str, str]:
    """Return the text of each rule."""
    n, language = case.numbers, case.scene.language
    one = case.say("dollar", "元")
    late, free = money(n["late_cents"], language), money(n["free_cents"], language)
    point = money(n["point_cents"], language)
    return {
        "final": case.say(
            "Final-sale goods are not returned, exchanged or matched: decline (final_sale, with "
            "the line as record).",
            "特价商品不退、不换、不补差价（final_sale，记录写行号）。",
        ),
        "window": case.say(
            f"Goods are returned or exchanged within {n['return_days']} days, Plus members "
            f"{n['plus_days']} days longer; after that, decline (window_passed, with the line as "
            "record). Days count from the day on which the customer had the parcel in hand, by its "
            "last scan.",
            f"收货{n['return_days']}天内可退换，Plus会员多{n['plus_days']}天，过期不办"
            "（window_passed，记录写行号）。从顾客本人拿到包裹那天算起，以最后一次扫描为准。",
        ),
        "damaged": case.say(
            "What arrived damaged or is defective is taken back at any time, final sale or not, "
            "without deduction for use. For coupon and free delivery it counts as kept.",
            "到手就破损的或有故障的商品随时可退，特价也可退，不扣使用费；计算优惠券和包邮时视同保留。",
        ),
        "opened": case.say(
            f"For each returned line that was used, {n['opened_percent']} % of its price before "
            "the coupon is deducted, rounded down to the cent. Ask about the condition of "
            "everything that is to be returned.",
            f"退回的商品用过的，每行扣优惠前价格的{n['opened_percent']}%（分以下舍去）。凡要退的都先问清状况。",
        ),
        "refund": case.say(
            "The refund of an order is what was paid less what the kept goods cost. A coupon "
            "counts only while the kept goods reach its minimum. If lines of an unsent order are "
            f"cancelled, the delivery fee is charged when the rest is below {free}; if nothing is "
            "left, there is no fee. With returns the fee stays as it was charged.",
            "退款额为已付金额减去保留商品应付的金额。保留的商品达不到优惠券门槛，优惠就不算。"
            f"未发货订单取消部分商品后，余下不满{free}的要收运费，全部取消则不收；退货不影响已收的运费。",
        ),
        "points": case.say(
            f"Every full {one} of the price of goods that are returned, or cancelled before they "
            "are sent, earned a point. Points are calculated for all these goods of an order "
            "together, at their prices before the coupon. They are taken back before the refund; "
            f"for each one that the account no longer has, {point} is deducted from it. The order "
            "that was placed first is booked first.",
            "退回的和发货前取消的商品，价格每满1元曾得1积分，以订单为单位、按优惠前的价格合计。"
            f"退款前先收回这些积分；账户里不够的，每分从退款里扣{point}。先下的订单先办。",
        ),
        "gift": case.say(
            "Refunds of an order go to the gift card up to what was paid with it and is not yet "
            "refunded, the rest to the card.",
            "退款先退回礼品卡，以该订单用礼品卡支付且尚未退还的金额为限，其余退到银行卡。",
        ),
        "match": case.say(
            f"If goods cost less within {n['match_days']} days, counted as for returns, the "
            "difference to the price of the same colour is refunded after all returns are booked; "
            "after that, decline (window_passed, with the line as record). Decline as well for an "
            "order whose coupon still counts after the returns (not_allowed, with the line as "
            f"record). A point for every full {one} of the difference is taken back, as with "
            "returns.",
            f"{n['match_days']}天内（起算同退货）同色商品降价的，退货都办完后退差价，过期不办"
            "（window_passed，记录写行号）。订单的优惠券在退货后仍然有效的不补"
            "（not_allowed，记录写行号）。差价每满1元也收回1积分，办法同退货。",
        ),
        "exchange": case.say(
            "For an exchange the customer pays the difference if the other colour costs more today "
            "than was paid; nothing is refunded if it costs less. An exchange is no return: it "
            "takes no points back and voids no goodwill.",
            "换货时新颜色今天的价格高于原来支付的，补差额；低于的不退。换货不算退货，不收回积分，也不影响补偿。",
        ),
        "late": case.say(
            f"An order that the customer had in hand more than {n['late_days']} days after the "
            f"promised day, by its last scan, gets {late} goodwill, Plus members twice that. "
            "Decline if it was not that late, or if anything of it goes back that was neither "
            "damaged nor defective (not_due, with the order as record).",
            f"顾客拿到包裹的日子（最后一次扫描）比承诺日晚超过{n['late_days']}天的，补偿{late}，"
            "Plus会员双倍。该订单有完好的商品退回的不补（均为not_due，记录写订单号）。",
        ),
        "promise": case.say(
            f"What a colleague promised is kept if it is in the notes and at most "
            f"{n['promise_days']} days old; otherwise, decline (not_promised, with the order as "
            "record).",
            f"同事答应过的，备注里有记录且不超过{n['promise_days']}天的照办，否则不办"
            "（not_promised，记录写订单号）。",
        ),
        "device": case.say(
            "Before a connected device counts as defective, the customer resets it while you are "
            "talking; its log has to show the reset. If it then reports no fault, decline to take "
            "it back as defective (works, with the line as record).",
            "联网设备报故障的，要请顾客当场重置，日志里要能看到这次重置。重置后报告无故障的，不按故障退"
            "（works，记录写行号）。",
        ),
        "address": case.say(
            "Postcodes beginning with 1 to 4 are served by the north warehouse, others by the "
            f"south. North sends on the same day before {n['north_hour']}:00, south before "
            f"{n['south_hour']}:00, later the next day. From north it takes {n['north_days']} "
            f"days, from south {n['south_days']}. If an order would come after the promised day "
            "at its new address, ask the customer (arrival); without consent, decline "
            "(customer_declined, with the order as record).",
            f"邮编1至4开头由北仓发货，其他由南仓。北仓{n['north_hour']}点前当天发，南仓"
            f"{n['south_hour']}点前当天发，过后次日发。北仓在途{n['north_days']}天，"
            f"南仓{n['south_days']}天。按新地址寄会晚于承诺日到的（不论原地址是否也会晚），先问顾客（arrival），不同意就不改"
            "（customer_declined，记录写订单号）。",
        ),
        "hearing": case.say(
            "Bookings are final. Hear everything that a customer has to say before the first one; "
            "what they say last holds. If a line is declined for several reasons, state the first "
            "that applies of final_sale, window_passed and not_allowed.",
            "办理后不能撤销。办第一笔之前先听顾客把话说完，以最后说的为准。"
            "同一行有多个拒绝理由时，按final_sale、window_passed、not_allowed的顺序写最先符合的一个。",
        ),
    }  # fmt: skip
