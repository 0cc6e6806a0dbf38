"""The cases that run the `tarn` command itself, from process start to exit, and their peers."""
import json
import os
import random
import shutil
import sqlite3
import statistics
import subprocess
import time
import uuid

import gen_details
import gen_rows
import server

HERE = os.path.dirname(os.path.abspath(__file__))
NONE = {"durability": "none", "compression": "none"}
FULL = {"durability": "full", "compression": "zstd"}
# As `pace: { concurrent }` of details.yaml.
DETAILS_AT_ONCE = 16
# As many as TarnOutbox.requests, as many at a time.
DRAINED = 10_000


def run(command, **environment):
    """Seconds from start to exit, and the standard output."""
    start = time.monotonic()
    done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, **environment})
    seconds = time.monotonic() - start
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(command)}: status {done.returncode}: {done.stderr.strip()[-2000:]}")
    return seconds, done.stdout


def details(tarn, base, pages, store):
    """`tarn sync` of lists and details, then once more: all pages are answered 304."""
    named = ["--file", os.path.join(HERE, "details.yaml"), "--store", store]
    seconds, _ = run([tarn, "sync", *named, "--quiet"], THINGS_URL=base)
    # `weight` comes with a detail only.
    counts = {"things": int(run([tarn, "count", "Thing", *named, "--where", "weight > 0"], THINGS_URL=base)[1]),
              "lists": len(os.listdir(os.path.join(pages, "lists")))}
    again, text = run([tarn, "sync", *named], THINGS_URL=base)
    # endpoint  pages  304  …
    found = [line.split()[:3] for line in text.split("\n")]
    for name, pages in (("things", counts["lists"]), ("thing", counts["things"])):
        if [name, str(pages), str(pages)] not in found:
            raise RuntimeError(f"the second sync was not answered 304 throughout: {text}")
    return {"seconds": seconds, "again": again, "pages": sum(counts.values()), "counts": counts, **FULL}


def details_curl(base, pages, store):
    """The same requests by curl, whose output goes to one file and is counted."""
    lists, things = (len(os.listdir(os.path.join(pages, part))) for part in ("lists", "things"))
    file = store + ".out"
    command = ["curl", "--silent", "--show-error", "--fail", "--parallel", "--parallel-immediate", "--parallel-max",
               str(DETAILS_AT_ONCE), f"{base}/things?page=[1-{lists}]", f"{base}/things/[1-{things}]/"]
    with open(file, "wb") as out:
        start = time.monotonic()
        done = subprocess.run(command, stdout=out, stderr=subprocess.PIPE)
        seconds = time.monotonic() - start
    wanted = 0
    for part in ("lists", "things"):
        for entry in os.scandir(os.path.join(pages, part)):
            with open(entry.path, encoding="utf-8") as f:
                wanted += len(f.read().replace(gen_details.BASE, base))
    if done.returncode != 0 or os.path.getsize(file) != wanted:
        raise RuntimeError(f"curl: status {done.returncode}, {os.path.getsize(file)} bytes of {wanted}: {done.stderr[:500]}")
    os.remove(file)
    return {"seconds": seconds, "pages": lists + things, "server": server_rate(base, things), **{**FULL, "compression": "none"}}


def drain_curl(base, pages, store):
    """The requests of `outbox.drain` by curl, with the same bodies and header fields."""
    file = store + ".curl"
    with open(file, "w", encoding="utf-8") as f:
        for number in range(DRAINED):
            body = json.dumps({"title": f"changed {number}"}, separators=(",", ":")).replace('"', '\\"')
            f.write(f"""{"next" if number else ""}
silent
show-error
fail
url = "{base}/notes/{number}"
request = "PATCH"
header = "Content-Type: application/json"
header = "Idempotency-Key: {uuid.uuid4()}"
data = "{body}"
write-out = "%{{http_code}}\\n"
""")
    command = ["curl", "--parallel", "--parallel-immediate", "--parallel-max", str(DETAILS_AT_ONCE), "--config", file]
    start = time.monotonic()
    done = subprocess.run(command, capture_output=True, text=True)
    seconds = time.monotonic() - start
    answered = done.stdout.split("\n").count("204")
    if done.returncode != 0 or answered != DRAINED:
        raise RuntimeError(f"curl: status {done.returncode}, {answered} of {DRAINED} were answered 204: {done.stderr[:500]}")
    os.remove(file)
    return {"seconds": seconds, "requests": DRAINED, **{**FULL, "compression": "none"}}


