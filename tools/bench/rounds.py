#!/usr/bin/env python3
"""Runs the contenders of each case in turn, takes the median, checks the result and writes it down. Called by `run`.

Every run is an own process with a fresh store, and the contenders take turns, so that a slow minute of a shared machine
hits all of them: ratios within one call are what counts, not absolute figures.
"""
import argparse
import hashlib
import json
import os
import shutil
import statistics
import subprocess
import sys
import time

import commands
import inspecting
import proxies
import server

HERE = os.path.dirname(os.path.abspath(__file__))
WORK = os.path.join(HERE, ".build-work")
FLOOR = os.path.join(WORK, "floor")
BENCH = os.path.join(HERE, ".build", "release", "Bench")
# Another binary of `tarn` can be measured, such as one that is linked statically.
TARN = os.environ.get("BENCH_TARN") or os.path.join(HERE, ".build", "release", "tarn")
RESULTS = os.path.join(HERE, "results.json")
PEER_PYTHON = os.path.join(WORK, "dlt", "bin", "python")
GENERATOR = os.path.join(HERE, "gen_pages.py")
SHAPES = os.path.join(HERE, "gen_shapes.py")
DETAILS = os.path.join(HERE, "gen_details.py")
ROWS = os.path.join(HERE, "gen_rows.py")


class Program:
    """What the contenders run; one run of it may give the figures of several cases.

    `floor_arguments` is None if the floor does not take part, `runs` what Tarn and the peer are told to run, and `workload` gives the
    folder with the JSON and what is in it. `pages_per_commit` is None where the caller's counts. With a `stream`, its output is the
    standard input of a run. What is in `first` is run by Tarn directly before, and its line is this one's `first`. With `is_served` a server
    runs meanwhile; `peer` gives a peer that is a program of its own: it is told where the server, the pages and the store are, and returns a line.
    `itself` is Tarn in the same way, where it is not Bench that runs it.
    """

    def __init__(self, floor_arguments=None, runs=None, workload=None, pages_per_commit=None, stream=None, first=None, is_served=False,
                 peer=None, itself=None):
        self.is_served, self.peer, self.itself = is_served, peer, itself
        self.floor_arguments, self.runs, self.pages_per_commit = floor_arguments, runs, pages_per_commit
        self.workload, self.stream, self.first = workload or (lambda given: issues(given.records)), stream, first


def floor_import(pages, store, given, pages_per_commit=None):
    return ["import", pages, store, str(pages_per_commit or given.pages_per_commit)]


def shape(name, times=1):
    """The responses of gen_shapes.py, with a multiple of `--records` records."""
    return Program(workload=lambda given: made(SHAPES, f"{name}-{times * given.records}", [name, str(times * given.records)]))


def dlt(base, pages, store):
    command = [PEER_PYTHON, os.path.join(HERE, "peer_dlt.py"), "--base", base, "--pages", pages, "--store", store]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        fail(f"dlt failed with status {done.returncode}: {done.stderr.strip()[-2000:]}")
    return json.loads(done.stdout.strip().split("\n")[-1])


def curl(base, pages, store):
    command = ["curl", "--silent", "--show-error", "--fail", "--parallel", "--parallel-max", "16", f"{base}/small/[0-{REQUESTS - 1}]"]
    start = time.monotonic()
    done = subprocess.run(command, capture_output=True)
    seconds = time.monotonic() - start
    if done.returncode != 0 or len(done.stdout) != REQUESTS * len(server.SMALL):
        fail(f"curl: status {done.returncode}, {len(done.stdout)} bytes: {done.stderr[:500]}")
    return {"seconds": seconds, "requests": REQUESTS, "durability": "none", "compression": "none"}


# As many as TarnMirror.requests.
REQUESTS = 20_000

