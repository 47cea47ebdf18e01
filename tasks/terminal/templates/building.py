"""Builds and C programs: Makefiles that leave stale results, programs that fail on large inputs."""

from hexathlon.tasks.terminal.draft import TerminalDraft, put, template

_MAKEFILE = """CC = gcc
CFLAGS = -O -Wall -Iinclude
PROG = {prog}
OBJS = main.o {unit}.o

all: $(PROG)

$(PROG): $(OBJS)
\t{link}

main.o: src/main.c {main_needs}
\t$(CC) $(CFLAGS) -c -o $@ src/main.c

{unit}.o: src/{unit}.c {unit_needs}
\t$(CC) $(CFLAGS) -c -o $@ src/{unit}.c

include/{table}.h: {table_from}
\tsh gen.sh data/{table}.def > $@

clean:
\trm -f $(PROG) {cleaned}

.PHONY: all clean
"""


@template("make_stale", ("tiny", "easy", "medium"), needs=("gcc", "libc6-dev", "make"))
def make_stale(draft: TerminalDraft) -> None:
    """A Makefile that does not build, or leaves results stale after a change."""
    dice = draft.dice
    prog, unit = draft.cast.names("service", 2)
    table, limit, fact = draft.cast.names("key", 3)
    values = [dice.whole(2, 90) for _ in range(4)]
    cap, add = dice.whole(500, 900), dice.whole(1, 40)
    draft.file(f"data/{table}.def", "".join(f"{value}\n" for value in values))
    draft.file(
        "gen.sh",
        "# turns a list of numbers into a C header\n"
        f'printf "static const int {table}[] = {{"\n'
        'while read -r number; do printf " %s," "$number"; done < "$1"\n'
        f'printf " 0 }};\\nenum {{ {table}_count = %d }};\\n" "$(wc -l < "$1")"\n',
    )
    draft.file(f"include/{limit}.h", f"#define CAP {cap}\n#define {fact.upper()} {add}\n")
    draft.file(
        f"src/{unit}.c",
        f'#include <math.h>\n#include "{limit}.h"\n'
        f"int {unit}(int x) {{ double y = floor(sqrt((double)x * x)) + {fact.upper()}; "
        "return y > CAP ? CAP : (int)y; }\n",
    )
    draft.file(
        "src/main.c",
        f'#include <stdio.h>\n#include <stdlib.h>\n#include "{table}.h"\nint {unit}(int);\n'
        "int main(int argc, char **argv) {\n"
        "    for (int i = 1; i < argc; i++)\n"
        f'        printf("%d\\n", {unit}(atoi(argv[i]) * {table}[(i - 1) % {table}_count]));\n'
        "    return 0;\n}\n",
    )
    right = {
        "link": "$(CC) -o $@ $(OBJS) -lm",
        "main_needs": f"include/{table}.h",
        "unit_needs": f"include/{limit}.h",
        "table_from": f"data/{table}.def gen.sh",
        "cleaned": f"*.o include/{table}.h",
    }
    wrong = {
        "link": "$(CC) -lm -Wl,--as-needed -o $@ main.o",
        "main_needs": "",
        "unit_needs": "",
        "table_from": "gen.sh",
        "cleaned": "*.o",
    }
    chosen = sorted(wrong) if draft.scale > 2 else ["link", "main_needs", "unit_needs"][:3]
    if draft.scale == 2:
        chosen = ["link", "main_needs", "table_from", "unit_needs"]

    def makefile(broken: list[str]) -> str:
        parts = {name: (wrong if name in broken else right)[name] for name in right}
        return _MAKEFILE.format(prog=prog, unit=unit, table=table, **parts)

    draft.file("Makefile", makefile(chosen))
    draft.say(
        f"`make` shall build the program {prog} from src/, include/{limit}.h and the header that "
        f"gen.sh makes from data/{table}.def, and `make clean` shall remove all that was built "
        "and nothing else. Mend the Makefile, and only that, so that this works from a fresh "
        "checkout, also with `make -j4`, and so that after a change of any file a plain `make` "
        "brings the program up to date. When nothing has changed, `make` leaves every file alone."
    )
    draft.keep("gen.sh", f"data/{table}.def", f"include/{limit}.h", f"src/{unit}.c", "src/main.c")
    held = [dice.whole(1, 30) for _ in range(6)]

    def output(numbers: list[int], top: int, plus: int) -> str:
        return "".join(
            f"{min(x * numbers[i % len(numbers)] + plus, top)}\n" for i, x in enumerate(held)
        )

    args = " ".join(map(str, held))
    build = "make -s >/dev/null 2>&1"
    fresh = "git init -q . 2>/dev/null; make -s clean >/dev/null 2>&1; "
    other = [dice.whole(2, 90) for _ in range(5)]
    draft.probe(
        "fresh",
        f"make -s clean >/dev/null; make -s -j4 >/dev/null 2>&1 && ./{prog} {args}",
        text=output(values, cap, add),
    )
    draft.probe(
        "header_changed",
        f"{build}; cp held/limit.h include/{limit}.h && {build} && ./{prog} {args}",
        files={"held/limit.h": f"#define CAP {cap - 99}\n#define {fact.upper()} {add + 7}\n"},
        text=output(values, cap - 99, add + 7),
    )
    draft.probe(
        "table_changed",
        f"{build}; cp held/table.def data/{table}.def && {build} && ./{prog} {args}",
        files={"held/table.def": "".join(f"{value}\n" for value in other)},
        text=output(other, cap - 99, add + 7),
    )
    listing = "find . -type f ! -path './.git/*' -printf '%p %T@\\n' | LC_ALL=C sort"
    draft.probe(
        "nothing_changed",
        f'{build}; before=$({listing}); {build} && test "$before" = "$({listing})" && '
        f"./{prog} {args}",
        text=output(other, cap - 99, add + 7),
    )
    draft.probe(
        "clean",
        f"{build}; make -s clean >/dev/null; find . -type f -path './[dis]*' | LC_ALL=C sort; "
        f"ls | grep -cxE '{prog}|.*[.]o'",
        exit=1,
        text="".join(
            f"./{name}\n"
            for name in sorted(
                [f"data/{table}.def", f"include/{limit}.h", "src/main.c", f"src/{unit}.c"]
            )
        )
        + "0\n",
    )
    del fresh
    draft.part("makefile", put("Makefile", makefile([])))
    for name in chosen:
        draft.mutant(f"left_{name}", put("Makefile", makefile([name])))
    everything = (
        makefile([])
        .replace("main.o: src/main.c", "main.o: FORCE src/main.c")
        .replace(f"{unit}.o: src", f"{unit}.o: FORCE src")
        .replace(f"{table}.h: data", f"{table}.h: FORCE data")
    )
    draft.mutant("always_all", put("Makefile", everything + "\nFORCE:\n"))
    draft.alternative(
        "one_step",
        put(
            "Makefile",
            f"all: {prog}\n{prog}: src/main.c src/{unit}.c include/{limit}.h include/{table}.h\n"
            f"\tgcc -O1 -Iinclude -o $@ src/main.c src/{unit}.c -lm\n"
            f"include/{table}.h: data/{table}.def gen.sh\n\tsh gen.sh data/{table}.def > $@\n"
            f"clean:\n\trm -f {prog} include/{table}.h\n.PHONY: all clean\n",
        ),
    )


