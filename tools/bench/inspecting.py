"""The cases `inspect.*`: questions of `tarn inspect` about a store of many records, from process start to exit, and their peers.

The store is the one of `cli.get`; a dump, a copy, and an export to SQLite and CSV are made from it once, without the clock.
"""
import os
import re
import shutil
import sqlite3
import subprocess
import threading
import time

import commands

NONE = commands.NONE
# Words that no row has, some that all have, and a rare one.
PATTERN = "gauge-77"


class Peak(threading.Thread):
    """The most RssAnon of a process, in MB, looked at every 2 ms."""

    def __init__(self, process):
        super().__init__()
        self.path, self.process, self.megabytes = f"/proc/{process.pid}/status", process, 0.0

    def run(self):
        while self.process.poll() is None:
            try:
                with open(self.path, encoding="utf-8") as f:
                    found = re.search(r"RssAnon:\s+(\d+) kB", f.read())
            except OSError:
                return
            if found:
                self.megabytes = max(self.megabytes, int(found.group(1)) / 1000)
            time.sleep(0.002)


def timed(command, out=os.devnull, status=0, source=None):
    """Seconds from start to exit with the output in a file, and the most RssAnon in MB."""
    with open(out, "wb") as f, open(source or os.devnull, "rb") as given:
        start = time.monotonic()
        process = subprocess.Popen(command, stdin=given, stdout=f, stderr=subprocess.PIPE)
        peak = Peak(process)
        peak.start()
        error = process.stderr.read()
        process.wait()
        seconds = time.monotonic() - start
        peak.join()
    if process.returncode != status:
        raise RuntimeError(f"{' '.join(command)}: status {process.returncode}: {error.decode()[-2000:]}")
    return seconds, peak.megabytes


def made(tarn, base, pages):
    """The store, its copy, its dump, and its export to SQLite and CSV; made once."""
    kept = commands.kept_store(tarn, base, pages)
    parts = {name: f"{pages}.inspect.{name}" for name in ("copy", "ndjson", "db", "csv")}
    makers = {
        "copy": lambda path: commands.run([tarn, "store", "backup", kept, path]),
        "ndjson": lambda path: timed([tarn, "inspect", "dump", kept], out=path),
        "db": lambda path: commands.run([tarn, "inspect", "export", kept, "--sqlite", path]),
        "csv": lambda path: commands.run([tarn, "inspect", "export", kept, "--csv", path]),
    }
    for name, make in makers.items():
        if not os.path.exists(parts[name]):
            unfinished = parts[name] + ".unfinished"
            if os.path.isdir(unfinished):
                shutil.rmtree(unfinished)
            elif os.path.exists(unfinished):
                os.remove(unfinished)
            make(unfinished)
            os.rename(unfinished, parts[name])
    return kept, parts


def lines_of(path):
    with open(path, "rb") as f:
        return sum(block.count(b"\n") for block in iter(lambda: f.read(1 << 20), b""))


def inspect(tarn, base, pages, store):
    """Each question once, of a file that is in memory; the answers are counted."""
    kept, parts = made(tarn, base, pages)
    count, data = commands.expected_rows(pages), os.path.join(kept, "data.mdb")
    size = os.path.getsize(data)
    timed(["cat", data, os.path.join(parts["copy"], "data.mdb"), parts["ndjson"], parts["db"]])
    line, memory = {"rows": count, "file_bytes": size, **NONE}, {}

    def ask(name, *arguments, status=0):
        line[name], memory[name] = timed([tarn, "inspect", *arguments], out=store + ".out", status=status)

    ask("dump", "dump", kept)
    if lines_of(store + ".out") != count or os.path.getsize(store + ".out") != os.path.getsize(parts["ndjson"]):
        raise RuntimeError("the dump has other lines than before")
    ask("verify", "verify", kept)
    ask("stat", "stat", kept)
    ask("diff", "diff", kept, parts["copy"], "--summary")
    ask("grep", "grep", kept, PATTERN)
    line["matches"] = lines_of(store + ".out")
    database = store + ".db"
    ask("export", "export", kept, "--sqlite", database)
    with sqlite3.connect(database) as found:
        if found.execute('SELECT count(*) FROM "Row"').fetchone()[0] != count:
            raise RuntimeError("the export has not every row")
    for path in (database, store + ".out"):
        os.remove(path)
    return {**line, "memory": memory, "anonymous": max(memory.values())}


def peers(tarn, base, pages, store):
    """sqlite3 writes its rows as JSON and imports them from CSV; ripgrep searches the dump."""
    _, parts = made(tarn, base, pages)
    count, out = commands.expected_rows(pages), store + ".out"
    timed(["cat", parts["ndjson"], parts["db"]])
    table = os.path.join(parts["csv"], "Row.csv")
    line = {"rows": count, **NONE}
    line["dump"], _ = timed(["sqlite3", "-json", parts["db"], 'SELECT * FROM "Row"'], out=out)
    if lines_of(out) != count:
        raise RuntimeError("sqlite3 has written other rows")
    line["grep"], _ = timed(["rg", "--fixed-strings", PATTERN, parts["ndjson"]], out=out)
    line["matches"] = lines_of(out)
    database = store + ".peer.db"
    with sqlite3.connect(parts["db"]) as source, sqlite3.connect(database) as target:
        # The same table and the same indexes, empty.
        for (statement,) in source.execute("SELECT sql FROM sqlite_master WHERE tbl_name = 'Row' AND sql IS NOT NULL"):
            target.execute(statement)
    line["export"], _ = timed(["sqlite3", database, f'.import --csv --skip 1 "{table}" Row'])
    with sqlite3.connect(database) as found:
        if found.execute('SELECT count(*) FROM "Row"').fetchone()[0] != count:
            raise RuntimeError("sqlite3 has not imported every row")
    for path in (database, out):
        os.remove(path)
    return line
