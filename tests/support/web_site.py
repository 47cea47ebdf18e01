# ruff: noqa: E501 - pages are easier to read as they are sent
"""A network of hand-written pages with every feature of the sites, for tests of browsers."""

from hexathlon.tasks.web.world.exchange import Download, TraceEvent, WebRequest, WebResponse

HOST = "tracker.hexathlon.test"
OTHER = "wiki.hexathlon.test"

START = """<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"/><title>Every
 feature</title><script src="/assets/site.js" defer="defer"></script></head>
<body>
<h1>Start</h1>
<a href="/next?a=1&amp;b=two+words">Next</a> <a href="/next" target="_blank">In a tab</a>
<a href="#below">Below</a> <a href="/file">Save</a> <a href="/file" download="download">Keep</a> <a href="/away">Away</a>
<a href="http://example.com/x">Elsewhere</a> <a href="javascript:alert(1)">Script</a>
<a href="data:text/html,hi">Data</a> <a href="file:///etc/passwd">File</a>
<a href="http://127.0.0.1:9/">Loopback</a> <a href="/loop">Circle</a> <a href="/same">Same</a>
<a href="http://wiki.hexathlon.test/">Wiki</a> <a href="/plain">Plain</a>
<p hidden="hidden" id="more">More <a href="/next">inside</a></p>
<button type="button" data-toggle="more">Toggle</button>
<button type="button" data-open="dialog">Open</button>
<dialog id="dialog" aria-label="Sure?"><form method="post" action="/posted"><p>Really?</p>
<input type="hidden" name="hid" value="1"/>
<label for="reason">Reason</label><input type="text" id="reason" name="reason" value=""/>
<button type="button" data-close="data-close">Cancel</button><button type="submit" name="go" value="yes">Do it</button>
</form></dialog>
<details><summary>Details</summary><p>Within <a href="/next">deep</a></p></details>
<button type="button" data-load="/fragment" data-into="place">Load</button><div id="place"></div>
<button type="button" data-optimistic="Liked" data-post="/like">Like</button>
<form method="post" action="/posted" enctype="multipart/form-data" aria-label="Long" novalidate="novalidate">
<label for="name">Name</label><input type="text" id="name" name="name" value="Ann"/>
<label for="text">Text</label><textarea id="text" name="text">One
two</textarea>
<label for="day">Day</label><input type="date" id="day" name="day" value="2026-03-04"/>
<label for="n">Count</label><input type="number" id="n" name="n" value="3"/>
<label for="secret">Secret</label><input type="password" id="secret" name="secret"/>
<label for="lock">Locked</label><input type="text" id="lock" name="lock" value="fixed" readonly="readonly"/>
<label for="off">Off</label><input type="text" id="off" name="off" value="x" disabled="disabled"/>
<label><input type="checkbox" name="agree" value="1" checked="checked"/> Agree</label>
<fieldset><legend>Size</legend><label><input type="radio" name="size" value="s" checked="checked"/> Small</label>
<label><input type="radio" name="size" value="l"/> Large</label></fieldset>
<label for="kind">Kind</label><select id="kind" name="kind" data-depends="/depends" data-into="sub"><option value="a">Alpha</option><option value="b" selected="selected">Beta</option></select>
<div id="sub"></div>
<label for="many">Many</label><select id="many" name="many" multiple="multiple"><option>one</option><option selected="selected">two</option><option>three</option></select>
<label for="upload">Upload</label><input type="file" id="upload" name="upload"/>
<button type="submit">Save all</button><button type="submit" formaction="/next" formmethod="get">Preview</button>
</form>
<form method="get" action="/next" aria-label="Search"><input type="search" name="q" aria-label="Query"/><button>Find</button></form>
<form method="post" action="http://example.com/steal" aria-label="Bad"><button>Steal</button></form>
<div class="component"><template shadowrootmode="open"><p>Shadow <a href="/next">link</a>
<button type="button" data-open="inner">Inner</button></p><dialog id="inner" aria-label="In shadow"><form method="dialog"><button>Close</button></form></dialog></template></div>
<iframe src="/frame" title="Inner page"></iframe>
<div data-drag="7" draggable="true" aria-label="Card">Card</div>
<section data-drop="/dropped" aria-label="Done"><p>Drop here</p></section>
<table><thead><tr><th>A</th><th>B</th></tr></thead><tbody><tr><td><a href="/next">cell</a></td><td>2</td></tr></tbody></table>
<p id="below">Below</p>
</body></html>"""

FRAME = """<!DOCTYPE html><html lang="en"><head><title>Frame</title><script src="/assets/site.js" defer="defer"></script></head><body><p>Framed {}</p>
<a href="/frame?step=2">Step</a> <a href="/next" target="_top">Leave</a>
<form method="post" action="/frame"><input type="text" name="said" aria-label="Say" value=""/><button>Send</button></form>
</body></html>"""

NEXT = """<!DOCTYPE html><html lang="en"><head><title>Next</title></head><body><h1>Next</h1><p>{}</p>
<a href="/">Back home</a> <a href="/next?again=1">Again</a></body></html>"""


class PageNetwork:
    """Looks like `Network`; every request is answered from this module."""

    def __init__(self) -> None:
        self.files = {"note.txt": b"Hello\n"}
        self.trace: list[TraceEvent] = []
        self.likes = 0

    start_url = f"http://{HOST}/"
    hosts = {"tracker": HOST, "wiki": OTHER}

    def start_cookies(self):
        return {HOST: {"session": "abc"}}

    def knows(self, host: str) -> bool:
        return host in (HOST, OTHER)

    def receive(self, download: Download) -> None:
        self.files[download.filename] = download.content

    def handle(self, request: WebRequest) -> WebResponse:
        response = self._answer(request)
        files = tuple(
            (name, f"{file.filename}={file.content!r}") for name, file in request.files.items()
        )
        self.trace.append(TraceEvent(request.method, request.host, request.path, request.query,
                                     (*request.form, *files), response.status))  # fmt: skip
        return response

    def _answer(self, request: WebRequest) -> WebResponse:
        path, seen = request.path, f"{request.query} {request.cookies}"
        if path == "/" and request.host == HOST:
            return WebResponse(200, START)
        if path == "/next":
            return WebResponse(200, NEXT.format(str(seen).replace("'", "")))
        if path == "/file":
            return WebResponse(200, download=Download("saved.csv", b"a,b\n1,2\n"))
        if path == "/away":
            return WebResponse(303, location="http://example.com/away")
        if path == "/loop":
            return WebResponse(303, location="/loop")
        if path == "/same":
            return WebResponse(303, location="/", cookies={"seen": "yes"})
        if path == "/plain":
            return WebResponse(200, "Plain <text>", media_type="text/plain")
        if path == "/fragment":
            return WebResponse(200, '<p>Loaded <a href="/next">more</a></p>')
        if path == "/depends":
            values = "-".join(value for _, value in request.query)
            return WebResponse(200, f"<p>Depends {values.replace('&', '')}</p>")
        if path == "/like":
            self.likes += 1
            return WebResponse(303, location="/")
        if path == "/frame":
            said = dict(request.form).get("said", "") or dict(request.query).get("step", "1")
            return WebResponse(200, FRAME.format(said))
        if path in ("/posted", "/dropped"):
            fields = dict(request.form)
            if fields.get("name") == "" or fields.get("reason") == "":
                return WebResponse(422, NEXT.format("Something is missing."))
            return WebResponse(303, location="/next?done=1")
        return WebResponse(404, NEXT.format("There is no such page."))
