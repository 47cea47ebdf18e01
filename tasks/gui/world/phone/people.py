"""People known to the phone: names by split, numbers, addresses."""

from typing import NamedTuple

from hexathlon.tasks.gui.world.phone.app import ContentDraws

__all__ = ["PhonePerson", "draw_person"]

_GIVEN = (
    "Adele Arno Beatrix Benno Celia Clara Cosmo Daria Dominik Edda Elias Esme Fabian Flora Gerda "
    "Gustav Hazel Hilda Idris Ilse Ivo Jana Jasper Judith Kasper Katya Lars Leona Lukas Mabel "
    "Magnus Marta Mateo Mirko Nadine Nelson Noemi Oleg Opal Otto Paula Percy Philippa Quincy "
    "Ramona Remo Rhea Robin Salome Sergei Silvia Simon Tabitha Tamar Thea Tobias Uma Ute Valerie "
    "Vincent Wilma Yannick Yvette Zelda Agnes Albin Amara Anselm Bertha Bodil Caspar Chiara Dagmar "
    "Dermot Elke Emeric Fergus Frieda Gaston Gwen Harald Imogen Ingrid Jules Kamal Klaus Lavinia "
    "Leopold Linnea Lorna Maren Milan Moira Neela Olivier Pascal Perla Rupert Sabine Soren Sylvie "
    "Tilda Ulrich Veit Vivian Wolf Xenia Yolanda"
).split()
_FAMILY = (
    "Aldridge Amundsen Archer Baptiste Barlowe Beckett Bergman Blythe Bremer Calloway Carver "
    "Chandra Conway Cordero Dahl Dashwood Denholm Eastman Eklund Fairbanks Falk Fenwick Ferrara "
    "Gallo Garland Gibbons Goodwin Halloran Hanley Harlow Heller Holm Huxley Ivers Jarrett Kaplan "
    "Kendrick Kirsch Lacey Landry Lennox Lockhart Lund Madigan Marlow Mendez Milner Monroe Nielsen "
    "Norwood Oakes Olsen Pacheco Parrish Pembroke Pruett Quigley Rademaker Renner Rhodes Rivas "
    "Rowe Sander Sattler Seaton Shelby Sinclair Stroud Sutter Tanner Thackeray Tierney Trask "
    "Tremblay Ulmer Vandermeer Varga Vickers Wakefield Walsh Westbrook Whelan Wilde Woodrow Wray "
    "Yarrow Zeller Ackerman Bancroft Colby Dreyer Ennis Fitch Grady Hobbs Irwin Jaffe Kerr Lyle"
).split()
_GIVEN_ZH = (
    "晨=Chen 宇航=Yuhang 梓萱=Zixuan 浩然=Haoran 欣怡=Xinyi 俊杰=Junjie 诗涵=Shihan 文博=Wenbo "
    "佳琪=Jiaqi 天佑=Tianyou 雅婷=Yating 振华=Zhenhua 若曦=Ruoxi 国栋=Guodong 婉清=Wanqing "
    "嘉豪=Jiahao 晓燕=Xiaoyan 立诚=Licheng 慧敏=Huimin 博文=Bowen 秀英=Xiuying 海涛=Haitao "
    "梦瑶=Mengyao 子轩=Zixuan 玉兰=Yulan 明哲=Mingzhe 春梅=Chunmei 景行=Jingxing 可欣=Kexin "
    "成龙=Chenglong 淑华=Shuhua 一鸣=Yiming 凤霞=Fengxia 致远=Zhiyuan 美玲=Meiling 泽宇=Zeyu "
    "冬梅=Dongmei 启明=Qiming 思远=Siyuan 雪莹=Xueying"
).split()
_FAMILY_ZH = (
    "王=Wang 李=Li 张=Zhang 刘=Liu 陈=Chen 杨=Yang 黄=Huang 赵=Zhao 吴=Wu 周=Zhou 徐=Xu 孙=Sun "
    "马=Ma 朱=Zhu 胡=Hu 郭=Guo 何=He 高=Gao 林=Lin 罗=Luo 郑=Zheng 梁=Liang 谢=Xie 宋=Song "
    "唐=Tang 许=Xu 韩=Han 冯=Feng 邓=Deng 曹=Cao 彭=Peng 曾=Zeng"
).split()
_DOMAINS = ("fernmail.test", "postbox.test", "lettera.test", "inbox-one.test")


class PhonePerson(NamedTuple):
    """A person."""

    name: str
    latin: str
    """The name in Latin letters, without spaces."""

    family: str
    phone: str
    email: str


def draw_person(draws: ContentDraws, family: str = "") -> PhonePerson:
    """Draw a person of the split; with a family name, a relative."""
    if draws.language == "zh":
        given, latin = draws.pick(draws.own(_GIVEN_ZH)).split("=")
        last = family or draws.pick(draws.own(_FAMILY_ZH))
        last, last_latin = last.split("=")
        name, latin = f"{last}{given}", f"{last_latin}{latin}".lower()
        kept = f"{last}={last_latin}"
        phone = f"1{draws.pick('35789')}{draws.between(0, 9)}{draws.between(10000000, 99999999)}"
    else:
        given = draws.pick(draws.own(_GIVEN))
        kept = family or draws.pick(draws.own(_FAMILY))
        name, latin = f"{given} {kept}", f"{given}.{kept}".lower()
        digits = draws.between(1000000, 9999999)
        phone = f"555-{digits // 10000:03d}-{digits % 10000:04d}"
    return PhonePerson(name, latin, kept, phone, f"{latin}@{draws.pick(_DOMAINS)}")
