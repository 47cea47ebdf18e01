"""Held-out programs of Vela, by the matter that they test.

A program is one text, `main.vela`, or several files after lines `== NAME`. `@A@` to `@D@` stand for
numbers that the task draws. Programs that need a rule name it; without it they are left out.
"""

__all__ = ["PROGRAMS"]

PROGRAMS: dict[str, tuple[str, str]] = {
    "division": ("", """print 7 / @A@, -7 / @A@, 7 / -@A@, -7 / -@A@;
print 17 % @A@, -17 % @A@, 17 % -@A@, -17 % -@A@, -@A@ % @A@;
let q = -19 / @A@;
print q * @A@ + -19 % @A@;
try { print 5 % 0; } catch e { print "caught"; }
print 1 /
  (@A@ - @A@);
"""),
    "overflow": ("", """let big = 9223372036854775807;
fn show(f) { try { print f(); } catch e { print e; } }
show(fn() { return big + @A@; });
show(fn() { return big * @B@; });
show(fn() { return (-big - 1) / -1; });
show(fn() { return -(-big - 1); });
show(fn() { return (-big - 1) % -1; });
show(fn() { return sum([big, @A@, -@A@]); });
show(fn() { return int("9223372036854775808"); });
show(fn() { return int("-9223372036854775808") - @A@; });
"""),
    "literal": ("", "print 1;\nprint 9223372036854775807;\nprint -9223372036854775808;\n"),
    "truth": ("", """for v in [0, @A@, "", "x", [], [0], {}, {"a": 1}, nil, false, true] {
  if v { print "yes"; } else { print "no"; }
}
let n = @A@;
while n { n = n - 1; if n == -1 { print "below"; break; } }
print not 0, not "", not nil, not [];
"""),
    "closures": ("", """let made = [];
for x in [@A@, @B@, @C@] { push(made, fn() { x = x + 1; return x; }); }
for f in made { print f(), f(); }
let inner = [];
for x in range(0, 3) { let y = x * @A@; push(inner, fn() { return x + y; }); x = x + 10; }
for f in inner { print f(); }
"""),
    "iteration": ("", """let list = [@A@, @B@];
for x in list { print x; if len(list) < 6 { push(list, x + 1); } }
let short = [1, 2, 3, 4];
for x in short { print x; pop(short); }
let table = {"b": 1, "a": 2};
for k in table { if has(table, "c") { print k; } else { table["c"] = 3; print k; } }
"""),
    "defer": ("defer", """fn log(x) { print "log", x; return x; }
fn f(n) {
  let k = n;
  defer log(k);
  defer log(log("arg") + "!");
  k = k + @A@;
  if n > @B@ { return log("result"); }
  for x in [1, 2] { defer log(x * k); }
  k = k + 1;
  print "body";
}
print f(1);
print f(@B@ + 1);
let g = log;
fn h() { defer g("old"); g = fn(x) { print "new", x; }; }
h();
"""),
    "defererror": ("defer", """fn fail(x) { throw x; }
fn f() { defer fail("one"); defer print_it("mid"); defer fail("two"); throw "own"; }
fn print_it(x) { print x; }
fn g() { defer fail("one"); defer fail("two"); return @A@; }
for t in [f, g] { try { print t(); } catch e { print e; } }
fn h() { defer fail("last"); return @A@; }
print h();
"""),
    "deferbad": ("defer", "print 1;\nfn f() { defer len; }\n"),
    "defertop": ("defer", "print 1;\ndefer print_it(1);\n"),
    "defergroup": ("defer", "fn g() { }\nfn f() {\n  defer g() + 1;\n}\n"),
    "deferfinally": ("defer ensure", """fn log(x) { print x; }
fn f() {
  for x in [1, 2, 3] {
    try { defer log("deferred " + str(x)); if x == 2 { return log("value"); } }
    finally { log("finally " + str(x)); }
  }
}
f();
fn g() { defer inner(); try { throw "a"; } catch e { log("caught"); throw "b"; } finally { log("end"); } }
fn inner() { try { throw "c"; } catch e { log("inside"); } finally { log("quiet"); } }
try { g(); } catch e { print e; }
"""),
    "worddefer": ("", "let defer = @A@;\nprint defer;\n"),
    "wordfinally": ("", "let finally = @A@;\nprint finally;\n"),
    "wordmatch": ("", "let match = @A@;\nlet case = match + 1;\nprint case;\n"),
    "errors": ("", """fn f() { let t = [1];
  return t[@A@]; }
fn show(g) { try { g(); } catch e { print e; } }
show(f);
show(fn() { throw "text"; });
show(fn() { throw [1, "a"]; });
show(fn() { throw nil; });
show(fn() { undefined_name; });
show(fn() { {"a": 1}["b"]; });
show(fn() { f(@A@); });
show(fn() { for x in 5 { } });
"""),
    "rethrow": ("", """try { throw {"kind": "custom", "message": "m@A@", "line": 99}; } catch e { print e; }
try { throw {"kind": 1, "message": "m"}; } catch e { print e; }
try {
  try { 1 / 0; } catch e { throw e; }
} catch e { print e; }
throw {"message": "final", "kind": "own"};
"""),
    "finally": ("ensure", """fn f(n) {
  try { if n == 1 { return "one"; } if n == 2 { throw "two"; } print "none"; }
  catch e { return "caught"; }
  finally { print "finally", n; }
  return "after";
}
for n in range(0, 3) { print f(n); }
for x in [1, 2, 3] { try { if x == 2 { continue; } print x; } finally { print "-"; } }
while true { try { break; } finally { print "left"; } }
try { try { throw "inner"; } finally { print "first"; throw "outer"; } } catch e { print e; }
try { print 1; } finally { print undefined_name; }
"""),
    "finallyover": ("ensure", """fn f() { try { throw "lost"; } finally { return @A@; } }
print f();
for x in [1, 2] { try { print x; } finally { continue; } print "never"; }
"""),
    "finallyinner": ("ensure", """try { print 1; }
finally { let f = fn() { for x in [1, 2] { if x == 2 { break; } } return @A@; }; print f(); }
"""),
    "defaults": ("defaults", """let base = @A@;
fn f(a, b = base + 1, c = [], d = a_or(b)) { push(c, a); return [a, b, c, d]; }
fn a_or(x) { return x; }
base = 100;
print f(1);
print f(2);
print f(3, 4, [5]);
print f();
"""),
    "defaultscope": ("defaults", """let a = "outer";
fn f(a, b = a, c = b) { return [a, b, c]; }
let b = "late";
print f(1);
print f(1, 2);
"""),
    "defaultsyntax": ("defaults", "fn f(a = 1, b) { }\n"),
    "varargsword": ("", "fn f(a...) { print a; }\nf(@A@);\n"),
    "defaultsword": ("", "fn f(a = @A@) { print a; }\nf();\n"),
    "compoundword": ("", "let a = @A@;\na += 2;\nprint a;\n"),
    "labelsword": ("", "outer: for x in [@A@, 2] { print x; break outer; }\n"),
    "exitword": ("", "print 1;\nexit(@A@);\n"),
    "varargs": ("varargs", """fn f(a, rest...) { return [a, rest]; }
print f(1), f(1, 2), f(1, 2, @A@);
fn g(all...) { push(all, 0); return all; }
print g(), g(@B@), g();
print f();
"""),
    "varargsdefaults": ("varargs defaults", """fn f(a, b = @A@, more...) { return [a, b, more]; }
print f(1), f(1, 2), f(1, 2, 3);
print f();
"""),
    "chain": ("chain", """fn v(x) { print "v", x; return x; }
print v(1) < v(@A@) < v(20) <= v(20);
print v(3) > v(@A@ + 5) > v(1);
print 1 < 2 == true;
"""),
    "chainerror": ("chain", "print 1 < 2 < 3;\nprint 1 <\n 2 <\n \"x\";\n"),
    "chaineq": ("", "print 1 == 1 == 1;\n"),
    "compound": ("compound", """fn log(x) { print "log", x; return x; }
let list = [1, @A@, 3];
list[log(1)] += log(@B@);
print list;
let x = @A@;
fn bump() { x = x * 10; return 1; }
x += bump();
print x;
let t = {"n": @A@};
fn swap() { t["n"] = 50; return 2; }
t["n"] *= swap();
t["n"] -= 1;
print t;
let s = "a";
s += "b";
print s;
t[log("missing")] += log("right");
"""),
    "compoundbad": ("compound", "let a = 1;\na += 2;\n(a) += 3;\n"),
    "assignorder": ("", """fn log(x) { print "log", x; return x; }
let list = [1, 2, 3];
list[log(0)] = log(@A@);
let table = {};
table[log("k")] = len(table);
print list, table;
list[log(9)] = log("right");
"""),
    "maps": ("", """let t = {"z": 1, "b": 2, 10: 3, 9: 4, "a": 5};
print t;
print keys(t);
t["b"] = @A@;
del(t, "z");
t["z"] = 6;
for k in t { print k; }
print {"x": 1, "a": 2, "x": 3}, keys({"x": 1, "a": 2, "x": 3});
print {"b": 1, "a": 2} == {"a": 2, "b": 1};
"""),
    "index": ("", """let list = [1, 2, 3, @A@];
print list[-1];
print "word"[-2];
list[-4] = "first";
print list;
list[-5] = 0;
"""),
    "slices": ("", """let list = range(0, 8);
print list[2:5], list[:3], list[6:], list[-3:], list[:-6], list[5:2], list[@A@:99], "letters"[1:-1];
let copy = list[:];
push(copy, 9);
print len(list), len(copy);
print list["a":];
"""),
    "undeclared": ("", """fn f() { fresh = @A@; return fresh; }
try { print f(); } catch e { print e; }
let n = 1;
fn g() { n = n + 1; }
g();
print n;
fresh = @B@;
print fresh;
"""),
    "redeclare": ("", """let x = 1;
{ let x = 2; print x; }
fn f(a) { let b = a; { let a = 3; print a; } return b; }
print f(1);
for x in [5] { let x = 6; print x; }
fn g(a) { let a = @A@; return a; }
try { print g(1); } catch e { print e; }
fn f() { return "second"; }
print f();
"""),
    "exitruntime": ("", "print 1;\nprint [] + 1;\n"),
    "exitsyntax": ("", "print 1;\nlet = 2;\n"),
    "exituser": ("", "print 1;\nthrow \"stop @A@\";\n"),
    "exitcode": ("leave", "print 1;\nfn f() { exit(@A@); }\ntry { f(); } catch e { print e; }\n"),
    "exitbad": ("leave", "try { exit(256); } catch e { print e; }\nexit();\nprint 2;\n"),
    "exitfinally": ("leave ensure", "try { print 1;\n exit(@B@); } finally { print \"finally\"; }\n"),
    "exitdefer": ("leave defer", """fn log(x) { print x; }
fn f() { defer log("inner"); exit(@C@); }
fn g() { defer log("outer"); f(); }
try { g(); } catch e { print "caught"; }
"""),
    "wordexit": ("", "let exit = fn(x) { print x; };\nexit(@A@);\n"),
    "interp": ("", """let a = @A@;
let l = ["q"];
print "a is {a + 1}, l is {l}, {nil}{a == 2}";
print "{{a}} {{{a}}} \\\\ \\n-";
"""),
    "interpbad": ("interp", "print 1;\nprint \"a } b\";\n"),
    "interpempty": ("interp", "print 1;\nprint 2,\n  \"a {} b\";\n"),
    "interperror": ("interp", "let a = [1];\nprint \"x {a[0]}\" +\n  \"y {a[@A@]}\";\n"),
    "labels": ("labels", """outer: for x in range(0, 4) {
  inner: while true {
    if x == 1 { continue outer; }
    if x == 3 { break outer; }
    for y in [1, 2] { if y == 2 { break inner; } print x, y; }
  }
  print "end", x;
}
"""),
    "labelsbad": ("labels", "a: for x in [1] {\n  let f = fn() { for y in [1] {\n break a; } };\n}\n"),
    "labelsensure": ("labels ensure", """o: for x in [1, 2] {
  for y in [1, 2] { try { if y == 2 { continue o; } print x, y; } finally { print "f", y; } }
}
"""),
    "match": ("match", """fn v(x) { print "v", x; return x; }
fn f(x) {
  match x { case v(1), v(@A@) { return "low"; } case "1" { return "text"; } case [1, 2] { print "list"; }
    else { return "else"; } }
  return "after";
}
for x in [1, @A@, "1", [1, 2], true, nil] { print f(x); }
for x in [1, 2, 3] { match x { case 2 { break; } case 1 { print "one"; } else { } } }
print "done";
match "nothing" { case 1 { } }
print "open";
"""),
    "equality": ("", """fn show(f) { try { print f(); } catch e { print "error"; } }
show(fn() { return 1 == "1"; });
show(fn() { return true == 1; });
show(fn() { return [1, "a"] == [1, true]; });
show(fn() { return nil == 0; });
show(fn() { return [] != nil; });
show(fn() { return {} != []; });
show(fn() { return 1 < "2"; });
print @A@ == "@A@";
"""),
    "plus": ("", """fn show(f) { try { print f(); } catch e { print "error"; } }
show(fn() { return "n" + @A@; });
show(fn() { return @A@ + "n"; });
show(fn() { return "a" + "b"; });
show(fn() { return "l" + [1, "x"]; });
show(fn() { return nil + "x"; });
show(fn() { return [1] + [2]; });
print 1 + "a" + nil;
"""),
    "boolops": ("", """fn v(x) { print "v", x; return x; }
print v(@A@) or v(2), v(nil) or v("x"), v(false) or v(nil);
print v(@A@) and v("y"), v(nil) and v(2), v(1) and v(nil);
let name = nil or "default";
print name;
"""),
    "modules": ("", """import "lib/a" as a;
import "lib/a" as again;
print a.value, again.value, a == again;
a.bump();
print again.get(), a.count;
print a.missing;
== lib/a.vela
import "b" as b;
print "loading a";
let value = b.name;
let count = @A@;
fn bump() { count = count + 1; }
fn get() { return count; }
== b.vela
let name = "outer b";
== lib/b.vela
let name = "inner b";
"""),
    "private": ("", """import "m" as m;
print m.open();
print m._hidden;
== m.vela
let _hidden = @A@;
fn open() { return _hidden; }
"""),
    "cycle": ("", """try { import "a" as a; } catch e { print e; }
import "c" as c;
== a.vela
print "a";
import "b" as b;
== b.vela
print "b";
import "a" as a;
== c.vela
import "main" as m;
"""),
    "modulefails": ("", """for n in [1, 2] { try { import "m" as m; } catch e { print e; } }
import "s" as s;
== m.vela
print "run";
let x = @A@;
x[0];
== s.vela
let y = 1;
let 2 = y;
"""),
    "sort": ("", """let list = [3, 1, @A@];
let other = sort(list);
print list, other;
push(other, 9);
print len(list);
print sort(["b", "a"]), sort([]);
sort([1, "a"]);
"""),
    "depth": ("", """let n = 0;
fn down() { n = n + 1; down(); }
try { down(); } catch e { print e; }
print n;
fn sum_to(k) { if k == 0 { return 0; } return k + sum_to(k - 1); }
print sum_to(150);
down();
"""),
    "depthexact": ("", """fn f(k) { if k == 1 { return len("x"); } return f(k - 1); }
print f(@LIMIT@);
print f(@LIMIT@ + 1);
"""),
    "mixed": ("", """fn make() { let total = 0; return {"add": fn(n) { total = total + n; return total; }}; }
let m = make();
m["add"](@A@);
print m["add"](@B@);
let r = [];
for k in keys({"b": 1, "a": 2}) { push(r, k); }
print join(r, "-"), type(m), len("word"), has(m, "add"), int("-0@A@");
print m;
"""),
    "manual": ("", """print ["a\\tb", "q\\"\\n\\\\"];
let t = {"k": @A@};
print del(t, "k"), t;
print int("+@A@"), int("-0");
fn log(x) { print "log", x; return x; }
let fs = [fn(x) { return x; }];
print fs[log(0)](log(@B@));
print [1, 2] == [1], [1] == [1, 2];
print 2 >= 2, "b" >= "a", "b" >= "b", 1 >= 2;
log(undefined_function)(log(1));
"""),
    "everything": ("defer ensure compound", """let trace = [];
fn note(x) { push(trace, x); return len(trace); }
fn work(list) {
  let n = 0;
  defer note(n);
  for x in list {
    try { n += x; if n > @B@ { throw n; } }
    catch e { note(n); n -= @A@; }
    finally { n += 1; }
  }
  return n;
}
print work([@A@, @B@, @C@, "x"]), trace;
"""),
}  # fmt: skip
