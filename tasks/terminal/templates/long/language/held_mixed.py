"""Held-out programs of Vela about features that meet; `held` explains their form."""

__all__ = ["MIXED"]

MIXED: dict[str, tuple[str, str]] = {
    "cycles": ("", """let a = [1, @A@];
push(a, a);
fn show(f) { try { print f(); } catch e { print "error"; } }
show(fn() { return a; });
let m = {"a": a, "k": [a, {}]};
m["m"] = m;
push(m["k"], m);
show(fn() { return str(m); });
show(fn() { return "x" + [[a]]; });
show(fn() { return join([a, 1], ";"); });
let b = [1, @A@];
push(b, b);
show(fn() { return a == b; });
show(fn() { return a == [1, @A@, a]; });
show(fn() { return a == [1, @B@, b]; });
show(fn() { return a != [1, @A@]; });
show(fn() { return [m] == [m]; });
let shared = [0];
print [shared, shared], [shared] == [shared];
"""),
    "cycleprint": ("", "let a = [];\npush(a, [a]);\nprint 1;\nprint 2,\n  a;\n"),
    "cyclethrow": ("", "let m = {};\nm[@A@] = [m];\nprint [1] == [2];\nthrow m;\n"),
    "cycleequal": ("", """let a = [0];
let b = [0];
a[0] = [b];
b[0] = [a];
print len(a);
print a == b;
"""),
    "within": ("within", """print @A@ in [1, @A@], "@A@" in [1, @A@], 9 not in [1, 2], nil in [nil];
print "or" in "word", "" in "", "x" not in "xyz";
let m = {"b": 1, @A@: "b"};
fn show(f) { try { print f(); } catch e { print e; } }
show(fn() { return "b" in m; });
show(fn() { return 1 in m; });
show(fn() { return @A@ in m; });
show(fn() { return [1] in m; });
show(fn() { return nil not in m; });
show(fn() { return 1 in "one"; });
show(fn() { return "a" in nil; });
show(fn() { return [1, [2]] in [[1, [2]]]; });
for x in [1, @A@] { if not x in [1] { print "out", x; } }
for k in [1] { print k in {1: 2}, not 2 in [3]; }
"""),
    "withinline": ("within", "let x = 1;\nprint x in [1];\nprint x +\n  1\n  in\n  \"t\";\n"),
    "withinword": ("", "print 1;\nprint 1 in [1];\n"),
    "withinnot": ("", "print 1;\nlet a = [1];\nprint 2 not\n  in a;\n"),
    "withinchain": ("within chain", """fn v(x) { print "v", x; return x; }
print v(1) < v(2) in v([2, 3]) == v([2, 3]);
print v(5) in v([5]) not in v([[5]]) != v(0);
print v(1) in v([]) in v([1]);
"""),
    "withinlist": ("within", "print 1 in [1] == 3;\n"),
    "withinmatch": ("within match", """for x in [1, @A@, 7] {
  match true { case x in [1, 2] { print "low"; } case x not in [@A@] { print "other"; }
    else { print "mid"; } }
}
"""),
    "pipe": ("pipe", """fn sub(a, b) { return a - b; }
fn v(x) { print "v", x; return x; }
print 10 |> sub(@A@);
print v(1) |> v(sub)(v(2));
print 1 + 2 |> sub(3 * 2) |> sub(1);
print nil or 4 |> sub(1);
let table = {"f": fn(x) { return x * 2; }, "l": [sub]};
print @B@ |> table["f"]() |> table["l"][0](100);
let r = [3, 1, 2] |> sort();
print r, "a,b" |> len(), not true |> str();
print [1, 2] |> join("-");
"""),
    "pipeerror": ("pipe", """fn two(a, b) { return a; }
let x = 1
  |> two
  (2);
print x;
print 1
  |> two
  (2, 3);
"""),
    "pipesyntax": ("pipe", "fn f(x) { return x; }\nprint 1 |> f(2)\n  [0];\n"),
    "pipebare": ("pipe", "fn f(x) { return x; }\nprint 1 |> f;\n"),
    "pipegroup": ("pipe", "fn f(x) { return x; }\nprint 1 |> (f());\n"),
    "pipeword": ("", "print 1;\nprint [@A@]\n  |> len();\n"),
    "pipetail": ("pipe", """fn f(n) { if n == 0 { return "end"; } return n - 1 |> f(); }
try { print f(410); } catch e { print "too deep"; }
"""),
    "pipedefer": ("pipe defer", "fn f(x) { }\nfn g() {\n  defer 1 |> f();\n}\n"),
    "pipecompound": ("pipe compound", """fn add(a, b) { return a + b; }
let x = 1;
x += @A@ |> add(2);
print x;
x |> add(3);
print x;
"""),
    "unpack": ("unpack", """let [a, b] = [1, @A@];
print a, b;
let [first, rest...] = [1, 2, 3];
print first, rest;
let [_, x, all...] = [0, [@A@]];
print x, all;
for [k, n] in [["a", 1], ["b", @B@]] { print k, n; }
fn show(f) { try { print f(); } catch e { print e; } }
show(fn() { let [p, q] = [1, 2, 3]; return [p, q]; });
show(fn() { let [p, q] = [1]; return [p, q]; });
show(fn() { let [p, q, r...] = [1]; return [p, q, r]; });
show(fn() { let [p] = "x"; return p; });
show(fn() { for [p, q] in [[1, 2], [3]] { print p, q; } return "end"; });
show(fn() { let [_, _] = [1, 2]; return _; });
let [c, d] = [b, a];
print c, d;
"""),
    "unpackline": ("unpack", "let a = [1];\nfor\n  [a, b] in\n  [[1, 2], nil] { print a, b; }\n"),
    "unpackcomma": ("unpack", "print 1;\nlet [a,\n  b,\n  ] = [1, 2];\n"),
    "unpackempty": ("unpack", "let [\n] = [];\n"),
    "unpackword": ("", "print 1;\nlet [a] = [@A@];\nprint a;\n"),
    "unpackrest": ("unpack", "let [a..., b] = [1, 2];\n"),
    "unpackagain": ("unpack", """let a = 1;
fn f() { let [x, a, x2...] = [5, @A@, 7]; return [x, a, x2]; }
print f(), a;
fn g(x) { let [y, x] = [1, 2]; return [x, y]; }
try { print g(0); } catch e { print e; }
fn h() { let [y, y] = [1, 2]; return y; }
try { print h(); } catch e { print e; }
"""),
    "unpackclosure": ("unpack", """let made = [];
for [a, b] in [[1, 2], [3, @A@]] { push(made, fn() { a = a + b; return a; }); }
for f in made { print f(), f(); }
"""),
    "constants": ("constants", """const a = [1];
push(a, @A@);
print a;
fn show(f) { try { print f(); } catch e { print e; } }
fn v(x) { print "v", x; return x; }
show(fn() { a = v(2); return a; });
{ let a = 5; a = a + 1; print a; }
fn f(a) { a = @B@; return a; }
print f(0);
a[0] = 9;
print a;
for a in [1, 2] { a = a + 1; print a; }
fn g() { const k = 1; let h = fn() { k = v(k); return k; }; return h; }
show(g());
const z = 1;
{ const z = 2; print z; }
z = missing;
"""),
    "constantagain": ("constants", """fn f() { const k = 1; let k = 2; k = @A@; return k; }
try { print f(); } catch e { print e; }
fn g() { let k = 1; const k = 2; k = 3; return k; }
try { print g(); } catch e { print e; }
for x in [1, 2] { const y = x * @A@; print y; }
"""),
    "constantcompound": ("constants compound", """fn v(x) { print "v", x; return x; }
const n = @A@;
try { n += v(1); } catch e { print e; }
try { n += v("x") - 1; } catch e { print e; }
const l = [1];
l[0] += v(@B@);
print n, l;
n -=
  v(2);
"""),
    "constantword": ("", "let const = @A@;\nconst = const + 1;\nprint const;\n"),
    "constantbare": ("constants", "const a = 1;\nconst b;\n"),
    "constantcapture": ("constants", """const f = fn() { return f; };
try { f = 1; } catch e { print e; }
fn g() { return 1; }
g = 2;
print g;
import "m" as m;
m = 3;
print m;
== m.vela
const inside = @A@;
try { inside = 2; } catch e { print e; }
"""),
    "lines": ("", """let a = "one
two";
print a, [a];
print "three
  four" + 5, missing;
"""),
    "linesafter": ("lines", """let t = "first

third"; let u = [1]; print t;
print "x
" + "y
z",
  u[@A@];
"""),
    "linesopen": ("lines", "print 1;\nlet t = \"begins\nand goes on;\nprint t;\n"),
    "linesescape": ("lines", "print 1;\nlet t = \"a\n\\q b\";\n"),
    "linesjoined": ("", """print 1;
print "long \\
     text\\\\", "x\\
\\
\t y";
print missing;
"""),
    "linesbraces": ("lines interp", """let n = @A@;
print "a {n}
b {n + 1} {{
c";
print "begins
{[n][1]}
ends";
"""),
    "linescomment": ("lines", "# \"not a string\nprint \"# no\n# comment\";\nprint [1][@A@];\n"),
    "sharedloop": ("compound", """let made = [];
for n in [1, @A@] { n += 1; push(made, fn() { n *= 2; return n; }); print n; }
for f in made { print f(), f(); }
let t = {"x": 1};
for k in t { t[k] += 1; t["y"] = 0; }
print t;
"""),
    "negativecompound": ("compound", """let l = [1, 2, @A@];
try { l[-1] += 10; } catch e { print e; }
try { l[-9] -= 10; } catch e { print e; }
print l;
try { l["a"] += 1; } catch e { print e; }
"""),
    "matchwithin": ("match labels", """a: for x in [1, 2, 3] {
  for y in [1, 2, 3] { match y { case 2 { continue a; } case x { print "same", x; }
    else { print x, y; } } }
}
"""),
    "matchtypes": ("match", """for v in [0, "", nil, false, [], {}] {
  match v { case false { print "false"; } case nil { print "nil"; } case "", 0 { print "blank"; }
    case [] { print "list"; } case {} { print "map"; } }
}
"""),
    "deferloop": ("defer", """let out = [];
fn f() {
  for x in [1, 2, 3] { let y = x * 10; defer push(out, x + y); x = x + 100; }
  return len(out);
}
print f(), out;
fn g(n) { defer fn(m) { push(out, m); n = 0; }(n); n = n + 1; return n; }
print g(@A@), out;
"""),
    "defernested": ("defer", """fn log(x) { print x; }
fn f() { defer g(); log("f"); }
fn g() { defer log("g deferred"); defer h(); log("g"); }
fn h() { throw "h"; }
try { f(); } catch e { print e; }
"""),
    "deferexact": ("defer", """fn last() { return 1; }
fn f(k) { defer last(); if k == 1 { return 0; } return 0 + f(k - 1); }
print f(@LIMIT@ - 1);
print f(@LIMIT@);
"""),
    "errorsmap": ("errors", """fn f() { throw {"a": [1]}; }
try { f(); } catch e { print keys(e), e; e["kind"] = "changed"; print e["kind"]; }
try { import "none" as n; } catch e { print e; }
fn deep() { deep(); }
try { deep(); } catch e { print e["kind"], e["line"]; }
try { [1][
  @A@]; } catch e { print e; }
"""),
    "errorsthrown": ("errors rethrow", """
fn again(e) { e["message"] = e["message"] + "!"; throw e; }
try { try { 1 / 0; } catch e { again(e); } } catch e { print e; }
try { throw {"kind": "user", "message": "m", "value": 1}; } catch e { print e; }
try { throw {"kind": "x"}; } catch e { print e; }
throw {"kind": "user", "message": "uncaught"};
"""),
    "thrownmessage": ("", """try { throw {"b": 1, "a": "x"}; } catch e { print e; }
throw {"z": nil, "kind": "k"};
"""),
    "finallydeep": ("ensure labels", """fn f() {
  o: for x in [1, 2, 3] {
    try {
      try { if x == 1 { continue o; } if x == 2 { throw x; } return "returned"; }
      catch e { print "caught"; break o; }
      finally { print "inner", x; }
    } finally { print "outer", x; }
  }
  return "after";
}
print f();
"""),
    "finallyexit": ("leave ensure", """fn f() {
  try { try { exit(@A@); } finally { throw "in finally"; } } catch e { print "caught"; }
}
f();
print "on";
"""),
    "leavedefer": ("leave defer", """fn log(x) { print x; }
fn bad() { throw "bad"; }
fn f() { defer log("one"); defer bad(); defer log("two"); exit(@B@); }
f();
"""),
    "interpnested": ("interp", """let m = {"k": [1, @A@]};
let key = "k";
print "v {m[key][1] * 2} {len(m)} {(1)}" + "{key}{key}", "{{}}";
fn f(x) { return "<{x}>"; }
print f(f(m));
"""),
    "interptraces": ("interp", """fn f(x) { return x[0]; }
fn g(x) { let t = "a
"; return "v {f(x)}"; }
print g([1]), g([]);
"""),
    "sliceerrors": ("index", """fn show(f) { try { print f(); } catch e { print e; } }
show(fn() { return [1, 2, 3][-3]; });
show(fn() { return "abc"[-4]; });
show(fn() { return {"a": 1}[-1]; });
show(fn() { return [][-1]; });
let l = [1, 2, 3];
l[-1] = l[-2] + l[-3];
print l;
"""),
    "mapsloop": ("", """let t = {3: "c", "b": 1, 1: "a", "a": 2};
for k in t { if k == 1 { del(t, 3); t[3] = "again"; } print k; }
print t, keys(t), join(keys(t), "");
print {2: [t]}, {"z": {"y": 1, "x": 2}};
"""),
    "sumorder": ("", """let big = 9223372036854775807;
fn show(f) { try { print f(); } catch e { print "error"; } }
show(fn() { return sum([-1, big, 1]); });
show(fn() { return sum([big, 1, -1]); });
show(fn() { return sum([]); });
show(fn() { return (big + 1) / 2; });
show(fn() { return 3037000500 * 3037000500 % @A@; });
show(fn() { return -7 % (big + 2); });
"""),
    "redeclaremany": ("", """import "m" as m;
let x = 1;
for n in [1, 2] { let x = n; fn f() { return x; } print f(); }
try { import "m" as m; print "again"; } catch e { print e; }
fn g(a) { fn a() { return 2; } return a; }
try { print type(g(1)); } catch e { print e; }
try { fn x() { } print type(x); } catch e { print e; }
print x;
== m.vela
print "module";
"""),
    "defaultsfn": ("defaults", """let n = 0;
fn tick() { n = n + 1; return n; }
fn f(a, b = fn() { return a; }, c = tick()) { a = a * 10; return [b(), c]; }
fn a() { return "outer"; }
try { print f(1), f(2), f(3, fn() { return "own"; }), f(4, a, "given"); } catch e { print e; }
print n;
"""),
    "varargsmany": ("varargs", """fn f(a, more...) {
  if len(more) == 0 { return a; } return a + f(more[0], "end");
}
try { print f(1); } catch e { print e; }
fn g(more...) { more = [0] + more; return more; }
print g(), g(nil), g([1], @A@);
let h = fn(x, y, z...) { return len(z); };
print h(1, 2), h(1, 2, 3, 4);
h(1);
"""),
    "modulestate": ("modules", """import "a" as a;
import "b" as b;
a.add(@A@);
print b.total(), a.list, a == b.inner();
try { import "bad" as c; } catch e { print "failed"; }
try { import "bad" as c; } catch e { print "failed again"; }
== a.vela
print "a runs";
let list = [];
fn add(n) { push(list, n); }
== b.vela
import "./a" as other;
fn total() { return sum(other.list); }
fn inner() { return other; }
== bad.vela
print "bad runs";
throw "bad";
"""),
    "precedence": ("", """print not 1 == 2, not (1 == 2), 2 + 3 * -2 - -1, 7 - 2 - 1, 2 * 3 % 4;
print 1 < 2 and 2 < 3 or missing, nil or false or @A@;
print -[1, 2][1], -7 / 2 * 2, (1 + 2) * 3;
"""),
    "whole": ("match errors", """fn area(s) {
  match s["kind"] {
    case "square" { return s["side"] * s["side"]; }
    case "box", "crate" { return s["w"] * s["h"]; }
    else { throw "no " + s["kind"]; }
  }
}
let shapes = [{"kind": "square", "side": @A@}, {"kind": "box", "w": 2, "h": @B@}, {"kind": "tube"}];
let sums = {};
for s in shapes {
  try { sums[s["kind"]] = area(s); } catch e { sums["bad"] = e; }
}
print sums;
for k in sums { print k, sums[k]; }
"""),
}  # fmt: skip
