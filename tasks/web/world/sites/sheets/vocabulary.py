"""Names of sheets, columns and values, in English and Chinese, and pools of content."""

from hexathlon.tasks.bilingual import Language

__all__ = ["CATEGORIES", "CURRENCIES", "STATUSES", "heading", "said"]

CATEGORIES = ("Travel=差旅", "Meals=餐饮", "Lodging=住宿", "Equipment=设备", "Training=培训",
              "Software=软件")  # fmt: skip
STATUSES = ("submitted=已提交", "approved=已批准", "rejected=已驳回", "paid=已支付")
CURRENCIES = ("EUR", "USD", "GBP", "CHF")
REGIONS = ("North=北区", "South=南区", "East=东区", "West=西区")

CITIES = (
    "Leeds=利兹", "Turin=都灵", "Porto=波尔图", "Ghent=根特", "Malmö=马尔默", "Graz=格拉茨",
    "Basel=巴塞尔", "Lille=里尔", "Bremen=不来梅", "Bilbao=毕尔巴鄂", "Tampere=坦佩雷", "Gdansk=格但斯克",
    "Split=斯普利特", "Brno=布尔诺", "Cork=科克", "Aarhus=奥胡斯", "Utrecht=乌得勒支", "Nantes=南特",
    "Verona=维罗纳", "Rostock=罗斯托克", "Bergen=卑尔根", "Tartu=塔尔图", "Linz=林茨", "Dundee=邓迪",
)  # fmt: skip
FUNCTIONS_OF_TEAMS = ("Support=客服", "Sales=销售", "Logistics=物流", "Research=研发", "Training=培训",
                      "Repairs=维修")  # fmt: skip
ITEMS = (
    "hand drill=手电钻", "work lamp=工作灯", "cable drum=电缆盘", "safety boots=安全鞋", "tape measure=卷尺",
    "socket set=套筒组", "paint tray=漆盘", "pipe clamp=管夹", "wall anchor=墙体锚栓", "dust mask=防尘口罩",
    "spirit level=水平尺", "angle grinder=角磨机", "heat gun=热风枪", "ladder hook=梯钩", "glue gun=胶枪",
    "bit holder=批头座", "saw blade=锯片", "work gloves=工作手套", "tool belt=工具腰带", "chalk line=墨斗线",
    "torch battery=手电电池", "cable tie=扎带", "rivet gun=铆钉枪", "wood screw=木螺钉", "putty knife=腻子刀",
    "hex key=内六角扳手", "mixing paddle=搅拌桨", "nail puller=起钉器", "vice grip=大力钳", "wire brush=钢丝刷",
    "floor jack=千斤顶", "welding rod=焊条",
)  # fmt: skip
VARIANTS = (
    "small=小号",
    "medium=中号",
    "large=大号",
    "pro=专业型",
    "set of 4=四件套",
    "spare=备用件",
)
SUPPLIERS = (
    "Norrbo", "Caldera Tools", "Ferrand & Fils", "Ostwerk", "Bluegate Supply", "Tamaro", "Kvist",
    "Lindholm Trade", "Marenco", "Pallas Hardware", "Ridgeway", "Sundet", "Torvald", "Umbra Works",
    "Vantor", "Weyland Parts", "Alder & Co", "Brevik", "Castell", "Dorrance", "Elbrus", "Fjordane",
    "Gantry Bros", "Hollin",
)  # fmt: skip

_HEADINGS = {
    "team": "Team=团队", "centre": "Cost centre=成本中心", "q1": "Q1=一季度", "q2": "Q2=二季度",
    "q3": "Q3=三季度", "q4": "Q4=四季度", "total": "Total=合计", "sku": "SKU=货号", "item": "Item=品名",
    "warehouse": "Warehouse=仓库", "hand": "On hand=库存", "reserved": "Reserved=已预留",
    "level": "Reorder level=补货线", "pack": "Pack size=包装数", "supplier": "Supplier=供应商",
    "cost": "Unit cost=单价", "status": "Status=状态", "replacement": "Replacement=替代供应商",
    "minimum": "Minimum order=最低订购额", "days": "Lead days=交货天数", "claim": "Claim=单号",
    "date": "Date=日期", "person": "Person=姓名", "category": "Category=类别", "amount": "Amount=金额",
    "currency": "Currency=币种", "receipt": "Receipt=票据", "note": "Note=备注", "from": "Valid from=生效日",
    "rate": "EUR per unit=折合欧元", "number": "No.=序号", "decided": "Decided by=决定人", "rule": "Rule=规定",
    "order": "Order=订单", "region": "Region=区域", "rep": "Rep=销售代表", "units": "Units=数量",
    "price": "Unit price=单价", "discount": "Discount %=折扣%", "role": "Role=岗位", "limit": "Limit=上限",
    "away": "Away from=离开日", "back": "Back on=返回日", "skill": "Field=领域", "quantity": "Quantity=数量",
    "count": "Count=数目", "component": "Component=组件", "booking": "Booking=预订号",
    "purpose": "Purpose=用途", "budget": "Budget=预算", "spent": "Spent=已用",
    "lead": "Lead=主管",
    "deputy": "Deputy=代理人",
    "since": "Deputy from=代理起",
    "until": "Deputy until=代理止",
    # Names of sheets.
    "Leads": "Leads=主管表",
    "Budget": "Budget=预算表", "Stock": "Stock=库存表", "Suppliers": "Suppliers=供应商表",
    "Order list": "Order list=订购单", "Rules": "Rules=规定表", "Claims": "Claims=报销表",
    "Rates": "Rates=汇率表", "Orders": "Orders=订单表", "Targets": "Targets=目标表",
    "Roster": "Roster=人员表", "Report": "Report=报告表", "Trips": "Trips=差旅表",
}  # fmt: skip


def said(text: str, language: Language) -> str:
    """Return one side of `English=中文`; the text itself if it has one side."""
    english, _, chinese = text.partition("=")
    return chinese if language == "zh" and chinese else english


def heading(key: str, language: Language) -> str:
    """Return the name of a column or of a sheet."""
    return said(_HEADINGS[key], language)
