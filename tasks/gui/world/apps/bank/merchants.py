"""Merchants that take card payments, by category, in English and Chinese."""

__all__ = ["EMPLOYERS", "MERCHANTS", "PAYEE_FIRMS"]

MERCHANTS = (
    ("Cafe Linden|菩提咖啡馆", "food"), ("Cafe Lindo|林多咖啡馆", "food"),
    ("Bakery Hofer|霍夫面包房", "food"), ("Bakery Hoffner|霍夫纳面包房", "food"),
    ("Green Basket|绿篮超市", "groceries"), ("Green Market|绿地市集", "groceries"),
    ("Corner Grocer|街角杂货店", "groceries"), ("Fresh & Near|近鲜超市", "groceries"),
    ("City Rail|城市铁路", "transport"), ("City Bikes|城市单车", "transport"),
    ("Metro Top-up|地铁充值", "transport"), ("Airport Express|机场快线", "transport"),
    ("Paper Lane|纸巷书店", "shopping"), ("Paperworks|纸品工坊", "shopping"),
    ("Nordic Home|北欧家居", "shopping"), ("Home & Hall|厅堂家居", "shopping"),
    ("Riverside Cinema|河畔影院", "leisure"), ("River Theatre|江边剧院", "leisure"),
    ("Climbing Hall|攀岩馆", "leisure"), ("Swim Centre|游泳中心", "leisure"),
    ("Noodle Yard|面院", "food"), ("Noodle House|面馆人家", "food"),
    ("Sushi Kaze|风寿司", "food"), ("Pizzeria Alba|阿尔巴比萨", "food"),
    ("Market Hall|市场大厅", "groceries"), ("Daily Greens|每日鲜蔬", "groceries"),
    ("Oak Pharmacy|橡树药房", "health"), ("Old Town Pharmacy|老城药房", "health"),
    ("Park Dental|公园牙科", "health"), ("Vision Plus|明视眼镜", "health"),
    ("Taxi Union|联合出租", "transport"), ("Parking Mitte|中心停车场", "transport"),
    ("Thread & Needle|针线铺", "shopping"), ("Denim Works|牛仔工坊", "shopping"),
    ("Toy Attic|玩具阁楼", "shopping"), ("Garden Depot|园艺仓库", "shopping"),
    ("Museum of Glass|玻璃博物馆", "leisure"), ("Jazz Cellar|爵士地窖", "leisure"),
    ("Boat Rental|游船租赁", "leisure"), ("Bowling Nord|北区保龄球馆", "leisure"),
    ("Tea Room Ida|艾达茶室", "food"), ("Tea House Mei|梅茶楼", "food"),
    ("Burger Dock|码头汉堡", "food"), ("Burger Deck|甲板汉堡", "food"),
    ("Organic Corner|有机角", "groceries"), ("Fish Quay|鱼码头", "groceries"),
    ("Cheese Cellar|奶酪窖", "groceries"), ("Fruit Stand 7|七号水果摊", "groceries"),
    ("Bus Lines West|西线巴士", "transport"), ("Ferry Office|渡轮售票处", "transport"),
    ("Charge Point|充电站", "transport"), ("Car Wash Blitz|闪电洗车", "transport"),
    ("Lamp Studio|灯具工作室", "shopping"), ("Lamp Store|灯饰店", "shopping"),
    ("Book Barn|书仓", "shopping"), ("Shoe Maker|鞋匠铺", "shopping"),
    ("Sauna Park|桑拿公园", "leisure"), ("Skate Arena|滑冰场", "leisure"),
    ("Open Air Stage|露天舞台", "leisure"), ("Chess Club|棋社", "leisure"),
)  # fmt: skip
"""Pairs of `English|Chinese` and a category; each merchant has similar ones in other splits."""

PAYEE_FIRMS = (
    "Nordwind Energy|北风能源", "Stadtwerk Water|城市水务", "Linden Property|菩提物业",
    "Atlas Insurance|阿特拉斯保险", "Fibernet|光纤网络", "Hausmann Rentals|豪斯曼租赁",
    "Blue Phone|蓝色通信", "Union Fitness|联合健身", "Sonnen Power|太阳电力",
    "Tower Estates|塔楼地产", "Safe & Sound Cover|安心保险", "Clearline Telecom|清线电信",
    "Garden Co-op|花园合作社", "Lake Heating|湖区供暖", "Rowan Letting|花楸房屋出租",
    "Quick Net|快网", "Elm Nursery School|榆树幼儿园", "Music School Ost|东区音乐学校",
    "Harbour Storage|港口仓储", "City Library|市图书馆", "Tax Office|税务局",
    "Vet Clinic Moor|沼泽宠物诊所", "Allotment Club|菜园会", "Ski Club|滑雪俱乐部",
)  # fmt: skip

EMPLOYERS = (
    "Brandt Logistics|勃兰特物流", "Keller Design|凯勒设计", "Orion Labs|猎户座实验室",
    "Mill Street Press|磨坊街出版社", "Vela Software|船帆软件", "Anker Shipping|安克航运",
    "Borealis Foods|极光食品", "Fenster Glass|芬斯特玻璃",
)  # fmt: skip