PROGRAMS = {
    "import": Program(floor_import),
    "import.page": Program(lambda pages, store, given: floor_import(pages, store, given, 1), runs="import", pages_per_commit=1),
    # The floor of pages that come again is its import into an empty store.
    "import.again": Program(floor_import),
    "import.wide": shape("wide"),
    "import.deep": shape("deep", 10),
    "import.small": shape("small", 2),
    "import.big": Program(stream=lambda given: [sys.executable, GENERATOR, str(10 * given.records), "-"], first="import"),
    "read": Program(lambda pages, store, given: ["import-read", pages, store, str(given.pages_per_commit)]),
    "write.small": Program(lambda pages, store, given: ["write-small", store, "3"]),
    "write.bulk": Program(lambda pages, store, given: ["write-bulk", store, str(10 * given.records)]),
    "memory": Program(),
    "query": Program(),
    "typed": Program(),
    "observe": Program(),
    "mirror": Program(first="import", is_served=True, peer=dlt),
    "http": Program(workload=lambda given: (None, {}), is_served=True, peer=curl),
    "cache": Program(),
    "cache.many": Program(),
    # Without the peer, which would fetch everything again.
    "cache.304": Program(runs="mirror", is_served=True),
    "proxy": Program(
        workload=lambda given: (None, {}), is_served=True, peer=lambda base, pages, store: proxies.nginx(base),
        itself=lambda base, pages, store: proxies.tarn(TARN, base, store)),
    "details": Program(
        workload=lambda given: made(DETAILS, f"details-{given.records}", [str(given.records)]), is_served=True, peer=commands.details_curl,
        itself=lambda base, pages, store: commands.details(TARN, base, pages, store)),
    "outbox.enqueue": Program(workload=lambda given: (None, {})),
    "outbox.drain": Program(workload=lambda given: (None, {}), is_served=True, peer=commands.drain_curl),
    "cli.mirror": Program(first="mirror", is_served=True, itself=lambda base, pages, store: commands.mirror(TARN, base, pages, store)),
    "cli.rows": Program(
        workload=lambda given: made(ROWS, f"rows-{100 * given.records}", [str(100 * given.records)]), is_served=True,
        peer=commands.rows_sqlite, itself=lambda base, pages, store: commands.rows(TARN, base, pages, store)),
    "inspect": Program(
        workload=lambda given: made(ROWS, f"rows-{100 * given.records}", [str(100 * given.records)]), is_served=True,
        peer=lambda base, pages, store: inspecting.peers(TARN, base, pages, store),
        itself=lambda base, pages, store: inspecting.inspect(TARN, base, pages, store)),
    "scale": Program(lambda pages, store, given: ["scale", store, str(given.records)]),
}


class Case:
    """What a case is called, how it is read from what a contender prints, what it must reach, and how good the peer must be.

    `value` may give None for a contender that does not take part. `must` is the least `vs_floor`, `vs_peer` or the limit of
    Tarn's own figure (`most`, `least`); None where nothing is asked. `least_peer_to_floor` is None where nothing is asked of the peer;
    `least_peer_to_own` is the name of another figure of the peer's run, and the least part of it that the peer must reach.
    `beside` is what else Tarn's figure is compared with, of the same line: a name (`vs_again`) and what reads it.
    """

    def __init__(self, name, unit, better, value, program, tarn, must=None, least_peer_to_floor=None, peer_judged_by=None,
                 beside=None, least_peer_to_own=None):
        self.name, self.unit, self.better, self.value, self.beside = name, unit, better, value, beside
        self.program, self.tarn, self.must = program, tarn, must or {}
        self.least_peer_to_floor, self.peer_judged_by = least_peer_to_floor, peer_judged_by or value
        self.least_peer_to_own = least_peer_to_own

    def contenders(self):
        return {"tarn": self.tarn, "floor": "floor", "peer": "peer"}


def figure(key, peer_key=None):
    """A figure by its name. With a `peer_key` the peer's is another one than Tarn's and the floor's."""
    return lambda line: line.get(peer_key, line.get(key))


def rate_of(name):
    """Rows a second, by the name of their time."""
    return lambda line: line["rows"] / line[name] if name in line else None


def import_rate(line):
    return line["megabytes"] / line["seconds"]


def import_rate_by_hand(line):
    """A figure of the peer's second way; Tarn and the floor have one way."""
    return line["megabytes"] / line.get("seconds_by_hand", line["seconds"])


def or_import_rate(key):
    """Tarn's figure of that name; the floor has the rate of its import."""
    return lambda line: line[key] if key in line else import_rate(line)


def size(key):
    """The store's bytes over those of the JSON. Without that of Tarn: the file as it is."""
    return lambda line: line.get(key, line["store_bytes"]) / 1e6 / line["megabytes"]


def shape_cases(shape):
    name = f"import.{shape}"
    return [
        Case(name, "MB/s of JSON", "higher", import_rate, name, "tarn.zstd", {"vs_peer": 10}),
        Case(name + ".by-hand", "MB/s of JSON", "higher", import_rate_by_hand, name, "tarn.zstd"),
        Case(name + ".none", "MB/s of JSON", "higher", import_rate, name, "tarn.none"),
    ]


def read_cases(suffix, tarn, field, related):
    # The reference measurement: 10,461 and 7,965 records by the peer, which decodes, beside 511,684 single fields in the same process. The
    # floor is no measure of that: it only waits for memory, and is three times as fast if everything is in the processor's caches.
    own = {} if suffix else {"record": ("field", 0.8 * 10_461 / 511_684), "each": ("field", 0.8 * 7_965 / 511_684)}
    # 73,000 typed records against 1.0 to 1.4 million by the floor; the peer reads one field here, which is faster.
    asked = {} if suffix else {"related": 0.8 * 73_000 / 1_000_000}
    return [
        Case("read.field" + suffix, "records/s", "higher", figure("field"), "read", tarn, {"vs_floor": field}),
        Case("read.record" + suffix, "records/s", "higher", figure("record"), "read", tarn,
             least_peer_to_own=own.get("record")),
        Case("read.record.by-hand" + suffix, "records/s", "higher", figure("record", "record_by_hand"), "read", tarn),
        Case("read.each" + suffix, "records/s", "higher", figure("each"), "read", tarn, least_peer_to_own=own.get("each")),
        Case("read.each.by-hand" + suffix, "records/s", "higher", figure("each", "each_by_hand"), "read", tarn),
        Case("read.related" + suffix, "records/s", "higher", figure("related"), "read", tarn, {"vs_floor": related},
             least_peer_to_floor=asked.get("related")),
    ]


