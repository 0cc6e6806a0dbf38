"""The peer of `mirror.cold`: dlt's `rest_api` source into SQLite, merged by key. Prints what it measured as a line of JSON.

Runs in the environment that `run` makes: dlt[sqlalchemy] from PyPI.
"""
import argparse
import json
import os
import sqlite3
import sys
import time

os.environ.update(RUNTIME__DLTHUB_TELEMETRY="false", RUNTIME__LOG_LEVEL="ERROR")
import dlt
from dlt.sources.rest_api import rest_api_source

parser = argparse.ArgumentParser()
parser.add_argument("--base", required=True)
parser.add_argument("--pages", required=True)
parser.add_argument("--store", required=True)
given = parser.parse_args()

os.makedirs(given.store)
source = rest_api_source({
    "client": {"base_url": given.base, "paginator": {"type": "header_link"}},
    "resources": [{
        "name": "issues", "primary_key": "id", "write_disposition": "merge",
        "endpoint": {"path": "issues", "params": {"page": 1}},
    }],
})
start = time.monotonic()
pipeline = dlt.pipeline(
    pipeline_name="issues", pipelines_dir=os.path.join(given.store, "pipelines"), dataset_name="api",
    destination=dlt.destinations.sqlalchemy(f"sqlite:///{given.store}/store.db"))
pipeline.run(source).raise_on_failed_jobs()
seconds = time.monotonic() - start

# A dataset is a separate file, and so is its staging dataset.
files = [os.path.join(given.store, name) for name in os.listdir(given.store) if name.endswith(".db")]
issues = synchronous = 0
for file in files:
    with sqlite3.connect(file) as database:
        synchronous = database.execute("PRAGMA synchronous").fetchone()[0]
        if database.execute("SELECT count(*) FROM sqlite_master WHERE name = 'issues'").fetchone()[0]:
            issues = max(issues, database.execute("SELECT count(DISTINCT id) FROM issues").fetchone()[0])
if synchronous != 2:
    sys.exit(f"SQLite's default is synchronous={synchronous}")
json.dump({
    "seconds": seconds, "megabytes": sum(entry.stat().st_size for entry in os.scandir(given.pages)) / 1e6, "issues": issues,
    "durability": "full", "compression": "none", "store_bytes": sum(os.path.getsize(file) for file in files),
}, sys.stdout)
print()
