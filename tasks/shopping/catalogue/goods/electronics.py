"""Electronics: headphones, power banks, keyboards."""

from hexathlon.tasks.shopping.catalogue.goods.words import (
    WARRANTY,
    attribute,
    category,
    colours,
    option,
    scale,
)

__all__ = ["CATEGORIES"]

_HEADPHONES = category(
    "headphones",
    "Headphones | 耳机",
    "Electronics | 数码",
    (35, 320),
    """
over_ear | over-ear headphones | 头戴式耳机
on_ear | on-ear headphones | 贴耳式耳机
studio | studio headphones | 监听耳机
""",
    (
        attribute("link", "Connection | 连接方式", "title", """
bluetooth | Bluetooth | 蓝牙 | plays without any cable from a phone / needs no wire at all | 不用插线就能连手机 / 完全不要线
dongle | 2.4 GHz wireless | 2.4G无线 | talks to a console through a little USB stick / has no lag with the plug-in receiver | 靠插在主机上的小接收器传声 / 配接收器打游戏不延迟
jack | 3.5 mm wired | 3.5毫米有线 | plugs into the round audio socket / goes into a classic music socket | 插圆孔就能用 / 接传统音频口
usb_c | USB-C wired | USB-C有线 | plugs straight into the charging port of a phone / connects by the oval port | 直接插手机充电口 / 用扁口连接
"""),  # fmt: skip
        attribute("silence", "Noise control | 降噪", "title", """
active | active noise cancelling | 主动降噪 | makes the engine hum on a plane vanish / blots out the train around me | 坐飞机听不见发动机轰鸣 / 地铁里也听不到周围声音
passive | passive isolation | 被动隔音 | dampens the surroundings without electronics / keeps the room out by its cushions alone | 不靠电子也能挡住外面 / 单靠耳垫挡声
open | open back | 开放式 | lets me hear the doorbell while music plays / leaves the ears airy | 听歌时还能听见门铃 / 耳朵透气不闷
"""),  # fmt: skip
        attribute("pads", "Ear pads | 耳垫", "feature", """
leather | protein leather pads | 蛋白皮耳垫 | has cushions that wipe clean / has smooth cushions | 垫子一擦就干净 / 垫子表面光滑
velour | velour pads | 绒布耳垫 | has cushions soft as a teddy bear / has fuzzy cushions | 垫子毛茸茸的 / 垫子像玩具熊一样软
mesh | cooling mesh pads | 冰感网布耳垫 | has cushions that stay dry in summer / does not make the ears sweat | 夏天垫子不闷汗 / 戴久耳朵不出汗
""", plain="has {} | 用{}"),  # fmt: skip
        attribute("folding", "Folding | 折叠", "feature", """
flat | folds flat | 可平折 | turns thin enough for a laptop sleeve / lies down like a book | 能放平塞进电脑包 / 像书一样躺平
ball | folds into a ball | 可球形折叠 | curls up small for a coat pocket / tucks itself together | 能缩成一小团放进口袋 / 能蜷起来收纳
rigid | rigid frame | 固定框架 | has no hinges that could break / is built in one stiff piece | 没有会断的铰链 / 一体不能弯
""", plain="{} | {}"),  # fmt: skip
        scale("battery", "Battery life | 续航", "specification", (18, 30, 45, 60), "{} h | {}小时",
              "keeps playing at least {} hours before it needs the charger / lasts {} hours or longer away from a socket | 充一次电至少能听{}小时 / 不插电能用{}小时以上"),  # fmt: skip
        scale("driver", "Driver | 单元直径", "specification", (30, 40, 50), "{} mm | {}毫米",
              "has speakers at least {} millimetres across / moves air with {} millimetres or wider | 喇叭口径不小于{}毫米 / 发声部件{}毫米起"),  # fmt: skip
        attribute("codec", "Audio codec | 音频编码", "specification", """
sbc | SBC only | 仅SBC | does with the most basic sound format / speaks nothing but the standard sound language | 只要最基础的传音格式 / 通用传音格式就够
aac | AAC | AAC | suits the sound format that iPhones prefer / sounds its best from an iPhone | 配苹果手机音质最好 / 支持苹果常用的传音格式
ldac | LDAC | LDAC | receives hi-res sound from an Android phone / gets near-studio quality over the air | 配安卓能听高解析音乐 / 无线也接近录音室音质
"""),  # fmt: skip
        attribute("clamp", "Fit on the head | 佩戴", "review", """
gentle | gentle clamp | 夹力轻 | does not squeeze after hours of wear / sits lightly even with glasses | 戴几个小时头也不疼 / 戴眼镜也不压 | After a whole flight I forgot I had them on, no pressure at all. / I wear glasses and nothing pinches. | 飞了一路都忘了戴着它，一点不压头。/ 我戴眼镜，完全不夹。
firm | firm clamp | 夹力紧 | stays put while jogging / does not slip off when I look down | 跑步也不会掉 / 低头不会滑下来 | They hold on tight; I run in them and they never move. / Grips my head hard, which I need at the gym. | 夹得很牢，跑步纹丝不动。/ 抱头很紧，健身正需要。
""", plain="has a {} | {}"),  # fmt: skip
        attribute("calls", "Call quality | 通话", "review", """
clear | clear calls | 通话清晰 | lets others understand me on a windy street / is good for phoning outdoors | 大风天打电话对方也听得清 / 适合户外打电话 | My mother hears every word even when I phone from the windy bridge. / Colleagues say my voice is crisp in meetings. | 在桥上顶着风打电话，妈妈也听得一字不差。/ 同事说我开会声音很清楚。
hollow | hollow calls | 通话发闷 | may sound distant on the phone, I only listen / need not be good for phoning | 打电话差些没关系，只听歌 / 通话一般也行 | On the phone people say I sound as if in a tin. / Fine for music, but callers hear me from far away. | 打电话别人说我像在罐子里。/ 听歌不错，通话像隔得很远。
""", plain="has {} | {}"),  # fmt: skip
    ),
    (colours("black", "white", "navy", "sand", "red", "green", "lavender", "grey"),),
    """
The {} was tuned by people who listen for a living. | {}由靠耳朵吃饭的人调校。
Every {} leaves the line only after a listening test. | 每一副{}出厂前都经过试听。
Spare parts for the {} can be ordered one by one. | {}的配件都可以单独购买。
""",
    """
Sounds great for the money, voices are warm. | 这个价位音质很好，人声温暖。
Arrived well packed and paired at once. | 包装完好，一连就通。
I had another brand before; this one feels better made. | 之前用别的牌子，这副做工更好。
The box is nice enough to give away. | 盒子很体面，送人也行。
""",
)

