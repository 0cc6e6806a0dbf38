#!/usr/bin/env python3
"""Makes pages of small records, all made up: the workload of `cli.get` and `cli.list`.

usage: gen_rows.py ROWS OUT_DIR

A page has 5,000 records of 4 values in some 120 bytes. OUT_DIR.counts.json has their number. The same arguments always give the
same bytes.
"""
import json
import os
import random
import sys

OF_PAGE = 5_000
WORDS = "harbour gauge tide buoy mooring channel sounding lock weir estuary pilot ferry anchor signal lantern jetty".split(" ")


def rows(count):
    rnd = random.Random(7)
    for number in range(1, count + 1):
        yield {"id": number, "name": f"{rnd.choice(WORDS)}-{number}", "comments": rnd.randrange(count),
               "note": " ".join(rnd.choices(WORDS, k=8))}


def main():
    count, folder = int(sys.argv[1]), sys.argv[2]
    os.makedirs(folder)
    page = []
    for row in rows(count):
        page.append(row)
        if len(page) == OF_PAGE or row["id"] == count:
            with open(os.path.join(folder, f"{row['id']:09d}.json"), "w", encoding="utf-8") as f:
                json.dump(page, f, separators=(",", ":"))
            page = []
    with open(folder + ".counts.json", "w", encoding="utf-8") as f:
        json.dump({"rows": count}, f)


if __name__ == "__main__":
    main()
