#!/usr/bin/env python3
"""Makes an API of lists with a detail for every element, all made up: the workload of `mirror.details`.

usage: gen_details.py DETAILS OUT_DIR

OUT_DIR/lists/N.json lists 20 things as {name, url}, with the URL of the next list; OUT_DIR/things/N.json is one thing of 12 values
in about 500 bytes, with the URLs of two others. URLs begin with BASE, which the server replaces when it starts. The counts of a
complete mirror are written beside, to OUT_DIR.counts.json. The same arguments always give the same bytes.
"""
import json
import os
import random
import sys

LISTED = 20
WORDS = "harbour gauge tide buoy mooring channel sounding lock weir estuary pilot ferry anchor signal lantern jetty".split(" ")
BASE = "http://base.invalid"


def url(number):
    return f"{BASE}/things/{number}/"


def thing(number, count, rnd):
    return {
        "id": number, "name": name(number), "url": url(number), "height": rnd.randrange(1, 400), "weight": rnd.randrange(1, 9000),
        "price": rnd.randrange(100_000) / 100, "is_default": rnd.random() < 0.9, "note": " ".join(rnd.choices(WORDS, k=24)),
        "created_at": f"2026-{rnd.randrange(1, 13):02d}-{rnd.randrange(1, 29):02d}T{rnd.randrange(24):02d}:00:00Z",
        "colour": rnd.choice(["red", "green", "blue", "white"]), "kind": {"name": rnd.choice(WORDS), "order": rnd.randrange(9)},
        "before": url(rnd.randrange(1, count + 1)), "after": {"name": name(number % count + 1), "url": url(number % count + 1)},
    }


def name(number):
    return f"{WORDS[number % len(WORDS)]}-{number}"


def main():
    count, folder = int(sys.argv[1]), sys.argv[2]
    rnd = random.Random(19)
    for part in ("lists", "things"):
        os.makedirs(os.path.join(folder, part))
    lists = -(-count // LISTED)
    for number in range(1, lists + 1):
        first = (number - 1) * LISTED + 1
        page = {"count": count, "next": f"{BASE}/things?page={number + 1}" if number < lists else None, "results": [
            {"name": name(at), "url": url(at)} for at in range(first, min(first + LISTED, count + 1))]}
        write(folder, "lists", number, page)
    for number in range(1, count + 1):
        write(folder, "things", number, thing(number, count, rnd))
    with open(folder + ".counts.json", "w", encoding="utf-8") as f:
        json.dump({"lists": lists, "things": count}, f)


def write(folder, part, number, value):
    with open(os.path.join(folder, part, f"{number}.json"), "w", encoding="utf-8") as f:
        json.dump(value, f, separators=(",", ":"))


if __name__ == "__main__":
    main()