def server_rate(base, things):
    """The requests that the server answers in a second, asked by wrk: what neither contender can pass."""
    script = os.path.join(HERE, ".build-work", "details.lua")
    with open(script, "w", encoding="utf-8") as f:
        f.write(f'local n = 0\nrequest = function() n = n % {things} + 1; return wrk.format("GET", "/things/" .. n .. "/") end\n')
    text = run(["wrk", "-t1", f"-c{DETAILS_AT_ONCE}", "-d1s", "-s", script, base])[1]
    return float(text.split("Requests/sec:")[1].split()[0])


def mirror(tarn, base, pages, store):
    """`tarn sync` of the pages of `mirror.cold`."""
    named = ["--file", os.path.join(HERE, "issues.yaml"), "--store", store]
    seconds, _ = run([tarn, "sync", *named, "--quiet"], ISSUES_URL=base)
    counts = {name: int(run([tarn, "count", entity, *named], ISSUES_URL=base)[1])
              for name, entity in (("issues", "Issue"), ("users", "User"), ("labels", "Label"), ("milestones", "Milestone"))}
    megabytes = sum(entry.stat().st_size for entry in os.scandir(pages)) / 1e6
    return {"seconds": seconds, "megabytes": megabytes, "issues": counts["issues"], **FULL}


def rows(tarn, base, pages, store):
    """Commands that read one record, and a short list, from a store of many; each from start to exit."""
    # Made once: the store is only read.
    kept, named = kept_store(tarn, base, pages), ["--file", os.path.join(HERE, "rows.yaml")]
    count, rnd = int(run([tarn, "count", "Row", *named, "--store", kept], ROWS_URL=base)[1]), random.Random(3)
    if count != expected_rows(pages):
        raise RuntimeError(f"the store has {count} rows")

    def get():
        key = rnd.randrange(1, count + 1)
        seconds, text = run([tarn, "get", "Row", str(key), *named, "--store", kept], ROWS_URL=base)
        assert json.loads(text)["id"] == key
        return seconds

    def listed():
        least = rnd.randrange(count // 2)
        seconds, text = run(
            [tarn, "list", "Row", *named, "--store", kept, "--where", f"comments >= {least}", "--sort", "comments", "--limit", "20",
             "--format", "ndjson"], ROWS_URL=base)
        found = [json.loads(line)["comments"] for line in text.strip().split("\n")]
        assert len(found) == 20 and found == sorted(found) and found[0] >= least
        return seconds

    line = {"get": median(get), "list": median(listed), "version": median(lambda: run([tarn, "--version"])[0]), **NONE}
    return {**line, "processor": {"get": processor(get), "list": processor(listed), "version": processor(lambda: run([tarn, "--version"]))}}


def rows_sqlite(base, pages, store):
    """The same of an equal SQLite database, by the `sqlite3` command."""
    count, rnd, file = expected_rows(pages), random.Random(3), pages + ".sqlite"
    if not os.path.exists(file):
        with sqlite3.connect(file + ".unfinished") as database:
            database.execute("CREATE TABLE row (id INTEGER PRIMARY KEY, name TEXT, comments INTEGER, note TEXT)")
            database.executemany("INSERT INTO row VALUES (:id, :name, :comments, :note)", gen_rows.rows(count))
            database.execute("CREATE INDEX name ON row (name)")
            database.execute("CREATE INDEX comments ON row (comments)")
        os.rename(file + ".unfinished", file)

    def get():
        key = rnd.randrange(1, count + 1)
        seconds, text = run(["sqlite3", "-json", file, f"SELECT * FROM row WHERE id = {key}"])
        assert json.loads(text)[0]["id"] == key
        return seconds

    def listed():
        least = rnd.randrange(count // 2)
        seconds, text = run(
            ["sqlite3", "-json", file, f"SELECT * FROM row WHERE comments >= {least} ORDER BY comments LIMIT 20"])
        assert len(json.loads(text)) == 20
        return seconds

    return {"get": median(get), "list": median(listed), **NONE}


def median(measure, runs=31):
    """The median of several runs, in milliseconds, after one that is not counted."""
    measure()
    return 1000 * statistics.median(measure() for _ in range(runs))


def processor(measure, runs=11):
    """The processor time of several runs, in milliseconds each: other programs disturb it less."""
    before = os.times()
    for _ in range(runs):
        measure()
    after = os.times()
    return 1000 * (after.children_user + after.children_system - before.children_user - before.children_system) / runs


def expected_rows(pages):
    with open(pages + ".counts.json", encoding="utf-8") as f:
        return json.load(f)["rows"]


def kept_store(tarn, base, pages):
    kept = pages + ".tarn"
    if not os.path.isdir(kept):
        shutil.rmtree(kept + ".unfinished", ignore_errors=True)
        run([tarn, "sync", "--file", os.path.join(HERE, "rows.yaml"), "--store", kept + ".unfinished", "--quiet"], ROWS_URL=base)
        os.rename(kept + ".unfinished", kept)
    return kept
