"""Configuration of a fictitious server, and shell scripts that unusual file names break."""

from hexathlon.tasks.terminal.draft import TerminalDraft, put, template

_ROUTER = """#!/usr/bin/env python3
# router FOLDER < requests: says where each request would go. It stands for the server and is right.
# site.conf: `use FILE`, `upstream NAME PORT`, `route PRIORITY HOST PATH NAME [METHODS]`,
# `limit NAME N[km]`
# HOST may begin with *., PATH may end with *; the fitting route of highest priority wins, of
# several the last one in reading order. A body longer than the limit of its upstream is refused.
import os, sys
ups, routes, limits = {}, [], {}
def load(path):
    for number, line in enumerate(open(path), 1):
        words = line.split("#")[0].split()
        if not words:
            continue
        try:
            if words[0] == "use":
                load(os.path.join(os.path.dirname(path), words[1]))
            elif words[0] == "upstream":
                if words[2] in ups.values():
                    sys.exit(f"{path}:{number}: port {words[2]} is taken")
                ups[words[1]] = str(int(words[2]))
            elif words[0] == "route":
                routes.append((int(words[1]), len(routes), *words[2:5], words[5:]))
            elif words[0] == "limit":
                unit = {"k": 1 << 10, "m": 1 << 20}.get(words[2][-1], 1)
                limits[words[1]] = int(words[2].rstrip("km")) * unit
            else:
                sys.exit(f"{path}:{number}: unknown word {words[0]}")
        except (OSError, ValueError, IndexError) as error:
            sys.exit(f"{path}:{number}: {error}")
load(os.path.join(sys.argv[1], "site.conf"))
for route in routes:
    if route[4] not in ups:
        sys.exit(f"no upstream {route[4]}")
def fits(pattern, text):
    if pattern.startswith("*."):
        return text.endswith(pattern[1:])
    return text.startswith(pattern[:-1]) if pattern.endswith("*") else text == pattern
for line in sys.stdin:
    method, host, path, size = line.split()
    found = [r for r in routes if fits(r[2], host) and fits(r[3], path)]
    found = [r for r in found if not r[5] or method in r[5]]
    if not found:
        print("404")
        continue
    name = max(found)[4]
    print("413" if int(size) > limits.get(name, 1 << 20) else f"{name}:{ups[name]}")
"""


