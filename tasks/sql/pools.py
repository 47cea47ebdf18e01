"""Pools of names of people, places and things; splits share no names.

A pool has two lists of words; each split owns every fourth word of both lists, and a name joins one
word from each. If a table needs more names, middle initials or numerals distinguish them.
"""

from functools import lru_cache

from hexathlon.tasks.task import SPLITS, Split

_BRANDS = """Amber Blue Comet Dusk Echo Falcon Galaxy Halo Indigo Jaguar Kite Lion Mirage North
    Orbit Phoenix Quartz Raven Silver Tiger Umbra Velvet Wolf Zenith Arrow Bison Cobra Dragon
    Ember Fox Granite Hawk Iris Jade Koala Lynx Meteor Nova Onyx Puma"""
"""First words of studios and developers."""
_POOLS: dict[str, tuple[str, str]] = {
    "person": (
        """Ada Boris Clara Dmitri Elena Farid Greta Hugo Ines Jonas Keiko Lars Mira Nadia Oscar
        Petra Quentin Rosa Samir Tilda Ugo Vera Wanda Xenia Yusuf Zoe Anton Bela Carmen Dario Esme
        Felix Gita Hanna Ivan Jana Karim Lena Marco Noor Olga Pavel Rafa Selma Tomas Uma Viktor
        Wes Yara Zeno Alma Bruno Celia Dora Emil Flora Goran Heidi Igor Julia Kofi Livia Milan
        Nina Otto Paula Rene Sofia Theo Ulla Vito Willa Yoko Zara""",
        """Abel Brandt Castro Dahl Egger Fabre Gallo Haddad Ibsen Jansen Kovac Lund Moreau Novak
        Okafor Pereira Quist Rossi Sato Toth Ueda Varga Weber Xu Yilmaz Zeman Adler Bauer Conti
        Duarte Engel Ferrer Gruber Hansen Ito Juhl Keller Lopez Meyer Nagy Ozan Petit Reyes Silva
        Tanaka Urban Vidal Wolff Young Zorn Amado Berg Costa Duval Ekman Falk Greco Horvat Ilic
        Jokinen Klein Lemos Marin Nilsen Olsen Pohl Rojas Stein Takacs""",
    ),
    "city": (
        """Alder Birch Cedar Dun East Fair Glen Haw Iron Jasper Kings Lake Mill North Oak Pine
        Quarry Red Silver Thorn Upper Vale West Yew Amber Black Clear Deep Elm Frost Green High
        Ivy Long Maple New Old Port Queens River Stone Tall Under Violet White Wind""",
        """bridge bury dale field ford gate haven hurst land ley mere minster moor mouth port shaw
        stead ton vale wick worth wood by combe cross den fell garth head holm""",
    ),
    "place": (
        """Abbey Beacon Canal Dock Exchange Foundry Garden Harbour Island Junction Kiln Lantern
        Market Nelson Orchard Palace Quay Ridge Station Temple Union Viaduct Windmill York Arsenal
        Bastion Castle Drury Elgin Forum Granary Heath Imperial Jubilee Kestrel Linden Meridian
        Norfolk Oriel Parade""",
        """Square Street Hall Corner Court Gate House Lane Park Place Plaza Point Row Terrace
        Tower Walk Yard Green Centre Arcade Cross Crescent Wharf Mews""",
    ),
    "company": (
        """Acorn Basalt Cobalt Delta Ember Falcon Granite Horizon Indigo Juniper Keystone Lumen
        Mistral Nimbus Onyx Pioneer Quartz Rubicon Summit Tundra Umber Vector Willow Xylo Yonder
        Zephyr Argon Boreal Cirrus Dynamo Everest Fathom Glacier Helix Ion Jupiter Krypton
        Lattice Magnet Nova""",
        """Brothers Works Trading Supply Partners Industries Group Labs Systems Traders Mills
        Foods Logistics Motors Textiles Tools Networks Studios Holdings Services""",
    ),
    "product": (
        """Alpine Breezy Compact Durable Elegant Folding Gentle Heavy Insulated Junior Knitted
        Light Modern Narrow Original Portable Quiet Robust Slim Tall Urban Vintage Wide Zippered
        Bright Classic Double Everyday Fine Grand Handy Initial Jolly Large Mini Natural""",
        """basket blanket bottle bowl brush bucket candle chair clock cushion desk drill fan
        flask fork frame glove hammer hook jar kettle knife ladder lamp mat mirror mug pan pillow
        plate rack rake rope rug saw scale shelf spade spoon stool table tent towel tray vase
        whisk""",
    ),
    "title": (
        """Autumn Broken Crimson Distant Endless Fallen Golden Hidden Iron Jade Kindred Lost
        Midnight Nameless Open Paper Quiet Rising Silent Tender Unseen Velvet Wandering Yellow
        Bitter Cold Dancing Empty Faithful Glass Hollow Inner Last Moonlit Northern Orphan""",
        """Anchor Bridge Castle Daughter Empire Forest Garden Horizon Island Journey Kingdom
        Letter Mirror Night Ocean Promise Question River Shadow Tide Umbrella Voyage Winter
        Zodiac Archive Beacon Compass Dream Echo Feather Harvest Lantern Meadow Orchard Portrait
        Rain""",
    ),
    "course": (
        """Advanced Basic Comparative Discrete Empirical Formal General Historical Introductory
        Linear Modern Numerical Organic Practical Quantum Rural Social Theoretical Urban Applied
        Classical Digital Economic Financial""",
        """Algebra Biology Chemistry Design Ecology Finance Geometry History Informatics Law
        Logic Mechanics Music Optics Philosophy Rhetoric Statistics Surveying Topology Zoology
        Anatomy Botany Calculus Drama""",
    ),
    "medicine": (
        """Alvo Beni Cardo Dermo Ento Fluvo Galo Hemo Imu Juno Kelo Lumo Mero Nefro Orto Pulmo
        Quino Rino Sero Toxi Uro Vaso Xero Zeno Algo Brono Cefo Digo Ebro Fero Glico Hypno Iso
        Lipo Mono Neuro Osto Perio Relo Somno""",
        """cet dine fort gel line lor mint pax prin rax san tine vex xan zol zen""",
    ),
    "insurer": (
        """Acorn Bridge Civic Dover Equal Family Guardian Harbour Imperial Jubilee Keystone
        Lantern Mariner Northern Oak Provident Regent Shield Trident United Victoria Western
        Anchor Beacon Crown Delta Evergreen First General Heritage Ivy Liberty""",
        """Assurance Benefit Care Cover Health Insurance Life Mutual Protect Provision Surety
        Trust Union Welfare Alliance Fund""",
    ),
    "farm": (
        """Alder Barley Clover Drake Elm Fern Gorse Hazel Ivy Juniper Kestrel Lark Meadow Nettle
        Otter Plover Quince Rook Sorrel Thistle Upland Vetch Willow Yarrow Ash Beech Cherry Dove
        Elder Finch Grouse Heron Ibis Jay Kite Linden Magpie Nut Oak Partridge""",
        """Farm Grange Acres Croft Barn Dairy Fields Holding Hill Manor Meadows Ranch Stead
        Pastures Cottage Mill""",
    ),
    "studio": (
        _BRANDS,
        """Pictures Films Studios Productions Media Entertainment Features Screen Light Works
        Arts Visions Motion Frame House Reel""",
    ),
    "developer": (
        _BRANDS,
        """Games Interactive Softworks Studios Play Digital Labs Forge Arcade Code Bytes Pixel
        Engine Workshop Logic Loop""",
    ),
    "publisher": (
        """Amber Birch Cedar Dover Eastgate Fairfield Grange Holm Ivory Juniper Kingsway Linden
        Maple Norwood Orchard Parkside Quill Rosewood Sterling Thornton Upton Vine Westbrook
        Yarrow Ashford Bramble Corner Dale Elmwood Ferris Glen Hawthorn""",
        """Press Books House Editions Publishing Paperbacks Classics Library Print Pages Letters
        Volumes Reprints Titles Folio Imprint""",
    ),
    "department": (
        """Central Regional Digital Domestic Field Global Corporate Technical Commercial Internal
        External Strategic Retail Wholesale Export Industrial Local Mobile Public Private Legal
        Medical Urban Rural""",
        """Sales Payroll Logistics Marketing Procurement Audit Planning Support Training Security
        Research Design Accounts Quality Maintenance Relations Analytics Compliance Services
        Operations""",
    ),
    "aircraft": (
        """Albatross Buzzard Condor Dove Eagle Falcon Gannet Harrier Ibis Jackdaw Kestrel Lark
        Merlin Nighthawk Osprey Petrel Quail Raven Swift Tern Vulture Wren Albion Bluebird
        Cormorant Drake Egret Fulmar Goshawk Heron""",
        """100 120 150 180 200 210 240 260 300 320 340 380 400 420 450 500""",
    ),
    "tariff": (
        """Basic Comfort Daily Eco Family Garden Home Indoor Junior Kitchen Local Mini Night
        Office Plus Quiet Rapid Smart Time Urban Village Weekend Active Bright Classic Direct
        Easy Fair Green Happy Independent Joint""",
        """Saver Fixed Flex Standard Online Choice Value Cap Tracker Budget Prime Bonus Light
        Direct Variable Bundle""",
    ),
    "article": (
        """Activating Adding Checking Cancelling Changing Connecting Deleting Editing Exporting
        Finding Importing Installing Joining Moving Printing Reading Removing Renaming Repairing
        Replacing Resetting Restoring Securing Sending Setting Sharing Sorting Starting Testing
        Tracking Updating Upgrading""",
        """accounts backups calendars contacts devices drivers files filters folders groups
        invoices keys labels licences lists logs mailboxes menus networks passwords printers
        profiles reports rules scanners servers tables tags templates updates users workspaces""",
    ),
    "software": (
        """Atlas Bolt Cloud Data Edge Flow Grid Hyper Insight Jet Kernel Link Meta Net Open Pulse
        Quick Rapid Sync Team Unity Vault Web Zip Alpha Beam Core Desk Easy Fast Go Help""",
        """Desk Hub Manager Studio Point Guard Board Box Suite Drive Mail Plan Track View Works
        Zone""",
    ),
    "campaign": (
        """Autumn Bargain Citywide December Early Family Grand Holiday Island January Late Member
        National Opening Partner Quick Returning Spring Summer Trial Weekend Winter Anniversary
        Birthday""",
        """Appeal Bonus Call Days Drive Event Fair Festival Gift Invitation Launch Offer Push
        Round Sale Season Special Tour Treat Week""",
    ),
}
_JOINED = frozenset({"city", "medicine"})
"""Pools whose two words are written as one."""


@lru_cache(maxsize=64)
def _words(pool: str, split: Split) -> tuple[tuple[str, ...], tuple[str, ...]]:
    offset = SPLITS.index(split)
    first, second = (text.split()[offset::4] for text in _POOLS[pool])
    return tuple(first), tuple(second)


def pool_size(pool: str, split: Split) -> int:
    """Return the number of names in the pool before initials or numerals are needed."""
    first, second = _words(pool, split)
    return len(first) * len(second)


def pool_name(pool: str, split: Split, index: int) -> str:
    """Return the name at `index` in the split's part of the pool; names are unique."""
    first, second = _words(pool, split)
    size = len(first) * len(second)
    series, index = divmod(index, size)
    left, right = first[index % len(first)], second[index // len(first)]
    if pool in _JOINED:
        return left + right + (f" {_numeral(series)}" if series else "")
    if pool == "person" and series:
        return f"{left} {_initials(series)} {right}"
    return f"{left} {right}" + (f" {_numeral(series)}" if series else "")


def _initials(series: int) -> str:
    series, letter = divmod(series - 1, 26)
    own = chr(ord("A") + letter) + "."
    return f"{_initials(series)} {own}" if series else own


def _numeral(series: int) -> str:
    return str(series + 1)