def query_cases(suffix, tarn, scan):
    # The targets apply to uncompressed rows, except that of the scan. The figures by hand have no target.
    def asked(least):
        return {} if suffix else {"vs_peer": least}

    return [
        Case("query.index" + suffix, "records/s", "higher", figure("index"), "query", tarn, asked(5)),
        Case("query.index.by-hand" + suffix, "records/s", "higher", figure("index", "index_by_hand"), "query", tarn),
        Case("query.scan" + suffix, "records/s", "higher", figure("scan"), "query", tarn, {"vs_peer": scan}),
        Case("query.include" + suffix, "records/s", "higher", figure("include"), "query", tarn, asked(5)),
        Case("query.include.by-hand" + suffix, "records/s", "higher", figure("include", "include_by_hand"), "query", tarn),
        Case("query.count" + suffix, "records/s", "higher", figure("count"), "query", tarn, asked(3)),
        Case("query.group" + suffix, "records/s", "higher", figure("group"), "query", tarn, asked(3)),
    ]


def typed_cases(suffix, tarn):
    """Structs with `@Record`. The targets apply to uncompressed rows."""
    def asked(key, least):
        return {} if suffix else {key: least}

    return [
        Case("typed.fetch" + suffix, "records/s", "higher", figure("fetch"), "typed", tarn, asked("vs_by_hand", 0.95),
             beside=("vs_by_hand", lambda line: line["fetch_by_hand"])),
        Case("typed.query" + suffix, "records/s", "higher", figure("query"), "typed", tarn, asked("vs_peer", 5)),
        Case("json.record" + suffix, "records/s", "higher", figure("json"), "typed", tarn, asked("vs_peer", 10)),
    ]


def cache_cases(suffix, tarn):
    """The targets of uncompressed rows: microseconds, and the factor to a stored body that is decoded in the same run."""
    asked = {} if suffix else {"keys": {"most": 20, "vs_body": 50}, "fields": {"most": 120, "vs_body": 20}}
    return [
        Case(f"cache.hit.{key}{suffix}", "µs", "lower", figure(key), "cache", tarn, asked.get(key),
             beside=("vs_body", lambda line: line["decoded"]))
        for key in ("keys", "fields")
    ]


def scale_cases(suffix, tarn, read, related):
    """The ratios are those that `read.field`, `read.related` and `write.bulk` have to reach, at each size."""
    def of(size, key, instead=None):
        def value(line):
            figures = line["sizes"].get(str(size), {})
            return figures.get(key, figures.get(instead))
        return value

    return [
        Case(f"scale.{size}.{key}{suffix}", "rows/s", "higher", of(size, key), "scale", tarn, {"vs_floor": least})
        for size in SCALES for key, least in (("read", read), ("range", related), ("insert", 0.7), ("update", 0.7))
    ] + [
        # The floor's second way: it reads the field that the others read, out of rows of Tarn's form. Nothing is asked.
        Case(f"scale.{size}.range.field{suffix}", "rows/s", "higher", of(size, "range_field", "range"), "scale", tarn)
        for size in SCALES
    ]


# How many times `--records` the sizes of `scale` are; the floor and the peer stop before the last.
SCALES = (1, 10, 100, 500)

# The reference measurement of an import: 13 MB/s by the peer, 170 to 290 MB/s by the floor; the end that asks most of the peer.
IMPORT_PEER = 0.8 * 13 / 170
# One durable row: 4,000/s by the peer, 263 µs by raw LMDB.
SMALL_PEER = 0.8 * 4_000 * 263e-6