_TALLY = """#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct row { char *name; long long sum; int count; };
static struct row *rows;
static size_t used, room;

static struct row *find(const char *name) {
    for (size_t i = 0; i < used; i++)
        if (strcmp(rows[i].name, name) == 0)
            return &rows[i];
    if (used == room) {
        room = room ? room * 2 : 16;
        rows = realloc(rows, room * sizeof *rows);
    }
    rows[used] = (struct row){strdup(name), 0, 0};
    return &rows[used++];
}

static int order(const void *a, const void *b) {
    const struct row *x = a, *y = b;
    if (x->SORTED != y->SORTED)
        return x->SORTED < y->SORTED ? 1 : -1;
    return strcmp(x->name, y->name);
}

int main(void) {
    char *line = NULL;
    size_t size = 0;
    while (getline(&line, &size, stdin) != -1) {
        char *gap = strrchr(line, 'SEP');
        if (!gap || line[0] == '#')
            continue;
        *gap = 0;
        long long amount = atoll(gap + 1);
        struct row *row = find(line);
        row->sum += amount + FEE;
        row->count++;
    }
    qsort(rows, used, sizeof *rows, order);
    for (size_t i = 0; i < used; i++)
        printf("%sSEP%lldSEP%d\\n", rows[i].name, rows[i].sum, rows[i].count);
    return 0;
}
"""
_C_FAULTS = {
    "narrow_sum": [("long long sum;", "int sum;"), ("SEP%lldSEP", "SEP%dSEP")],
    "short_line": [
        ("char *line = NULL;", "char line[48];"),
        ("size_t size = 0;", ""),
        ("getline(&line, &size, stdin) != -1", "fgets(line, sizeof line, stdin)"),
    ],
    "few_rows": [("room = room ? room * 2 : 16;\n", "room = 16; if (rows) return &rows[15];\n")],
    "prefix_only": [("strcmp(rows[i].name, name)", "strncmp(rows[i].name, name, 5)")],
    "first_gap": [("strrchr(line", "strchr(line")],
    "ties": [("return strcmp(x->name, y->name);", "return strcmp(y->name, x->name);")],
}


