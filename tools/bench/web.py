#!/usr/bin/env python3
"""Measures how long each view of `tarn inspect web` takes to load, in headless Chromium, on a store of many records.

    tools/bench/web.py                        1,000,000 records
    tools/bench/web.py --records 10000        fewer
    tools/bench/web.py --store STORE          an existing store, with the entities Issue, User and Label

Needs a release build (`swift build -c release --product tarn`) and Debian's chromium. The store is made up: issues that
refer to 50,000 users and to labels, one of which half of all issues have. Prints a table of milliseconds: the median and
the slowest of several loads, each in a new document, from the request to the drawn view. A view that takes 300 ms or
more in the median is an error. For comparison, an empty document of the same server is loaded as often.
"""
import argparse
import http.server
import json
import os
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "tools", "browser"))
import devtools

LIMIT = 300
OF_PAGE = 5_000
USERS = 50_000
DESCRIPTION = """
api: { base: '%s' }
entities:
  User: { key: id, attributes: { id: int, login: { type: string, index: true } } }
  Label: { key: id, attributes: { id: int, name: string } }
  Issue:
    key: id
    attributes:
      id: int
      number: { type: int, index: true }
      title: string
      state: { type: string, index: true }
      updatedAt: { type: date, index: true }
    relationships:
      author: { to: User, inverse: issues }
      labels: { to: [Label], ordered: true, inverse: issues }
endpoints:
  issues:
    path: /issues
    with: { page: 1 }
    entity: Issue
    paginate: header_link
    commit: { every: 16 }
"""
WORDS = "harbour gauge tide buoy mooring channel sounding lock weir estuary pilot ferry anchor signal lantern jetty".split()


def issue(number):
    rnd = random.Random(number)
    user = rnd.randrange(USERS)
    labels = [{"id": 1, "name": "common"}] if number % 2 else []
    labels.append({"id": 2 + number % 60, "name": f"label {2 + number % 60}"})
    return {"id": 1_000_000_000 + number, "number": number, "title": " ".join(rnd.choices(WORDS, k=6)),
            "state": "open" if number % 5 else "closed", "updatedAt": "2025-%02d-%02dT%02d:%02d:00Z"
            % (rnd.randint(1, 12), rnd.randint(1, 28), rnd.randrange(24), rnd.randrange(60)),
            "author": {"id": user, "login": f"user-{user}"}, "labels": labels}


def make_store(tarn, folder, count):
    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self):
            page = int(self.path.rsplit("page=", 1)[1].split("&")[0])
            numbers = range((page - 1) * OF_PAGE + 1, min(page * OF_PAGE, count) + 1)
            body = json.dumps([issue(number) for number in numbers], separators=(",", ":")).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            if page * OF_PAGE < count:
                self.send_header("Link", f'<http://{self.headers["Host"]}/issues?page={page + 1}>; rel="next"')
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    file, store = os.path.join(folder, "tarn.yaml"), os.path.join(folder, "web.tarn")
    with open(file, "w", encoding="utf-8") as f:
        f.write(DESCRIPTION % f"http://127.0.0.1:{server.server_port}")
    done = subprocess.run([tarn, "sync", "--file", file, "--store", store, "--quiet"], capture_output=True, text=True)
    server.shutdown()
    if done.returncode != 0:
        sys.exit(f"tools/bench/web.py: tarn sync: {done.stderr[-2000:]}")
    return store


def load(browser, url, ready):
    """The milliseconds from the request of a document until its view is drawn."""
    browser.call("Page.navigate", url="about:blank")
    browser.call("Page.navigate", url=url)
    browser.until(ready)
    return browser.run("window.drawn ?? performance.getEntriesByType('navigation')[0].loadEventEnd")


# Notes the time at which the first view is drawn.
WATCH = """
    new MutationObserver(() => {
      const view = document.getElementById("view");
      if (!window.drawn && view?.dataset.run) requestAnimationFrame(() => setTimeout(() => { window.drawn ??= performance.now(); }));
    }).observe(document, { subtree: true, childList: true, attributes: true });
"""


def measure(browser, url, runs):
    browser.call("Page.addScriptToEvaluateOnNewDocument", source=WATCH)
    first = "document.querySelector('td.first a').getAttribute('href')"
    drawn = "Boolean(window.drawn)"
    load(browser, url + "#/records?entity=Issue", drawn)
    record = browser.run(first)
    after = browser.run("document.getElementById('next').getAttribute('href')")
    load(browser, url + "#/records?entity=Label", drawn)
    common = browser.run(first)
    views = [
        ("empty document", "icon.svg"), ("overview", "#/"), ("records", "#/records?entity=Issue"), ("records, next page", after),
        ("records, highest key first", "#/records?entity=Issue&reversed=yes"),
        ("records, sorted by an index", "#/records?entity=Issue&order=updatedAt&reversed=yes"),
        ("records, a condition", "#/records?entity=Issue&where=state%20%3D%20closed"),
        ("records, a text that no record has", "#/records?entity=Issue&text=nothing%20has%20this"),
        ("record", record), ("record that half of all refer to", common), ("responses", "#/responses"),
        ("outbox", "#/outbox"), ("progress", "#/progress"),
        ("changes", "#/changes"), ("schema", "#/schema"), ("pages, first answer", "#/pages"), ("verify", "#/verify"),
    ]
    slow = []
    print(f"{'view':<38}{'median ms':>10}{'slowest ms':>12}")
    for name, view in views:
        ready = "document.readyState === 'complete'" if name == "empty document" else drawn
        times = [load(browser, url + view, ready) for _ in range(runs)]
        median = statistics.median(times)
        print(f"{name:<38}{median:>10.0f}{max(times):>12.0f}", flush=True)
        if name != "empty document" and browser.run("document.body.innerText").find("This view failed") >= 0:
            sys.exit(f"tools/bench/web.py: the view failed: {name}")
        if median >= LIMIT:
            slow.append(name)
    foreign = [one for one in browser.requests if one.startswith("http") and not one.startswith(url.rsplit("/", 2)[0] + "/")]
    print(f"{len(browser.requests)} requests, {len(foreign)} to other machines")
    if slow or foreign:
        sys.exit(f"tools/bench/web.py: {LIMIT} ms or more: {slow}; foreign requests: {foreign}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--records", type=int, default=1_000_000)
    parser.add_argument("--runs", type=int, default=11)
    parser.add_argument("--store")
    parser.add_argument("--tarn", default=os.path.join(ROOT, ".build/release/tarn"))
    options = parser.parse_args()
    work = tempfile.mkdtemp(prefix="tarn-web.")
    try:
        store = options.store or make_store(options.tarn, work, options.records)
        print(f"{store}: {os.path.getsize(os.path.join(store, 'data.mdb')) / 1e6:.0f} MB")
        with devtools.Page(options.tarn, store) as page, devtools.Browser() as browser:
            browser.show(1280, 860)
            measure(browser, page.url, options.runs)
    finally:
        shutil.rmtree(work, ignore_errors=True)


if __name__ == "__main__":
    main()
