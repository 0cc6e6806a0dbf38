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

HERE = os.path.dirname(os.path.abspath(__file__))
WORK = os.path.join(HERE, ".build-work")
FLOOR = os.path.join(WORK, "floor")
BENCH = os.path.join(HERE, ".build", "release", "Bench")
RESULTS = os.path.join(HERE, "results.json")
GENERATOR = os.path.join(HERE, "gen_pages.py")


def import_rate(line):
    return line["megabytes"] / line["seconds"]


class Case:
    """What a case is called, how it is read from what a contender prints, and how good the peer must at least be.

    A program is what the contenders run; one run of it may give the figures of several cases. `value` may be None for a
    contender that does not take part; `least_peer_to_floor` is None where nothing is asked of the peer.
    """

    def __init__(self, name, unit, better, value, floor_arguments, least_peer_to_floor, program=None):
        self.name, self.unit, self.better, self.value = name, unit, better, value
        self.floor_arguments, self.least_peer_to_floor = floor_arguments, least_peer_to_floor
        self.program = program or name


def read_case(name, unit, key, least_peer_to_floor=None, peer_key=None):
    """A read case. With a `peer_key` the peer's figure is another one than Tarn's and the floor's."""
    return Case(name, unit, "higher", lambda line: line.get(peer_key, line.get(key)),
                lambda pages, store, pages_per_commit: ["import-read", pages, store, str(pages_per_commit)],
                least_peer_to_floor, program="read")


CASES = {case.name: case for case in [
    Case("import.cold", "MB/s of JSON", "higher", import_rate,
         lambda pages, store, pages_per_commit: ["import", pages, store, str(pages_per_commit)],
         # The reference measurement: 13 MB/s by the peer, 170 to 290 MB/s by the floor; the end that asks most of the peer.
         least_peer_to_floor=0.8 * 13 / 170),
    read_case("read.field", "records/s", "field"),
    # The reference measurement: 10,400 and 8,400 records by the peer, 1.0 to 1.3 and 1.0 to 1.2 million by the floor.
    read_case("read.record", "records/s", "record", least_peer_to_floor=0.8 * 10_400 / 1_000_000),
    read_case("read.record.by-hand", "records/s", "record", peer_key="record_by_hand"),
    read_case("read.each", "records/s", "each", least_peer_to_floor=0.8 * 8_400 / 1_000_000),
    read_case("read.each.by-hand", "records/s", "each", peer_key="each_by_hand"),
    read_case("read.related", "records/s", "related"),
]}
CONTENDERS = ["tarn", "floor", "peer"]


def fail(message):
    sys.exit(f"bench: {message}")


def arguments():
    parser = argparse.ArgumentParser(prog="run", description="Measures Tarn against the floor and the peer.")
    parser.add_argument("cases", nargs="*", metavar="CASE", help=f"one of: {', '.join(CASES)} (default: all)")
    parser.add_argument("--records", type=int, default=10_000, help="issues in the workload (default: 10000)")
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


def workload(records):
    """The folder with the pages, made once for each version of the generator, and what a complete import finds in it."""
    with open(GENERATOR, "rb") as f:
        version = hashlib.sha256(f.read()).hexdigest()[:12]
    pages = os.path.join(WORK, f"pages-{records}-{version}")
    if not os.path.isdir(pages):
        print(f"making the pages of {records:,} issues", file=sys.stderr)
        unfinished = pages + ".unfinished"
        shutil.rmtree(unfinished, ignore_errors=True)
        subprocess.run([sys.executable, GENERATOR, str(records), unfinished], check=True)
        os.rename(unfinished + ".counts.json", pages + ".counts.json")
        os.rename(unfinished, pages)
    with open(pages + ".counts.json", encoding="utf-8") as f:
        return pages, json.load(f)


def contenders_of(case):
    """Who takes part: the floor always, and whoever the Bench executable knows for this case."""
    known = subprocess.run([BENCH, "--list"], check=True, capture_output=True, text=True).stdout.split("\n")
    return [name for name in CONTENDERS if name == "floor" or f"{case.program} {name}" in known]


def run_once(case, contender, pages, pages_per_commit):
    stores = os.path.join(WORK, "stores")
    shutil.rmtree(stores, ignore_errors=True)
    os.makedirs(stores)
    store = os.path.join(stores, contender)
    if contender == "floor":
        command = [FLOOR, *case.floor_arguments(pages, store, pages_per_commit)]
    else:
        command = [BENCH, case.program, contender, "--pages", pages, "--store", store,
                   "--pages-per-commit", str(pages_per_commit)]
    # What the run before left to be written must not be paid for by this one.
    os.sync()
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        fail(f"{contender} in {case.program} failed with status {done.returncode}: {done.stderr.strip()}")
    line = json.loads(done.stdout.strip().split("\n")[-1])
    line.setdefault("store_bytes", sum(entry.stat().st_size for entry in os.scandir(store)))
    shutil.rmtree(stores)
    return line