_POWER_BANKS = category(
    "power_banks",
    "Power banks | 移动电源",
    "Electronics | 数码",
    (16, 110),
    """
slim | slim power bank | 超薄充电宝
magnetic | magnetic power bank | 磁吸充电宝
rugged | rugged power bank | 户外充电宝
""",
    (
        scale("capacity", "Capacity | 容量", "title", (5000, 10000, 20000, 27000), "{} mAh | {}毫安",
              "holds {} milliampere-hours or more / stores at least {} in the usual battery figure | 电量不少于{} / 能存{}以上的电"),  # fmt: skip
        attribute("ports", "Ports | 接口", "title", """
one_c | single USB-C | 单USB-C口 | feeds one device through one oval socket / has a lone modern socket | 只要一个新式扁口 / 一次只充一台就行
two_c | dual USB-C | 双USB-C口 | fills two modern phones together / has a pair of oval sockets | 能同时给两台新手机充 / 有一对新式扁口
mixed | USB-C and USB-A | USB-C加USB-A | also takes old rectangular plugs / serves new and old cables | 老式方口线也能插 / 新旧线都能用
"""),  # fmt: skip
        attribute("display", "Charge display | 电量显示", "feature", """
digits | numeric display | 数字屏显 | tells the remaining percentage exactly / shows how full it is to the point | 剩多少电一目了然到个位 / 能看到精确百分比
lights | four LEDs | 四灯指示 | shows a rough level with little lamps / blinks how full it is | 用小亮点大概提示 / 看几个小点就知道余量
none | no display | 无显示 | has nothing that glows at night / stays dark | 晚上不发光 / 完全不亮
""", plain="has {} | {}"),  # fmt: skip
        attribute("cable", "Built-in cable | 自带线", "feature", """
lanyard | lanyard cable | 挂绳线 | hangs from the wrist by its own wire / can be carried by its own loop | 能用自带的线挂在手腕 / 线还能当提绳
tucked | tucked-away cable | 隐藏式线 | brings its own wire in a groove / never leaves me searching for a wire | 机身凹槽里就有线 / 不用另外找线
none | no cable | 无自带线 | comes without any wire, I have plenty / leaves the wire to me | 线我自己有 / 不必配线
""", plain="has a {} | {}"),  # fmt: skip
        scale("power", "Output power | 输出功率", "specification", (15, 30, 65, 100), "{} W | {}瓦",
              "can push {} watts or more / fills a device at {} watts at least | 充电速度至少{}瓦 / 能跑到{}瓦以上"),  # fmt: skip
        attribute("cell", "Cell type | 电芯", "specification", """
polymer | lithium polymer | 锂聚合物 | uses soft flat cells / has the pouch sort of battery inside | 里面是软包的那种电池 / 用扁平软电池
cylinder | 21700 cells | 21700电芯 | uses round cells like an electric car / has the can sort of battery inside | 里面是汽车同款圆柱电池 / 用圆罐电池
phosphate | LiFePO4 | 磷酸铁锂 | uses the chemistry that hardly ever catches fire / lives for thousands of cycles | 用最不容易起火的那种电池 / 能循环几千次
"""),  # fmt: skip
        attribute("flight", "Cabin approval | 登机许可", "specification", """
yes | cabin approved | 可登机 | may fly in hand luggage / passes airport security | 能随身带上飞机 / 过安检没问题
request | on request | 需申报 | may fly after asking the airline / is for travel by rail mostly | 坐飞机前问一声也行 / 主要坐火车用
no | cargo only | 仅限托运 | stays at home or in the car / never has to fly | 只放家里或车上 / 不坐飞机
""", plain="is {} | {}"),  # fmt: skip
        WARRANTY,
        attribute("heat", "Heat under load | 发热", "review", """
cool | stays cool | 不发热 | can be held while it works without burning the palm / does not warm my pocket | 用的时候放手里不烫 / 放口袋不会热 | Charging my tablet for an hour and it is still cool to the touch. / Never got warm in my pocket, not once. | 给平板充一小时摸着还是凉的。/ 放口袋里从来没热过。
warm | gets warm | 会发热 | may warm up a little, that is all right in winter / doubles as a hand warmer | 热一点没关系，冬天正好 / 顺便还能暖手 | Gets rather hot after twenty minutes. / In winter I use it to warm my hands, seriously. | 用二十分钟就挺烫。/ 冬天我拿它暖手，真的。
""", plain="{} | {}"),  # fmt: skip
    ),
    (colours("black", "white", "navy", "coral", "mustard", "teal", "grey"),),
    """
The {} is meant for days without a socket in sight. | {}为找不到插座的日子而生。
With the {} in the bag a long day ends with a full phone. | 包里有{}，一天下来手机还是满的。
The shell of the {} survives a fall from a table. | {}的外壳从桌上掉下来也没事。
""",
    """
Fits the hand and the price is fair. | 手感合适，价格公道。
Second one that I bought, for my sister this time. | 第二次买，这次给妹妹。
Came a day early, works as it should. | 提前一天到货，用着正常。
A bit heavier than I thought but fine. | 比想象的重一点，但还行。
""",
)