@template("route_config", ("easy", "medium"))
def route_config(draft: TerminalDraft) -> None:
    """Fix a server's configuration until requests are routed as the table says."""
    dice = draft.dice
    names = draft.cast.names("service", 4)
    domain = f"{draft.cast.name('place')}.example"
    ports = dice.some(range(8_000, 8_900), 4)
    size = dice.whole(2, 60)
    right = {
        "ports": "".join(f"upstream {n} {p}\n" for n, p in zip(names, ports, strict=True)),
        "api": f"route 20 api.{domain} /v1/* {names[0]}\n",
        "admin": f"route 30 api.{domain} /v1/admin/* {names[1]} GET POST\n",
        "hosts": f"route 5 *.{domain} * {names[2]}\n",
        "upload": f"route 20 {domain} /upload {names[3]} PUT\nlimit {names[3]} {size}m\n",
        "root": f"route 10 {domain} * {names[2]}\n",
    }
    wrong = {
        "ports": right["ports"].replace(str(ports[1]), str(ports[0])),
        "api": f"route 20 api.{domain} /v1 {names[0]}\n",
        "admin": f"route 3 api.{domain} /v1/admin/* {names[1]} GET POST\n",
        "hosts": f"route 25 *.{domain} * {names[2]}\n",
        "upload": f"route 20 {domain} /upload {names[3]} PUT\nlimit {names[3]} {size}k\n",
        "root": f"route 10 www.{domain} * {names[2]}\n",
    }
    chosen = sorted(right) if draft.scale > 3 else dice.some(sorted(right), 2 + draft.scale)
    if len(chosen) < 3:
        chosen = sorted(right)[:3]

    def files(broken: list[str]) -> dict[str, str]:
        parts = {key: (wrong if key in broken else right)[key] for key in right}
        return {
            "conf/site.conf": "use ports.conf\nuse routes/api.conf\n"
            + parts["root"]
            + parts["upload"],
            "conf/ports.conf": parts["ports"],
            "conf/routes/api.conf": parts["hosts"] + parts["api"] + parts["admin"],
        }

    for path, text in files(chosen).items():
        draft.file(path, text)
    draft.file("conf/routes/api.conf.old", f"route 1 api.{domain} /v0/* {names[3]}\n")
    draft.file("router", _ROUTER, 0o755)
    rows = [
        f"any request to {domain} goes to {names[2]}, except:",
        f"PUT of /upload there goes to {names[3]}, bodies "
        f"up to {size} MiB; to others at most 1 MiB",
        f"requests to any host below {domain} go to {names[2]}, except:",
        f"those to api.{domain} whose path begins with /v1/ go to {names[0]}, except:",
        f"GET and POST of paths there that begin with /v1/admin/ go to {names[1]}",
        "all else is 404; what is too long is 413",
    ]
    draft.file(
        "ROUTES",
        "\n".join(rows)
        + "\n\nports: "
        + ", ".join(f"{n} {p}" for n, p in zip(names, ports, strict=True))
        + "\n",
    )
    draft.say(
        "./router conf (read it) stands for a server. ROUTES says where requests shall go; the "
        "configuration in conf/ does not do that, or is refused. Mend the files in conf/ so that "
        "every request goes where it should. The router and ROUTES stay as they are."
    )
    draft.keep("router", "ROUTES")

    def goes(method: str, host: str, path: str, length: int) -> str:
        name = ""
        if host == domain:
            name = names[3] if (method, path) == ("PUT", "/upload") else names[2]
        elif host.endswith("." + domain):
            name = names[2]
            if host == f"api.{domain}" and path.startswith("/v1/"):
                name = names[0]
                if path.startswith("/v1/admin/") and method in ("GET", "POST"):
                    name = names[1]
        if not name:
            return "404"
        most = size << 20 if name == names[3] else 1 << 20
        return "413" if length > most else f"{name}:{ports[names.index(name)]}"

    def case(name: str, requests: list[tuple[str, str, str, int]]) -> None:
        draft.probe(
            name,
            "./router conf",
            stdin="".join(f"{' '.join(map(str, request))}\n" for request in requests),
            text="\n".join(goes(*request) for request in requests),
        )

    api, word = f"api.{domain}", dice.word(5)
    case(
        "plain",
        [
            ("GET", domain, f"/{word}", 1),
            ("GET", f"www.{domain}", "/", 2),
            ("GET", f"{word}.test", "/", 1),
            ("PUT", domain, "/uploads", 5),
        ],
    )
    case(
        "api",
        [
            ("GET", api, f"/v1/{word}", 1),
            ("PUT", api, "/v1/admin/x", 1),
            ("GET", api, "/v1", 1),
            ("POST", api, "/v1/admin/y", 9),
            ("GET", f"a.{api}", "/v1/x", 1),
        ],
    )
    case(
        "sizes",
        [
            ("PUT", domain, "/upload", size << 20),
            ("PUT", domain, "/upload", (size << 20) + 1),
            ("PUT", domain, "/x", (1 << 20) + 1),
            ("GET", api, "/v1/a", 1 << 20),
        ],
    )
    draft.build("true")
    whole = files([])
    draft.part("conf", "".join(put(path, text) for path, text in whole.items()))
    for key in chosen:
        draft.mutant(f"left_{key}", "".join(put(p, text) for p, text in files([key]).items()))
    one = right["ports"] + "".join(
        right[key] for key in ("root", "upload", "admin", "api", "hosts")
    )
    draft.alternative("one_file", put("conf/site.conf", one) + "rm conf/ports.conf\n")


_SORT = """#!/bin/bash
# sort_files FROM TO: files go into TO/EXT/ by their ending, see the task.
shopt -s nullglob dotglob
from=$1
to=$2
LISTING | while IFS= read -r DELIM file; do
  name=${QUOTED##*/}
  case "$name" in
    KEEP*) continue ;;
    .[!.]*.*|[!.]*.*) ext=${name##*.} ;;
    *) ext=none ;;
  esac
  LOWER
  mkdir -p -- "$to/$ext"
  target="$to/$ext/$name"
  n=1
  while [ -e "$target" ]; do
    n=$((n + 1))
    target="$to/$ext/$n-$name"
  done
  mv -- "$file" "$target"
done
"""