@template("c_tally", ("tiny", "easy", "medium"), needs=("gcc", "libc6-dev"))
def c_tally(draft: TerminalDraft) -> None:
    """A C program that fails on long lines, many names and large sums."""
    dice = draft.dice
    sep, fee = dice.pick(":;|,"), dice.whole(-999, 999)
    prog = draft.cast.name("service")
    by = dice.pick(("sum", "count"))
    right = _TALLY.replace("SEP", sep).replace("FEE", str(fee)).replace("SORTED", by)

    def broken(names: list[str]) -> str:
        text = right
        for name in names:
            for old, new in _C_FAULTS[name]:
                text = text.replace(old.replace("SEP", sep), new.replace("SEP", sep))
        return text

    chosen = dice.some(sorted(_C_FAULTS), 2 + draft.scale)
    names = draft.cast.names("thing", 5)
    draft.file(f"{prog}.c", broken(chosen))
    draft.file(
        "sample.txt", "".join(f"{dice.pick(names[:3])}{sep}{dice.whole(1, 60)}\n" for _ in range(8))
    )
    draft.say(
        f"{prog}.c reads lines `NAME{sep}AMOUNT` and shall print one line "
        f"`NAME{sep}SUM{sep}COUNT` for each name: the amounts added up, {fee} added to each of "
        f"them, and how many there were. Largest {by} first, equal ones by name in byte order. "
        f"The amount stands after the last {sep} of a line; a name may hold more of them. Amounts "
        "are whole numbers up to 4 000 000 000 in size, either sign; sums fit in 63 bits. There "
        "is no limit on the length of names or their number. Lines that start with # and lines "
        f"without a {sep} do not count. People report wrong results and crashes on real data; "
        f"mend {prog}.c. It is built by `gcc -O1 -o {prog} {prog}.c`."
    )

    def case(name: str, rows: list[tuple[str, int]], end: str = "\n") -> None:
        sums: dict[str, list[int]] = {}
        for who, amount in rows:
            entry = sums.setdefault(who, [0, 0])
            entry[0] += amount + fee
            entry[1] += 1
        place = 0 if by == "sum" else 1
        ordered = sorted(sums.items(), key=lambda item: (-item[1][place], item[0]))
        text = "".join(f"{who}{sep}{total}{sep}{count}\n" for who, (total, count) in ordered)
        given = "# head\nno gap\n" + "\n".join(f"{who}{sep}{n}" for who, n in rows) + end
        draft.probe(
            name,
            f"gcc -w -O1 -o /tmp/tally {prog}.c && /tmp/tally < held.txt",
            files={"held.txt": given},
            text=text,
        )

    pool = [*names, f"{names[0]}x", f"{names[0]}y", f"a{sep}b"]
    case("plain", [(dice.pick(pool), dice.whole(-99, 99)) for _ in range(40)])
    case(
        "large",
        [(dice.pick(names), dice.whole(3_000_000_000, 4_000_000_000)) for _ in range(30)]
        + [(names[1], -4_000_000_000)],
        end="",
    )
    case("many", [(f"item{n}", dice.whole(1, 9)) for n in dice.shuffled(range(300))])
    case("long", [(name * 40, dice.whole(1, 99)) for name in names for _ in range(3)])
    case("gaps", [(f"{a}{sep}{b}", dice.whole(1, 9)) for a in names for b in names])
    same = dice.whole(1, 50)
    case("ties", [(name, same) for name in dice.shuffled(pool)])
    draft.part("tally", put(f"{prog}.c", right))
    for name in chosen:
        draft.mutant(f"left_{name}", put(f"{prog}.c", broken([name])))
    static = (
        right.replace("char *line = NULL;", "static char text[1 << 20], *line = text;")
        .replace("size_t size = 0;", "")
        .replace("getline(&line, &size, stdin) != -1", "fgets(text, sizeof text, stdin)")
        .replace("room = room ? room * 2 : 16;", "room += 1 << 16;")
    )
    draft.alternative("static", put(f"{prog}.c", static))


