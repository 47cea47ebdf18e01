"""Cities and their offsets from the phone's time, in minutes, without daylight saving."""

from hexathlon.tasks.bilingual import Language

__all__ = ["CITIES", "city_name"]

CITIES = {
    "accra": ("Accra|阿克拉", 0), "adelaide": ("Adelaide|阿德莱德", 570),
    "athens": ("Athens|雅典", 120), "auckland": ("Auckland|奥克兰", 720),
    "bangkok": ("Bangkok|曼谷", 420), "beijing": ("Beijing|北京", 480),
    "berlin": ("Berlin|柏林", 60), "bogota": ("Bogotá|波哥大", -300),
    "brussels": ("Brussels|布鲁塞尔", 60), "bucharest": ("Bucharest|布加勒斯特", 120),
    "cairo": ("Cairo|开罗", 120), "chicago": ("Chicago|芝加哥", -360),
    "denver": ("Denver|丹佛", -420), "dhaka": ("Dhaka|达卡", 360),
    "dubai": ("Dubai|迪拜", 240), "halifax": ("Halifax|哈利法克斯", -240),
    "hanoi": ("Hanoi|河内", 420), "honolulu": ("Honolulu|檀香山", -600),
    "istanbul": ("Istanbul|伊斯坦布尔", 180), "jakarta": ("Jakarta|雅加达", 420),
    "karachi": ("Karachi|卡拉奇", 300), "kathmandu": ("Kathmandu|加德满都", 345),
    "lima": ("Lima|利马", -300), "lisbon": ("Lisbon|里斯本", 0),
    "mumbai": ("Mumbai|孟买", 330), "nairobi": ("Nairobi|内罗毕", 180),
    "oslo": ("Oslo|奥斯陆", 60), "santiago": ("Santiago|圣地亚哥", -240),
    "seoul": ("Seoul|首尔", 540), "singapore": ("Singapore|新加坡", 480),
    "sydney": ("Sydney|悉尼", 600), "tbilisi": ("Tbilisi|第比利斯", 240),
    "tehran": ("Tehran|德黑兰", 210), "tokyo": ("Tokyo|东京", 540),
    "toronto": ("Toronto|多伦多", -300), "vancouver": ("Vancouver|温哥华", -480),
}  # fmt: skip
"""By key: names in English and Chinese, and minutes ahead of the phone's time."""


def city_name(key: str, language: Language) -> str:
    """Return the name of a city."""
    return CITIES[key][0].split("|")[1 if language == "zh" else 0]