@template("shell_names", ("easy", "medium"))
def shell_names(draft: TerminalDraft) -> None:
    """A shell script that loses files with blanks, dashes, line breaks and duplicate names."""
    dice = draft.dice
    keep = dice.pick("_=~@+%^,")
    upper = dice.chance(0.5)
    none = draft.cast.name("key")
    base = _SORT.replace("KEEP", keep).replace("ext=none", f"ext={none}")
    right = (
        base.replace("LISTING", 'find "$from" -type f -print0 | LC_ALL=C sort -z')
        .replace("DELIM", "-d ''")
        .replace("QUOTED", "file")
        .replace("LOWER", "ext=${ext^^}" if upper else "ext=${ext,,}")
    )
    faults = {
        "by_line": [("-print0 | LC_ALL=C sort -z", "| LC_ALL=C sort"), ("-d ''", "")],
        "overwrites": [('while [ -e "$target" ]', "while false")],
        "case_stays": [("ext=${ext^^}" if upper else "ext=${ext,,}", "true")],
        "no_dashes": [('mv -- "$file" "$target"', "mv $file $target")],
    }

    def script(broken: list[str]) -> str:
        text = right
        for name in broken:
            for old, new in faults[name]:
                text = text.replace(old, new)
        return text

    chosen = sorted(faults) if draft.scale > 2 else dice.some(sorted(faults), 3)
    draft.file("sort_files", script(chosen), 0o755)
    draft.say(
        "/app/sort_files FROM TO shall move all regular files at any depth below FROM into "
        f"TO/EXT/, EXT being what follows the last point "
        f"of the name, in {'upper' if upper else 'lower'} "
        f"case, and {none} (in that case of letters too) for names without a point, or with none "
        f"but at their beginning. Files whose name begins with {keep} stay where they are. If a "
        "name is taken there, the file is called 2-NAME, or 3-NAME and so on, files being taken in "
        "byte order of their paths. Any name that Linux allows must work, also ones with blanks, "
        "line breaks, and dashes or stars at their beginning. The script loses files; mend it."
    )
    words = draft.cast.names("thing", 5)

    def case(label: str, paths: list[str]) -> None:
        import posixpath

        placed: dict[str, str] = {}
        for path in sorted(paths):
            name = posixpath.basename(path)
            if name.startswith(keep):
                placed[f"in/{path}"] = path
                continue
            stem = name[1:] if name.startswith(".") else name
            ext = name.rpartition(".")[2] if "." in stem else none
            ext = ext.upper() if upper else ext.lower()
            target, number = f"out/{ext}/{name}", 1
            while target in placed:
                number += 1
                target = f"out/{ext}/{number}-{name}"
            placed[target] = path
        make = (
            "import os, sys, json\nfor path in json.load(open('paths.json')):\n"
            "    full = os.path.join('in', path)\n    "
            "os.makedirs(os.path.dirname(full), exist_ok=True)\n"
            "    open(full, 'w').write(path)\n"
        )
        show = (
            "import os, json\nfound = {}\nfor top in ('in', 'out'):\n"
            "    for folder, _, names in os.walk(top):\n        for name in names:\n"
            "            path = os.path.join(folder, name)\n"
            "            found[path] = open(path).read()\nprint(json.dumps(found))\n"
        )
        import json

        draft.probe(
            label,
            "rm -rf in out; python3 make.py; ./sort_files in out >/dev/null; python3 show.py",
            files={"make.py": make, "show.py": show, "paths.json": json.dumps(paths)},
            json=placed,
        )

    a, b, c, d, e = words
    case("plain", [f"{a}.txt", f"x/{b}.TXT", f"x/y/{c}", f"{keep}{d}.txt", f".{e}", f"x/.{e}.Conf"])
    case(
        "odd",
        [
            f"my {a}.txt",
            f"x y/{b} 2.csv",
            f"-{c}.txt",
            f"-rf/{d}.dat",
            f"*{e}.txt",
            "a\nb.txt",
            f"  {a}",
            "q'u\"ote.md",
            "[x]?.md",
        ],
    )
    case("same", [f"{x}/{a}.{ext}" for x in ("p", "q", "r", "-s") for ext in ("txt", "Txt")])
    draft.part("script", put("sort_files", right, "755"))
    for name in chosen:
        draft.mutant(f"left_{name}", put("sort_files", script([name]), "755"))
    python = (
        "#!/usr/bin/env python3\nimport os, sys\nsource, to = sys.argv[1:]\npaths = []\n"
        "for folder, _, names in os.walk(os.fsencode(source)):\n"
        "    paths += [os.path.join(folder, n) for n in names]\n"
        "for path in sorted(paths):\n    name = os.path.basename(path)\n"
        f"    if name.startswith(b'{keep}') or os.path.islink(path):\n        continue\n"
        f"    ext = name.rpartition(b'.')[2] if b'.' in name[1:] else b'{none}'\n"
        f"    ext = ext.{'upper' if upper else 'lower'}()\n"
        "    folder = os.path.join(os.fsencode(to), ext)\n    os.makedirs(folder, exist_ok=True)\n"
        "    target, n = os.path.join(folder, name), 1\n    while os.path.exists(target):\n"
        "        n += 1\n        target = os.path.join(folder, b'%d-' % n + name)\n"
        "    os.rename(path, target)\n"
    )
    draft.alternative("python", put("sort_files", python, "755"))