def check_work(contender, line, expected):
    """A figure counts only if everything is in the store afterwards."""
    if "counts" not in line and "stored_records" not in line:
        return
    if contender == "floor":
        records = sum(expected[name] for name in ("issues", "users", "labels", "milestones"))
        # Every issue has an author, every milestone a creator.
        references = sum(expected[name] for name in (
            "issues", "issue_labels", "issue_assignees", "issue_milestones", "milestones"))
        found, wanted = (line["stored_records"], line["stored_references"]), (records, references)
    else:
        found, wanted = line["counts"], expected
    if found != wanted:
        fail(f"{contender} did not do the work: its store holds {found}, the pages {wanted}")


def measure(case, given, pages, expected):
    names = contenders_of(case)
    lines = {name: [] for name in names}
    for number in range(given.rounds):
        turn = number % len(names)
        for name in names[turn:] + names[:turn]:
            line = run_once(case, name, pages, given.pages_per_commit)
            check_work(name, line, expected)
            lines[name].append(line)
            print(f"{case.program}, round {number + 1}: {name}", file=sys.stderr)
    checksums = {line["checksum"] for runs in lines.values() for line in runs if "checksum" in line}
    if len(checksums) > 1:
        fail(f"{case.program}: the contenders did not read the same records")
    return lines


def result_of(case, lines, records):
    values = {name: [case.value(line) for line in lines.get(name, [])] for name in CONTENDERS}
    medians = {name: statistics.median(runs) if runs and None not in runs else None for name, runs in values.items()}

    def tarn_against(other):
        if medians["tarn"] is None or medians[other] is None:
            return None
        ratio = medians["tarn"] / medians[other]
        return round(ratio if case.better == "higher" else 1 / ratio, 3)

    durability = {line["durability"] for runs in lines.values() for line in runs}
    if len(durability) != 1:
        fail(f"{case.name}: the contenders are not equally durable ({', '.join(sorted(durability))}); no ratio means anything")
    return {
        "case": case.name, "unit": case.unit, "better": case.better,
        **{name: medians[name] and round(medians[name], 2) for name in CONTENDERS},
        "vs_floor": tarn_against("floor"), "vs_peer": tarn_against("peer"),
        "durability": durability.pop(),
        "compression": lines["tarn"][0]["compression"] if "tarn" in lines else None,
        "records": records,
    }


def print_table(results):
    columns = ["case", "unit", "tarn", "floor", "peer", "vs floor", "vs peer", "durability", "records"]

    def cell(result, column):
        value = result[column.replace(" ", "_")]
        if value is None:
            return "-"
        if column.startswith("vs "):
            return f"{value:.2f} x"
        return f"{value:,.1f}" if isinstance(value, float) else f"{value:,}" if isinstance(value, int) else value

    rows = [columns] + [[cell(result, column) for column in columns] for result in results]
    widths = [max(len(row[i]) for row in rows) for i in range(len(columns))]
    print()
    for row in rows:
        print("  ".join(text.ljust(width) if i < 2 else text.rjust(width)
                        for i, (text, width) in enumerate(zip(row, widths))))
    print("\nvs floor, vs peer: above 1, Tarn is better. Medians of one call; absolute figures of two calls do not compare.")


def print_details(case, lines):
    """What is needed to judge a figure: how far the rounds were apart, the commits, the size of the store."""
    for name, runs in lines.items():
        values = [case.value(run) for run in runs]
        if None in values:
            continue
        text = f"{case.name}: {name} {min(values):,.1f} to {max(values):,.1f} {case.unit}"
        if "commits" in runs[0]:
            text += (f", {runs[0]['commits']} commits, store {runs[0]['store_bytes'] / 1e6:.1f} MB "
                     f"for {runs[0]['megabytes']:.1f} MB of JSON")
        print(text)


def peer_is_valid(case, result):
    """Prints whether the peer is good enough to compare with; a straw man proves nothing."""
    if result["peer"] is None or case.least_peer_to_floor is None:
        return True
    ratio = result["peer"] / result["floor"]
    if case.better != "higher":
        ratio = 1 / ratio
    valid = ratio >= case.least_peer_to_floor
    print(f"{case.name}: the peer reaches {ratio:.3f} of the floor, at least {case.least_peer_to_floor:.3f} is asked: "
          + ("valid" if valid else "VOID, the peer is too weak to compare with"))
    return valid


def main():
    given = arguments()
    if given.only_check_arguments:
        return
    # A call that fails must not leave the figures of the one before.
    if os.path.exists(RESULTS):
        os.remove(RESULTS)
    pages, expected = workload(given.records)
    # Load from elsewhere makes the figures worthless more often than anything else does.
    print(f"{os.cpu_count()} cores, load before the first round {os.getloadavg()[0]:.2f}", file=sys.stderr)
    programs = {}
    for name in given.cases:
        if CASES[name].program not in programs:
            programs[CASES[name].program] = measure(CASES[name], given, pages, expected)
    measured = {name: programs[CASES[name].program] for name in given.cases}
    results = [result_of(CASES[name], lines, given.records) for name, lines in measured.items()]
    print_table(results)
    for name, lines in measured.items():
        print_details(CASES[name], lines)
    valid = [peer_is_valid(CASES[result["case"]], result) for result in results]
    for result, is_valid in zip(results, valid):
        if not is_valid:
            result["peer"] = result["vs_peer"] = None
    with open(RESULTS, "w", encoding="utf-8") as f:
        json.dump(results, f, indent=2)
        f.write("\n")
    if not all(valid):
        sys.exit(1)


main()
