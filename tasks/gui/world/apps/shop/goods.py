"""The shop's goods: kinds, brands and variants, in English and Chinese."""

__all__ = ["BRANDS", "GOODS", "SHOP_CATEGORIES"]

SHOP_CATEGORIES = ("kitchen", "garden", "electronics", "sports", "office")

GOODS = (
    ("Kettle|电水壶", "kitchen", 1900, 7900, ("1.0 L", "1.5 L", "1.7 L")),
    ("Chef's knife|主厨刀", "kitchen", 1500, 9900, ("16 cm", "20 cm", "24 cm")),
    ("Frying pan|平底锅", "kitchen", 1800, 8900, ("24 cm", "26 cm", "28 cm")),
    ("Coffee grinder|咖啡磨豆机", "kitchen", 2900, 14900, ("30 g", "60 g")),
    ("Watering can|浇水壶", "garden", 900, 3900, ("5 L", "8 L", "10 L")),
    ("Garden hose|花园水管", "garden", 1400, 6900, ("15 m", "20 m", "30 m")),
    ("Plant pot|花盆", "garden", 400, 2900, ("18 cm", "22 cm", "30 cm")),
    ("Pruning shears|修枝剪", "garden", 1200, 5900, ("19 cm", "22 cm")),
    ("Headphones|耳机", "electronics", 2900, 24900, ("black|黑色", "white|白色", "blue|蓝色")),
    ("Power bank|移动电源", "electronics", 1500, 6900, ("10 Ah", "20 Ah")),
    ("USB-C cable|USB-C数据线", "electronics", 500, 2400, ("1 m", "2 m", "3 m")),
    ("Desk lamp|台灯", "electronics", 1900, 8900, ("black|黑色", "white|白色", "brass|黄铜色")),
    ("Yoga mat|瑜伽垫", "sports", 1500, 6900, ("4 mm", "6 mm", "8 mm")),
    ("Water bottle|运动水壶", "sports", 900, 3400, ("0.5 L", "0.75 L", "1.0 L")),
    ("Running belt|跑步腰包", "sports", 1200, 3900, ("S", "M", "L")),
    ("Skipping rope|跳绳", "sports", 600, 2900, ("2.8 m", "3.0 m")),
    ("Notebook|笔记本", "office", 400, 2400, ("A4", "A5", "A6")),
    ("Fountain pen|钢笔", "office", 1400, 12900, ("fine|细尖", "medium|中尖", "broad|粗尖")),
    ("Desk organiser|桌面收纳盒", "office", 900, 4900, ("3 trays|三层", "5 trays|五层")),
    ("Label printer|标签打印机", "office", 2900, 9900, ("12 mm", "24 mm")),
)  # fmt: skip
"""Name, category, lowest and highest price in cents, and variants."""

BRANDS = (
    "Arvo", "Arvid", "Belmont", "Belmar", "Corda", "Cordia", "Dunea", "Dunelm", "Elvan", "Elvar",
    "Fjorda", "Fjell", "Grano", "Granit", "Hestia", "Hester", "Isko", "Iskra", "Jolan", "Jolin",
    "Kanto", "Kantor", "Lumo", "Lumen", "Morva", "Morven", "Nordo", "Nordan", "Orlo", "Orlan",
    "Pelto", "Pelton",
)  # fmt: skip