CASES = {case.name: case for case in [
    Case("import.cold", "MB/s of JSON", "higher", import_rate, "import", "tarn.zstd", {"vs_floor": 0.8, "vs_peer": 12},
         least_peer_to_floor=IMPORT_PEER),
    Case("import.cold.by-hand", "MB/s of JSON", "higher", import_rate_by_hand, "import", "tarn.zstd"),
    Case("import.cold.none", "MB/s of JSON", "higher", import_rate, "import", "tarn.none"),
    Case("import.page", "MB/s of JSON", "higher", import_rate, "import.page", "tarn.zstd", {"vs_floor": 0.8}),
    Case("import.again", "MB/s of JSON", "higher", or_import_rate("again"), "import.again", "tarn.zstd", {"vs_floor": 5}),
    Case("import.changed", "MB/s of JSON", "higher", or_import_rate("changed"), "import.again", "tarn.zstd", {"vs_floor": 3},
         beside=("vs_again", lambda line: line["again"])),
    *shape_cases("wide"),
    *shape_cases("deep"),
    *shape_cases("small"),
    Case("import.big", "MB/s of JSON", "higher", import_rate, "import.big", "tarn.zstd", {"vs_cold": 0.75},
         beside=("vs_cold", lambda line: import_rate(line["first"]))),
    Case("import.big.memory", "MB RssAnon", "lower", figure("anonymous"), "import.big", "tarn.zstd", {"most": 300}),
    Case("size", "of JSON", "lower", size("rewritten_bytes"), "import", "tarn.zstd", {"most": 0.2}),
    Case("size.imported", "of JSON", "lower", size("store_bytes"), "import", "tarn.zstd"),
    Case("size.used", "of JSON", "lower", size("used_bytes_rewritten"), "import", "tarn.zstd"),
    Case("size.compacted", "of JSON", "lower", size("compacted_bytes"), "import", "tarn.zstd"),
    Case("size.none", "of JSON", "lower", size("store_bytes"), "import", "tarn.none"),
    *read_cases("", "tarn.none", field=0.7, related=0.5),
    *read_cases(".zstd", "tarn.zstd", field=0.35, related=0.3),
    Case("write.small", "records/s", "higher", figure("small"), "write.small", "tarn.zstd", {"vs_floor": 0.5, "vs_peer": 5},
         least_peer_to_floor=SMALL_PEER, peer_judged_by=lambda line: line.get("single", line["small"])),
    Case("write.small.none", "records/s", "higher", figure("small"), "write.small", "tarn.none"),
    Case("write.bulk.ascending", "rows/s", "higher", figure("ascending"), "write.bulk", "tarn.zstd", {"vs_floor": 0.7}),
    Case("write.bulk.ascending.none", "rows/s", "higher", figure("ascending"), "write.bulk", "tarn.none"),
    Case("write.bulk.random", "rows/s", "higher", figure("random"), "write.bulk", "tarn.zstd", {"vs_floor": 0.7}),
    Case("write.bulk.random.none", "rows/s", "higher", figure("random"), "write.bulk", "tarn.none"),
    Case("memory.write", "MB RssAnon growth", "lower", figure("write"), "memory", "tarn.zstd", {"most": 16}),
    Case("memory.scan", "MB RssAnon growth", "lower", figure("scan"), "memory", "tarn.zstd", {"most": 16}),
    *query_cases("", "tarn.none", scan=3),
    *query_cases(".zstd", "tarn.zstd", scan=1),
    *typed_cases("", "tarn.none"),
    *typed_cases(".zstd", "tarn.zstd"),
    Case("observe", "ms", "lower", figure("wake"), "observe", "tarn.zstd", {"most": 5}),
    Case("observe.idle", "ms/s", "lower", figure("idle"), "observe", "tarn.zstd", {"most": 0.5}),
    Case("observe.writers", "of without", "higher", figure("writers"), "observe", "tarn.zstd", {"least": 0.9}),
    Case("mirror.cold", "MB/s of JSON", "higher", import_rate, "mirror", "tarn.zstd", {"vs_cold": 0.7, "vs_peer": 10},
         beside=("vs_cold", lambda line: import_rate(line["first"]))),
    Case("mirror.cold.memory", "MB RssAnon", "lower", figure("anonymous"), "mirror", "tarn.zstd", {"most": 200}),
    Case("http.get", "requests/s", "higher", lambda line: line["requests"] / line["seconds"], "http", "tarn.zstd", {"vs_peer": 0.7}),
    *cache_cases("", "tarn.none"),
    *cache_cases(".zstd", "tarn.zstd"),
    Case("cache.many", "µs", "lower", figure("many"), "cache.many", "tarn.none", {"vs_few": 0.667},
         beside=("vs_few", lambda line: line["few"])),
    Case("cache.many.meanwhile", "µs", "lower", figure("meanwhile"), "cache.many", "tarn.none",
         beside=("vs_quiet", lambda line: line["quiet"])),
    Case("cache.many.longest", "µs", "lower", figure("longest"), "cache.many", "tarn.none",
         beside=("vs_quiet", lambda line: line["quiet_longest"])),
    Case("cache.304", "pages/s", "higher", lambda line: line["pages"] / line["again"], "cache.304", "tarn.zstd", {"vs_mirror": 3},
         beside=("vs_mirror", lambda line: line["pages"] / line["seconds"])),
    Case("cache.304.each", "pages/s", "higher", lambda line: line["pages"] / line["each"], "cache.304", "tarn.zstd",
         beside=("vs_mirror", lambda line: line["pages"] / line["seconds"])),
    Case("proxy", "requests/s", "higher", lambda line: line["requests"] / line["seconds"], "proxy", "tarn.zstd", {"vs_peer": 0.25}),
    Case("mirror.details", "pages/s", "higher", lambda line: line["pages"] / line["seconds"], "details", "tarn.zstd", {"vs_peer": 0.6}),
    Case("mirror.details.304", "pages/s", "higher", lambda line: "again" in line and line["pages"] / line["again"] or None, "details", "tarn.zstd",
         {"least": 4000}),
    Case("outbox.enqueue", "changes/s", "higher", figure("enqueued"), "outbox.enqueue", "tarn.zstd", {"vs_floor": 0.8},
         beside=("vs_floor", lambda line: line["small"])),
    Case("outbox.drain", "requests/s", "higher", lambda line: line["requests"] / line["seconds"], "outbox.drain", "tarn.zstd",
         {"vs_peer": 0.6}),
    Case("cli.mirror", "MB/s of JSON", "higher", import_rate, "cli.mirror", "tarn.zstd", {"vs_mirror": 0.9},
         beside=("vs_mirror", lambda line: import_rate(line["first"]))),
    Case("cli.get", "ms", "lower", figure("get"), "cli.rows", "tarn.zstd", {"most": 15},
         beside=("vs_version", lambda line: line["version"])),
    Case("cli.list", "ms", "lower", figure("list"), "cli.rows", "tarn.zstd", {"most": 20},
         beside=("vs_version", lambda line: line["version"])),
    *(Case(f"inspect.{name}", "records/s", "higher", rate_of(name), "inspect", "tarn.zstd", must)
      for name, must in (("dump", {"least": 300_000}), ("export", {"vs_peer": 0.5}), ("grep", {"vs_peer": 1}), ("diff", {"least": 1_000_000}))),
    Case("inspect.verify", "GB/s", "higher", lambda line: "verify" in line and line["file_bytes"] / 1e9 / line["verify"] or None, "inspect",
         "tarn.zstd", {"least": 0.2}),
    Case("inspect.stat", "s", "lower", figure("stat"), "inspect", "tarn.zstd", {"most": 0.2}),
    Case("inspect.memory", "MB RssAnon", "lower", figure("anonymous"), "inspect", "tarn.zstd", {"most": 100}),
    *scale_cases("", "tarn.none", read=0.7, related=0.5),
    *scale_cases(".zstd", "tarn.zstd", read=0.35, related=0.3),
]}
CONTENDERS = ["tarn.zstd", "tarn.none", "floor", "peer"]