_KEYBOARDS = category(
    "keyboards",
    "Keyboards | 键盘",
    "Electronics | 数码",
    (45, 230),
    """
mechanical | mechanical keyboard | 机械键盘
gaming | gaming keyboard | 游戏键盘
office | office keyboard | 办公键盘
""",
    (
        attribute("layout", "Layout | 配列", "title", """
full | full-size | 全尺寸 | has the block of figures on the right for bookkeeping / has every key there is | 右边带数字区方便记账 / 一个键都不少
tkl | tenkeyless | 87键 | leaves out the block of figures / leaves room for the mouse but keeps arrows and F-row | 不要右边那块数字区 / 给鼠标多留地方
sixty | 60 percent | 60%配列 | is as tiny as it gets, even without arrows / takes a third of the desk space | 小到连方向键都省了 / 越小越好
split | split ergonomic | 分体人体工学 | comes in two halves for the shoulders / lets my wrists lie straight | 左右两半各放一边 / 手腕能放直
"""),  # fmt: skip
        attribute("switch", "Switches | 轴体", "title", """
linear | linear switches | 线性轴 | goes down smoothly without a bump / has keys that glide all the way | 按下去一路顺滑没有段落 / 直上直下
tactile | tactile switches | 段落轴 | gives a small bump under the finger without noise / lets me feel when a key has triggered | 有手感提示但不响 / 触发时手指能感到一顿
clicky | clicky switches | 青轴 | sounds like a typewriter / makes a crisp noise at each press | 打字像老式打字机 / 每按一下都有脆响
"""),  # fmt: skip
        attribute("light", "Backlight | 背光", "feature", """
rainbow | RGB backlight | RGB背光 | glows in all the colours of the rainbow / puts on a light show | 五颜六色会发光 / 像灯光秀一样
white | white backlight | 白色背光 | lets me read the keys in the dark without a disco / has plain pale lighting | 夜里看得清键又不花哨 / 只要素净的光
none | no backlight | 无背光 | does not shine at all / saves power by staying dark | 完全不发光 / 不亮灯省电
""", plain="has {} | {}"),  # fmt: skip
        attribute("caps", "Keycaps | 键帽", "feature", """
pbt | PBT keycaps | PBT键帽 | has tops that never turn shiny / keeps its rough feel for years | 用几年也不打油 / 表面一直是磨砂感
abs | ABS keycaps | ABS键帽 | has smooth glossy tops / may wear shiny, as long as it is cheap plastic | 表面光滑亮泽 / 普通塑料的就行
resin | resin keycaps | 树脂键帽 | has see-through tops like sweets / looks like candied glass | 像糖果一样透明 / 晶莹剔透的
""", plain="has {} | {}"),  # fmt: skip
        attribute("link", "Connection | 连接方式", "specification", """
wired | USB cable | USB线 | hangs on a wire so that it never runs out / cannot be jammed by radio | 插着用永远不会没电 / 不受无线干扰
bluetooth | Bluetooth 5.2 | 蓝牙5.2 | pairs with a tablet through the air / needs neither receiver nor wire | 不用接收器就能连平板 / 隔空连平板
triple | tri-mode | 三模 | works by wire, by stick and through the air / offers all three ways to join | 有线无线接收器都支持 / 三种连法都有
"""),  # fmt: skip
        attribute("hotswap", "Hot swap | 热插拔", "specification", """
yes | hot-swappable | 支持热插拔 | lets me change what is under the keys without soldering / can be rebuilt at the kitchen table | 不用焊就能换轴 / 自己在家就能改装
no | soldered | 焊接 | is put together for good / never needs tinkering | 不折腾不改装 / 一次装死就好
""", plain="is {} | {}"),  # fmt: skip
        scale("memory", "Profiles | 板载配置", "specification", (1, 3, 5), "{} onboard profiles | {}组板载配置",
              "remembers at least {} sets of settings by itself / keeps {} or more set-ups without software | 自己能记住至少{}套设置 / 不装软件也存得下{}套设置"),  # fmt: skip
        WARRANTY,
        attribute("noise", "Sound in use | 使用声音", "review", """
quiet | quiet | 安静 | does not wake the baby next door / can be used in a library | 打字不吵醒孩子 / 图书馆里也能用 | My baby sleeps in the same room while I type, not a stir. / In the reading room nobody ever turned round. | 孩子在旁边睡，我打字他都没动一下。/ 在阅览室打字没人回头。
loud | loud | 响亮 | may be heard in the whole flat / announces to everybody that I am working | 整个屋子听见也无妨 / 就要别人听到我在干活 | The whole office knows when I write a mail. / My flatmate hears it through two doors. | 我一写邮件全办公室都知道。/ 隔两道门室友都听得见。
""", plain="is {} | {}"),  # fmt: skip
    ),
    (
        colours("black", "white", "grey", "lavender", "green", "coral", "navy"),
        option("legend", "Legends | 键位印刷", """
us | US legends | 美式
uk | UK legends | 英式
german | German legends | 德式
french | French legends | 法式
nordic | Nordic legends | 北欧
japanese | Japanese legends | 日式
blank | blank legends | 无刻
""", plain="comes with {} | 是{}键位"),  # fmt: skip
    ),
    """
The {} was drawn by people who type all day. | {}的设计者自己整天都在打字。
A heavy plate keeps the {} where it is. | 厚重的定位板让{}稳稳不动。
The {} comes with a puller and a spare foot. | {}附赠拔键器和备用脚垫。
""",
    """
Good feel from the first day. | 第一天手感就不错。
Took a week to get used to, now I love it. | 用了一周习惯了，现在很喜欢。
The cable of my old one broke; this seems sturdier. | 旧的那把线断了，这把结实些。
Looks tidy on the desk. | 放桌上很整洁。
""",
)

CATEGORIES = (_HEADPHONES, _POWER_BANKS, _KEYBOARDS)