_RING = """#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "{name}.h"

struct {name} {{ int *cells; int size, head, count; }};

struct {name} *{name}_new(int size) {{
    struct {name} *q = malloc(sizeof *q);
    q->cells = malloc(size * sizeof(int));
    q->size = size;
    q->head = q->count = 0;
    return q;
}}

int {name}_put(struct {name} *q, int value) {{
    if (q->count == q->size) {{
        {full}
    }}
    q->cells[{place}] = value;
    q->count++;
    return 1;
}}

int {name}_take(struct {name} *q, int *value) {{
    if ({empty})
        return 0;
    *value = q->cells[q->head];
    q->head = {advance};
    q->count--;
    return 1;
}}

int {name}_resize(struct {name} *q, int size) {{
    if (size < q->count)
        return 0;
    int *cells = malloc(size * sizeof(int));
    for (int i = 0; i < q->count; i++)
        cells[i] = {moved};
    free(q->cells);
    q->cells = cells;
    q->size = size;
    {settled}
    return 1;
}}
"""
_DRIVER = """#include <stdio.h>
#include <string.h>
#include "{name}.h"
int main(void) {{
    struct {name} *q = {name}_new({size});
    char word[16];
    int n;
    while (scanf("%15s %d", word, &n) == 2) {{
        if (!strcmp(word, "put")) printf("%d\\n", {name}_put(q, n));
        if (!strcmp(word, "take")) {{
            int v = -1, ok = {name}_take(q, &v);
            printf("%d %d\\n", ok, v);
        }}
        if (!strcmp(word, "resize")) printf("%d\\n", {name}_resize(q, n));
    }}
    return 0;
}}
"""