def fail(message):
    sys.exit(f"bench: {message}")


def arguments():
    parser = argparse.ArgumentParser(prog="run", description="Measures Tarn against the floor and the peer.")
    parser.add_argument("cases", nargs="*", metavar="CASE", help=f"one of: {', '.join(CASES)} (default: all)")
    parser.add_argument("--records", type=int, default=10_000, help="issues in the workload (default: 10000); import.small has 2, import.deep and import.big 10 times as many records, write.bulk 10, memory 50, scale 1, 10, 100 and 500 times as many rows")
    parser.add_argument("--pages-per-commit", type=int, default=128, help="pages of 100 issues a commit (default: 128)")
    parser.add_argument("--rounds", type=int, default=3, help="runs of each contender (default: 3)")
    parser.add_argument("--only-check-arguments", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    for case in given.cases:
        if case not in CASES:
            parser.error(f"there is no case {case}; there are: {', '.join(CASES)}")
    if min(given.records, given.pages_per_commit, given.rounds) < 1:
        parser.error("--records, --pages-per-commit and --rounds are at least 1")
    given.cases = given.cases or list(CASES)
    return given


def made(generator, name, arguments):
    """The folder with the output of a generator, once for each version of it, and the counts of a complete import."""
    with open(generator, "rb") as f:
        version = hashlib.sha256(f.read()).hexdigest()[:12]
    folder = os.path.join(WORK, f"{name}-{version}")
    if not os.path.isdir(folder):
        print(f"making {name}", file=sys.stderr)
        unfinished = folder + ".unfinished"
        shutil.rmtree(unfinished, ignore_errors=True)
        subprocess.run([sys.executable, generator, *arguments, unfinished], check=True)
        os.rename(unfinished + ".counts.json", folder + ".counts.json")
        os.rename(unfinished, folder)
    with open(folder + ".counts.json", encoding="utf-8") as f:
        return folder, json.load(f)


def issues(records):
    """The pages of issues."""
    return made(GENERATOR, f"pages-{records}", [str(records)])


def contenders_of(program, cases):
    """The contenders of a case: those of Tarn that it lists, the floor and the peer if they have the program."""
    known = subprocess.run([BENCH, "--list"], check=True, capture_output=True, text=True).stdout.split("\n")
    wanted = {"floor", "peer"} | {case.tarn for case in cases}
    return [name for name in CONTENDERS if name in wanted
            and (PROGRAMS[program].floor_arguments if name == "floor" else name == "peer" and PROGRAMS[program].peer
                 or name.startswith("tarn") and PROGRAMS[program].itself or f"{PROGRAMS[program].runs or program} {name}" in known)]


def run_once(name, contender, pages, given):
    program = PROGRAMS[name]
    first = program.first and contender.startswith("tarn") and run_once(program.first, contender, pages, given)
    stores = os.path.join(WORK, "stores")
    shutil.rmtree(stores, ignore_errors=True)
    os.makedirs(stores)
    store = os.path.join(stores, contender)
    if contender == "floor":
        command = [FLOOR, *program.floor_arguments(pages, store, given)]
    else:
        command = [BENCH, program.runs or name, contender, "--pages", pages or WORK, "--store", store,
                   "--pages-per-commit", str(program.pages_per_commit or given.pages_per_commit), "--records", str(given.records)]
    # Pending writes of the previous run must not slow this one.
    os.sync()
    if program.is_served:
        serving = server.Server(pages and os.path.abspath(pages), os.path.join(WORK, "server"))
        try:
            if contender == "peer" or program.itself:
                line = (program.peer if contender == "peer" else program.itself)(serving.base, pages, store)
            else:
                line = run_command(name, contender, program, [*command, "--base", serving.base], given)
        finally:
            serving.stop()
    else:
        line = run_command(name, contender, program, command, given)
    if os.path.isdir(store):
        line.setdefault("store_bytes", sum(entry.stat().st_size for entry in os.scandir(store)))
    if first:
        line["first"] = first
    shutil.rmtree(stores)
    return line


def run_command(name, contender, program, command, given):
    stream = program.stream and subprocess.Popen(program.stream(given), stdout=subprocess.PIPE)
    done = subprocess.run(command, capture_output=True, text=True, stdin=stream.stdout if stream else subprocess.DEVNULL)
    if stream:
        # It has written everything, unless the run failed.
        stream.stdout.close()
        stream.terminate()
        stream.wait()
    if done.returncode != 0:
        fail(f"{contender} in {name} failed with status {done.returncode}: {done.stderr.strip()}")
    return json.loads(done.stdout.strip().split("\n")[-1])


def check_work(contender, line, expected):
    """A figure counts only if everything is in the store afterwards."""
    if "written" in line:
        if line["stored"] != line["written"]:
            fail(f"{contender} did not do the work: its store holds {line['stored']} records, and {line['written']} were written")
        return
    if "issues" in line and line["issues"] != expected["issues"]:
        fail(f"{contender} did not do the work: its store holds {line['issues']} issues of {expected['issues']}")
    if "counts" not in line and "stored_records" not in line:
        return
    if contender == "floor":
        records = sum(expected[name] for name in ("issues", "users", "labels", "milestones"))
        # Every issue has an author, every milestone a creator.
        references = sum(expected[name] for name in (
            "issues", "issue_labels", "issue_assignees", "issue_milestones", "milestones"))
        found, wanted = (line["stored_records"], line["stored_references"]), (records, references)
    else:
        # A stream declares its content.
        found, wanted = line["counts"], line.get("expected", expected)
    if found != wanted:
        fail(f"{contender} did not do the work: its store holds {found}, the pages {wanted}")


def measure(program, cases, given):
    pages, expected = PROGRAMS[program].workload(given)
    names = contenders_of(program, cases)
    lines = {name: [] for name in names}
    for number in range(given.rounds):
        turn = number % len(names)
        for name in names[turn:] + names[:turn]:
            line = run_once(program, name, pages, given)
            check_work(name, line, expected)
            if "first" in line:
                check_work(name, line["first"], expected)
            lines[name].append(line)
            print(f"{program}, round {number + 1}: {name}, load {os.getloadavg()[0]:.1f}", file=sys.stderr)
    checksums = {line["checksum"] for runs in lines.values() for line in runs if "checksum" in line}
    if len(checksums) > 1:
        fail(f"{program}: the contenders did not read the same records")
    durability = {line["durability"] for runs in lines.values() for line in runs}
    if len(durability) != 1:
        fail(f"{program}: the contenders are not equally durable ({', '.join(sorted(durability))}); no ratio means anything")
    return lines


def values_of(case, lines, value=None):
    """Each contender's figures, round by round; None if it does not take part."""
    result = {}
    for role, name in case.contenders().items():
        values = [(value or case.value)(line) for line in lines.get(name, [])]
        result[role] = values if values and None not in values else None
    return result


def ratios(case, values, a, b):
    """The ratio of two contenders, round by round: a disturbance of a round affects both."""
    if values[a] is None or values[b] is None:
        return None
    return [x / y if case.better == "higher" else y / x for x, y in zip(values[a], values[b])]


def ratios_beside(case, lines):
    """The ratio of Tarn's figure to the other one of the same run."""
    # How many times better, whichever way that is.
    pairs = [(case.value(line), case.beside[1](line)) for line in lines[case.tarn]]
    return [other / value if case.better == "lower" else value / other for value, other in pairs]


def result_of(case, lines, records):
    values = values_of(case, lines)

    def median(runs, digits):
        return None if runs is None else round(statistics.median(runs), digits)

    return {
        "case": case.name, "unit": case.unit, "better": case.better,
        **{role: median(runs, 2 if case.unit in ("records/s", "rows/s") else 4) for role, runs in values.items()},
        "vs_floor": median(ratios(case, values, "tarn", "floor"), 3), "vs_peer": median(ratios(case, values, "tarn", "peer"), 3),
        **({case.beside[0]: median(ratios_beside(case, lines), 3)} if case.beside else {}),
        "durability": lines[case.tarn][0]["durability"], "compression": lines[case.tarn][0]["compression"], "records": records,
    }


def print_table(results):
    columns = ["case", "unit", "tarn", "floor", "peer", "vs floor", "vs peer", "compression", "durability", "records"]

    def cell(result, column):
        value = result[column.replace(" ", "_")]
        if value is None:
            return "-"
        if column.startswith("vs "):
            return f"{value:.2f} x"
        if column in CASES[result["case"]].contenders() and abs(value) < 10:
            return f"{value:.3f}"
        return f"{value:,.1f}" if isinstance(value, float) else f"{value:,}" if isinstance(value, int) else value

    rows = [columns] + [[cell(result, column) for column in columns] for result in results]
    widths = [max(len(row[i]) for row in rows) for i in range(len(columns))]
    print()
    for row in rows:
        print("  ".join(text.ljust(width) if i < 2 else text.rjust(width)
                        for i, (text, width) in enumerate(zip(row, widths))))
    print("\nvs floor, vs peer: above 1, Tarn is better. Medians of one call, of ratios round by round; absolute figures of two calls do not compare.")


def print_details(case, lines):
    """The context of a figure: the spread of the rounds, the target, the size of the store."""
    values = values_of(case, lines)
    text = [f"{case.contenders()[role]} {min(runs):,.3f} to {max(runs):,.3f}" for role, runs in values.items() if runs]
    for other in ("floor", "peer"):
        against = ratios(case, values, "tarn", other)
        if against:
            text.append(f"vs {other} {min(against):.2f} to {max(against):.2f}")
    if case.beside:
        beside = ratios_beside(case, lines)
        text.append(f"{case.beside[0].replace('_', ' ')} {min(beside):.2f} to {max(beside):.2f}")
    print(f"{case.name}: {'; '.join(text)}")


def print_store(program, lines):
    for name, runs in lines.items():
        run = runs[-1]
        if program in ("import", "import.page"):
            text = f"{run['commits']} commits, {run['megabytes']:.1f} MB of JSON, store {run['store_bytes'] / 1e6:.1f} MB"
            if "used_bytes" in run:
                text += f", {run['used_bytes'] / 1e6:.1f} MB of it in use"
            if "rewritten_bytes" in run:
                text += (f"; after a rewrite in {run['rewrite_seconds']:.2f} s {run['rewritten_bytes'] / 1e6:.1f} MB, "
                         f"{run['used_bytes_rewritten'] / 1e6:.1f} MB of it in use; compacted "
                         f"{run['compacted_bytes'] / 1e6:.1f} MB")
            print(f"{program}: {name}: {text}")
        elif program == "import.again" and "again" in run:
            print(f"import.again: {name}: {run['commits']} commits each, {run['megabytes']:.1f} MB of JSON, {run['changed_issues']:,} issues "
                  f"changed; {run['cold']:,.1f} MB/s into the empty store")
        elif program == "import.big":
            print(f"import.big: {name}: {run['commits']} commits, {run['megabytes']:,.1f} MB of JSON in {run['seconds']:.2f} s, store "
                  f"{run['store_bytes'] / 1e6:,.1f} MB; RssAnon {run['anonymous_before']:.1f} MB before, "
                  f"{run['anonymous']:.1f} MB at most")
        elif "responses" in run:
            print(f"{program}: {name}: {run['responses']:,} responses, {run['commits']} commits, {run['megabytes']:.1f} MB of JSON in "
                  f"{run['seconds']:.3f} s, store {run['store_bytes'] / 1e6:.1f} MB")
        elif program == "query" and "ways" in run:
            for case, ways in sorted(run["ways"].items()):
                print(f"query.{case}: {name}: " + ", ".join(f"{way} {rate:,.0f}" for way, rate in sorted(ways.items())))
        elif program == "observe":
            print(f"observe: {name}: {run['wake_with_commit']:.3f} ms with the commit itself; writers {run['alone']:,.0f}/s alone, "
                  f"{run['observed']:,.0f}/s with observers, {run['delivered']:,} results delivered")
        elif program == "mirror":
            print(f"mirror: {name}: {run['megabytes']:,.1f} MB of JSON in {run['seconds']:.2f} s, store {run['store_bytes'] / 1e6:,.1f} MB"
                  + (f", RssAnon {run['anonymous']:.1f} MB at most" if "anonymous" in run else ""))
        elif program == "cache":
            print(f"cache: {name}: the body of the page decoded in {run['decoded']:,.0f} µs")
        elif program == "cache.many":
            print(f"cache.many: {name}: {run['entries']:,} entries, {run['bytes_per_entry']:,.0f} bytes each; hits {run['few']:.2f} µs among 1,000, "
                  f"{run['many']:.2f} µs among all; reads of a thread {run['quiet']:.2f} µs, {run['quiet_longest']:,.0f} µs at most, while "
                  f"{run['evicted']:,} are evicted ({run['evictions']:,.0f}/s) and {run['purged']:,} purged ({run['purges']:,.0f}/s) "
                  f"{run['meanwhile']:.2f} µs, {run['longest']:,.0f} µs at most, of {run['reads']:,}")
        elif program == "cache.304":
            print(f"cache.304: {name}: {run['pages']:,} pages, cold in {run['seconds']:.2f} s, again in {run['again']:.2f} s, "
                  f"each by itself in {run['each']:.2f} s")
        elif program == "details":
            print(f"mirror.details: {name}: {run['pages']:,} pages in {run['seconds']:.2f} s"
                  + (f", all 304 in {run['again']:.2f} s" if "again" in run else f"; the server answers {run['server']:,.0f} requests/s at most"))
        elif program == "cli.rows" and "version" in run:
            print(f"cli.rows: {name}: `tarn --version` {run['version']:.1f} ms; processor time "
                  + ", ".join(f"{name} {time:.1f} ms" for name, time in run["processor"].items()))
        elif program == "inspect" and "memory" in run:
            print(f"inspect: {name}: {run['rows']:,} rows in {run['file_bytes'] / 1e6:,.0f} MB, {run['matches']:,} of them found; "
                  + ", ".join(f"{part} {run[part]:.2f} s, {run['memory'][part]:.0f} MB" for part in run["memory"]))
        elif program == "inspect":
            print(f"inspect: {name}: {run['matches']:,} rows found; "
                  + ", ".join(f"{part} {run[part]:.2f} s" for part in ("dump", "grep", "export")))
        elif program == "proxy":
            print(f"proxy: {name}: {run['requests']:,} requests in {run['seconds']:.2f} s, 99 % of them in {run['latency']} or less")
        elif program == "memory":
            print(f"memory: {name}: {run['written']:,} rows; at the end RssAnon {run['anonymous']:.1f} MB, "
                  f"RssFile {run['file']:.1f} MB")


def print_bar(case, result):
    for key, wanted in case.must.items():
        found = result["tarn"] if key in ("most", "least") else result[key]
        if found is not None:
            reached = found <= wanted if key == "most" else found >= wanted
            print(f"{case.name}: {'reached' if reached else 'MISSED'}: {key.replace('_', ' ')} {found} of {wanted}")


def peer_is_valid(case, lines, result):
    """Prints whether the peer is fast enough for a fair comparison."""
    if result["peer"] is None or case.least_peer_to_floor is None and case.least_peer_to_own is None:
        return True
    if case.least_peer_to_own is not None:
        name, least = case.least_peer_to_own
        ratio = statistics.median(case.value(line) / line[name] for line in lines["peer"])
        of = f"its own figure `{name}`"
    else:
        values = values_of(case, lines, case.peer_judged_by)
        ratio, least, of = statistics.median(ratios(case, values, "peer", "floor")), case.least_peer_to_floor, "the floor"
    valid = ratio >= least
    print(f"{case.name}: the peer reaches {ratio:.4f} of {of}, at least {least:.4f} is asked: "
          + ("valid" if valid else "VOID, the peer is too weak to compare with"))
    return valid


def main():
    given = arguments()
    if given.only_check_arguments:
        return
    # A failing call must not leave the figures of the previous one.
    if os.path.exists(RESULTS):
        os.remove(RESULTS)
    # Load from elsewhere makes the figures worthless more often than anything else does.
    print(f"{os.cpu_count()} cores, load before the first round {os.getloadavg()[0]:.2f}", file=sys.stderr)
    cases = [CASES[name] for name in given.cases]
    programs = {}
    for case in cases:
        if case.program not in programs:
            programs[case.program] = measure(
                case.program, [other for other in cases if other.program == case.program], given)
    results = [result_of(case, programs[case.program], given.records) for case in cases]
    print_table(results)
    for case in cases:
        print_details(case, programs[case.program])
    for program, lines in programs.items():
        print_store(program, lines)
    valid = [peer_is_valid(case, programs[case.program], result) for case, result in zip(cases, results)]
    for result, is_valid in zip(results, valid):
        if not is_valid:
            result["peer"] = result["vs_peer"] = None
    for case, result in zip(cases, results):
        print_bar(case, result)
    with open(RESULTS, "w", encoding="utf-8") as f:
        json.dump(results, f, indent=2)
        f.write("\n")
    if not all(valid):
        sys.exit(1)


main()
