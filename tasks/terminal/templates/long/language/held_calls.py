"""Held-out programs of Vela about reports of errors and tail calls; `held` explains their form."""

__all__ = ["CALLS"]

CALLS: dict[str, tuple[str, str]] = {
    "traceplain": ("", """fn inner(x) { return [x][@A@]; }
fn outer(x) {
  let y = inner(x);
  return y;
}
let run = fn() { print "run"; outer(1); };
run();
"""),
    "tracedeep": ("", """fn down(n) {
  if n == 0 { throw "bottom"; }
  let r = down(n - 1);
  return r;
}
fn start() { let r = down(@C@); return r; }
start();
"""),
    "tracetop": ("", "print 1;\nlet x = [@A@][5];\n"),
    "tracecount": ("", """fn two(a, b) { return a + b; }
fn one() { let r = two(
  1); return r; }
one();
"""),
    "tracebuiltin": ("", """fn parse(s) {
  let n = int(s);
  return n;
}
fn all(list) { let made = []; for s in list { push(made, parse(s)); } return made; }
print all(["1", "2"]);
print all(["@A@", "x"]);
"""),
    "tracemodule": ("", """import "lib/work" as w;
print w.half(@B@ * 2);
print w.half("no");
== lib/work.vela
fn half(n) { let h = split(n, 2); return h; }
fn split(n, k) {
  return n / k;
}
"""),
    "tracecaught": ("", """fn bad() { throw "first"; }
fn again() { try { bad(); } catch e { print "caught"; missing(); } }
fn top() { again(); print "never"; }
top();
"""),
    "tracefinally": ("ensure", """fn bad(x) { throw x; }
fn f() {
  try { bad("one"); }
  finally { bad("two"); }
}
fn g() {
  try { f(); } finally { print "left"; }
}
g();
"""),
    "tracedefer": ("defer", """fn bad(x) { throw x; }
fn f() {
  defer bad("deferred");
  defer bad(
    "earlier");
  print "body";
}
fn g() { f(); }
g();
"""),
    "tracethrown": ("rethrow", """fn bad() { let x = 1 / 0; }
fn f() {
  try { bad(); } catch e { throw {"kind": "own", "message": "again"}; }
}
f();
"""),
    "tailloop": ("", """fn loop(n, sum) { if n == 0 { return sum; } return loop(n - 1, sum + n); }
try { print loop(420, 0); } catch e { print "too deep"; }
fn even(n) { if n == 0 { return true; } return odd(n - 1); }
fn odd(n) { if n == 0 { return false; } return even(n - 1); }
try { print even(421); } catch e { print "too deep"; }
"""),
    "tailnot": ("", """fn loop(n) { if n == 0 { return 0; } return (loop(n - 1)); }
try { print loop(420); } catch e { print "too deep"; }
fn plus(n) { if n == 0 { return 0; } return plus(n - 1) + 0; }
try { print plus(420); } catch e { print "too deep"; }
fn guarded(n) { if n == 0 { return 0; } try { return guarded(n - 1); } catch e { throw "deep"; } }
try { print guarded(420); } catch e { print "too deep"; }
fn handler(n) { if n == 0 { return 0; } try { throw "x"; } catch e { return handler(n - 1); } }
try { print handler(420); } catch e { print "too deep"; }
"""),
    "tailinside": ("", """fn loop(n) {
  try { let f = fn(k) { if k == 0 { return "done"; } return f(k - 1); }; print f(n); }
  catch e { print "too deep"; }
}
loop(420);
fn pick(n) {
  for x in [1, 2] { { if n == 0 { return x; } while true { return pick(n - 1); } } }
}
try { print pick(420); } catch e { print "too deep"; }
"""),
    "tailtrace": ("", """fn last(x) { return x[@B@]; }
fn middle(x) {
  return last(x);
}
fn first(x) {
  let r = middle(
    x);
  return r;
}
first([1, 2]);
"""),
    "tailself": ("", """fn step(n, list) {
  if n == 0 { return list[@D@ * 9]; }
  return step(n - 1,
    list + [n]);
}
fn start() { return step(@A@, []); }
start();
"""),
    "tailcopies": ("", """fn make(next) {
  return fn(n) { if n == 0 { return "end"; } if next == nil { return n; } return next(n - 1); };
}
let f = nil;
for x in range(0, 410) { f = make(f); }
try { print f(2000); } catch e { print "too deep"; }
"""),
    "taildefer": ("defer", """let log = [];
fn note(x) { push(log, x); }
fn loop(n) { if n == 0 { return "end"; } if n == 2 { defer note(n); } return loop(n - 1); }
try { print loop(405), log; } catch e { print "too deep"; }
fn each(n) { defer note(n); if n == 0 { return "end"; } return each(n - 1); }
try { print each(@C@); } catch e { print "too deep"; }
print log;
try { print each(420); } catch e { print "too deep", len(log); }
"""),
    "tailbuiltin": ("", """fn f(list) { return pop(list); }
fn g(x) { return f(x); }
print g([@A@, @B@]);
print g([]);
"""),
    "tailchecked": ("", """fn two(a, b) { return a; }
fn g() {
  return two(
    1);
}
g();
"""),
    "taildepth": ("", """fn spin(n) { if n == 0 { return 1; } return spin(n - 1); }
fn down(k) { if k == 1 { return 0 + spin(3); } return 0 + down(k - 1); }
print down(@LIMIT@ - 1);
try { print down(@LIMIT@); } catch e { print "deeper"; }
print down(@LIMIT@ - 4);
"""),
    "taildefaults": ("defaults", """fn f(n, step = n - 1) {
  if n == 0 { return "end"; } return f(step);
}
try { print f(410); } catch e { print "too deep"; }
"""),
    "tailvarargs": ("varargs", """fn f(n, more...) {
  if n == 0 { return len(more); } return f(n - 1, n, @A@);
}
try { print f(410); } catch e { print "too deep"; }
"""),
    "tailfinally": ("ensure", """fn f(n) {
  if n == 0 { return "end"; } try { print n; } finally { print "f"; } return f(n - 1);
}
print f(2);
fn g(n) { if n == 0 { return "end"; } try { return g(n - 1); } finally { n = 0; } }
try { print g(410); } catch e { print "too deep"; }
"""),
    "tailexit": ("leave", """fn quit(n) { if n == 0 { exit(@A@); } return quit(n - 1); }
try { quit(410); } catch e { print "too deep"; }
"""),
}  # fmt: skip