@template("c_ring", ("easy", "medium"), needs=("gcc", "libc6-dev", "make"))
def c_ring(draft: TerminalDraft) -> None:
    """A ring buffer in C with incorrect edge cases."""
    dice = draft.dice
    name = draft.cast.name("key")
    size = dice.whole(3, 6)
    drops = dice.chance(0.5)
    right = {
        "full": "q->head = (q->head + 1) % q->size; q->count--;" if drops else "return 0;",
        "place": "(q->head + q->count) % q->size",
        "empty": "q->count == 0",
        "advance": "(q->head + 1) % q->size",
        "moved": "q->cells[(q->head + i) % q->size]",
        "settled": "q->head = 0;",
    }
    wrong = {
        "full": "return 0;" if drops else "q->head = (q->head + 1) % q->size; q->count--;",
        "place": "(q->head + q->count) % (q->size - 1)",
        "empty": "q->count < 0",
        "moved": "q->cells[i]",
        "settled": "",
    }

    def source(broken: list[str]) -> str:
        parts = {key: (wrong if key in broken else right)[key] for key in right}
        return _RING.format(name=name, **parts)

    chosen = dice.some(sorted(wrong), 1 + draft.scale) if draft.scale < 3 else sorted(wrong)
    header = "".join(
        f"{line};\n"
        for line in (
            f"struct {name}",
            f"struct {name} *{name}_new(int size)",
            f"int {name}_put(struct {name} *q, int value)",
            f"int {name}_take(struct {name} *q, int *value)",
            f"int {name}_resize(struct {name} *q, int size)",
        )
    )
    draft.file(f"{name}.h", header)
    draft.file(f"{name}.c", source(chosen))
    draft.file("main.c", _DRIVER.format(name=name, size=size))
    draft.file(
        "Makefile", f"driver: main.c {name}.c {name}.h\n\tgcc -w -O1 -o $@ main.c {name}.c\n"
    )
    rule = (
        "puts the new value in and drops the oldest one, and returns 1"
        if drops
        else "leaves all as it is and returns 0"
    )
    draft.say(
        f"{name}.c is a queue of fixed size, first in first out. `{name}_take` returns 0 when the "
        f"queue is empty; `{name}_put` into a full queue {rule}; `{name}_resize` keeps all values "
        "and their order, or returns 0 and changes nothing if they would not fit. It does not "
        f"behave so. Mend {name}.c; the header and main.c stay as they are. `make` builds "
        "./driver, which reads commands such as `put 5`, `take 0`, `resize 8`."
    )
    draft.keep(f"{name}.h", "main.c", "Makefile")

    def case(label: str, commands: list[tuple[str, int]]) -> None:
        queue: list[int] = []
        room, lines = size, []
        for word, number in commands:
            if word == "put":
                full = len(queue) == room
                if not full or drops:
                    queue = [*(queue[1:] if full else queue), number]
                lines.append(str(int(not full or drops)))
            elif word == "take":
                lines.append(f"1 {queue.pop(0)}" if queue else "0 -1")
            else:
                fits = number >= len(queue)
                room = number if fits else room
                lines.append(str(int(fits)))
        text = "".join(f"{word} {number}\n" for word, number in commands)
        draft.probe(
            label,
            f"make -s >/dev/null 2>&1; timeout 5 ./driver < {label}.in",
            files={f"{label}.in": text},
            text="\n".join(lines) + "\n",
        )

    fill = [("put", dice.whole(10, 99)) for _ in range(size)]
    case("empty", [("take", 0), fill[0], ("take", 0), ("take", 0), fill[1], ("take", 0)])
    case("full", [*fill, ("put", 7), ("put", 8), *[("take", 0)] * (size + 1)])
    case(
        "resized",
        [
            *fill,
            ("take", 0),
            ("take", 0),
            ("put", 5),
            ("resize", size + 3),
            ("put", 6),
            *[("take", 0)] * (size + 2),
        ],
    )
    case(
        "random",
        [
            dice.pick(
                [
                    ("put", dice.whole(0, 99)),
                    ("take", 0),
                    ("put", dice.whole(0, 99)),
                    ("resize", dice.whole(1, 9)),
                ]
            )
            for _ in range(120)
        ],
    )
    draft.part("source", put(f"{name}.c", source([])))
    for key in chosen:
        draft.mutant(f"left_{key}", put(f"{name}.c", source([key])))
    plain = source([]).replace(
        "q->head = (q->head + 1) % q->size;\n    q->count--;\n    return 1",
        "q->count--;\n    memmove(q->cells, q->cells + 1, q->count * sizeof(int));\n    return 1",
    )
    plain = plain.replace(
        "q->head = (q->head + 1) % q->size; q->count--;",
        "memmove(q->cells, q->cells + 1, --q->count * sizeof(int));",
    )
    draft.alternative("shifting", put(f"{name}.c", plain))
