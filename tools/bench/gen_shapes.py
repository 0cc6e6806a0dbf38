#!/usr/bin/env python3
"""Makes responses of other shapes than a page of issues, all made up.

usage: gen_shapes.py wide|deep|small RECORDS OUT_DIR
       gen_shapes.py swift > Sources/Bench/Peer/PeerWideRecord.swift

wide   lists of 100 records of one entity; 20 entities take turns. A record has 200 attributes in about 5 KB.
deep   lists of 5 trees of 8 levels, an entity each: every record has two children, 255 records in a tree of 90 KB.
small  one record of 10 attributes in about 330 bytes.

OUT_DIR/bodies.jsonl has one response a line. The same arguments always give the same bytes. What a complete import must find is written
beside, to OUT_DIR.counts.json: the records of each entity, and a checksum over all values of all records (see Shapes.swift).
"""
import json
import os
import random
import sys
from datetime import datetime, timezone

LEVELS = ["Company", "Division", "Department", "Team", "Project", "Epic", "Story", "Task"]
TREES_OF_PAGE, CHILDREN = 5, 2
WIDE_ENTITIES, WIDE_ATTRIBUTES, WIDE_RECORDS_OF_PAGE = 20, 200, 100
# What an attribute holds goes by its number, the same way in Shapes.swift.
WIDE_KINDS = ["label_text", "label_text", "label_text", "label_text", "note_text", "item_count", "item_count", "unit_price",
              "is_active", "changed_at"]
SWIFT_TYPES = {"label_text": "String", "note_text": "String?", "item_count": "Int64", "unit_price": "Double", "is_active": "Bool",
               "changed_at": "Date"}
WORDS = "harbour gauge tide buoy mooring channel sounding lock weir estuary pilot ferry anchor signal lantern jetty".split(" ")


def wide_names():
    return [f"{WIDE_KINDS[i % 10]}{i:03d}" for i in range(1, WIDE_ATTRIBUTES)]


class Made:
    """Values, and the checksum over them."""

    def __init__(self):
        self.rnd, self.checksum, self.counts = random.Random(11), 0, {}

    def count(self, entity, number):
        self.counts[entity] = self.counts.get(entity, 0) + 1
        self.checksum += number
        return number

    def text(self, value):
        self.checksum += len(value.encode())
        return value

    def words(self, least, most):
        return self.text(" ".join(self.rnd.choices(WORDS, k=self.rnd.randrange(least, most))))

    def number(self, below):
        value = self.rnd.randrange(below)
        self.checksum += value
        return value

    def price(self):
        return self.number(10_000_000) / 100

    def flag(self):
        return self.number(2) == 1

    def date(self):
        seconds = 1_200_000_000 + self.number(500_000_000)
        self.checksum += 1_200_000_000
        return datetime.fromtimestamp(seconds, timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")

    def record(self, entity, number):
        """A record of 10 attributes."""
        return {
            "id": self.count(entity, number),
            "name": self.words(2, 5),
            "description": self.words(4, 16),
            "url": self.text(f"https://api.example.org/harbours/{entity.lower()}/{number}"),
            "state": self.text(self.rnd.choice(["open", "closed", "planned"])),
            "position": self.number(1000),
            "score": self.price(),
            "is_archived": self.flag(),
            "created_at": self.date(),
            "updated_at": self.date(),
        }


def wide(made, records):
    make = {
        "label_text": lambda: made.words(1, 4), "note_text": lambda: None if made.rnd.random() < .5 else made.words(4, 8),
        "item_count": lambda: made.number(1_000_000), "unit_price": made.price, "is_active": made.flag, "changed_at": made.date,
    }
    names = [(name, make[name[:-3]]) for name in wide_names()]
    for page, first in enumerate(range(0, records, WIDE_RECORDS_OF_PAGE)):
        entity = f"Wide{page % WIDE_ENTITIES:02d}"
        yield [{"id": made.count(entity, number + 1), **{name: value() for name, value in names}}
               for number in range(first, min(first + WIDE_RECORDS_OF_PAGE, records))]


def deep(made, records):
    """Whole trees, as many as have the records; each at least as many as asked for."""
    next_id = 0

    def tree(level, parent):
        nonlocal next_id
        next_id += 1
        number = next_id
        record = made.record(LEVELS[level], number)
        made.checksum += parent
        if level + 1 < len(LEVELS):
            record["children"] = [tree(level + 1, number) for _ in range(CHILDREN)]
            made.counts["children"] = made.counts.get("children", 0) + CHILDREN
        return record

    while next_id < records:
        yield [tree(0, 0) for _ in range(TREES_OF_PAGE)]


def small(made, records):
    for number in range(1, records + 1):
        yield made.record("Item", number)


def wrapped(items, indent, separator=", ", width=120):
    lines, line = [], indent
    for i, item in enumerate(items):
        item += separator.rstrip() if i + 1 < len(items) else ""
        if len(line) + len(item) + 1 > width and line.strip():
            lines.append(line.rstrip())
            line = indent
        line += item + " "
    return "\n".join([*lines, line.rstrip()])


def camel(name):
    first, *rest = name.split("_")
    return first + "".join(word.capitalize() for word in rest)


def swift():
    names = wide_names()
    print("// A record of 200 values, decoded by `JSONDecoder` and bound in the order of its coding keys. Made by: gen_shapes.py swift")
    print("\nimport Foundation\nimport GRDB\n")
    print("/// A record of each of the 20 entities of `import.wide`, whose attributes have the same names: the table says which it is.")
    print("struct PeerWideRecord: ShapeDocument {\n    var id: Int64")
    for kind, swift_type in SWIFT_TYPES.items():
        of_kind = [f"{camel(name)}: {swift_type}" for name in names if name.startswith(kind)]
        print(f"    var\n{wrapped(of_kind, '        ')}")
    print("\n    enum CodingKeys: String, CodingKey, CaseIterable {\n        case id")
    print(f"        case\n{wrapped([f'{camel(name)} = {json.dumps(name)}' for name in names], '            ')}\n    }}\n")
    print("    var arguments: StatementArguments {")
    print("        var values: [(any DatabaseValueConvertible)?] = [id]")
    print(f"        values.reserveCapacity({WIDE_ATTRIBUTES})")
    for start in range(0, len(names), 20):
        print(f"        values += [\n{wrapped([camel(name) for name in names[start:start + 20]], '            ')},\n"
              "        ] as [(any DatabaseValueConvertible)?]")
    print("        return StatementArguments(values)\n    }\n}")


def main():
    if sys.argv[1:] == ["swift"]:
        return swift()
    if len(sys.argv) != 4 or sys.argv[1] not in ("wide", "deep", "small"):
        sys.exit("usage: gen_shapes.py wide|deep|small RECORDS OUT_DIR | gen_shapes.py swift")
    shape, records, out = sys.argv[1], int(sys.argv[2]), sys.argv[3].rstrip("/")
    os.makedirs(out, exist_ok=True)
    made = Made()
    with open(os.path.join(out, "bodies.jsonl"), "w", encoding="utf-8") as f:
        for body in {"wide": wide, "deep": deep, "small": small}[shape](made, records):
            json.dump(body, f, separators=(",", ":"))
            f.write("\n")
    with open(f"{out}.counts.json", "w", encoding="utf-8") as f:
        json.dump({**made.counts, "checksum": made.checksum}, f)


main()
