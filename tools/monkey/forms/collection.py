"""A collection of records at the model server: its records, and the forms in which an API has them.

Forms that identify records stay for a run. The others (`draw`) may change during it, at the server and in the
description at once, as an API does that moves to another version.
"""
import urllib.parse

KEYS = {"int": {"id": "int"}, "slug": {"slug": "string"}, "pair": {"region": "string", "number": "int"},
        "day": {"day": "string"}, "member": {"name": "string"}, "nested": {"owner": None, "number": "int"}}
GROUPS = ["a", "b", "c"]
COLORS = ["red", "green", "blue", "grey", "pink"]
# Shapes of which an object of a record is no part: they have only what a cell or a key can be.
FLAT = ("rows", "cols", "arrays")
BARE = ("ids", "urls", "excerpts")


class Collection:
    def __init__(self, name, dice, owners):
        self.entity, self.list, self.owners = name, name.lower() + "s", owners
        self.tie = dice.choice(["below", "below", "refers", "none"]) if owners else "none"
        keys = ["int", "int", "slug", "pair", "day", "member"] + ["nested"] * (self.tie == "below")
        self.keys = dice.choice(keys)
        self.key = KEYS[self.keys]
        self.kinds = dice.random() < 0.3
        self.labels = dice.choice(["none", "none", "objects", "names", "map"])
        self.watched = bool(owners) and dice.random() < 0.3
        self.ordered = dice.random() < 0.5
        self.lines = self.keys != "nested" and dice.random() < 0.25
        self.writes = dice.random() < 0.6
        self.versions = dice.random() < 0.4
        self.records, self.gone, self.epoch = {}, {}, 0
        self.size, self.after, self.commit, self.order = 3, "two_scans", "page", 0
        self.was_listed_otherwise = False
        self.draw(dice)

    def draw(self, dice):
        """Draws the forms that may change."""
        shapes = ["list", "edges", "rows", "cols", "map", "groups", "excerpts", "urls"]
        # The path of a kind's condition is that of objects, which single records are.
        shapes += ["arrays"] * (not self.kinds)
        shapes += ["ids"] * (len(self.key) == 1 and self.keys != "member")
        if self.keys == "member":
            shapes = ["map"]
        elif self.keys == "nested":
            shapes = ["list", "edges", "rows", "cols", "groups"]
        self.shape = dice.choice(shapes)
        self.names = dice.choice(["columns", "meta", "first", "given"])
        self.changes = "whole" if self.shape in BARE + ("arrays",) else dice.choice(
            ["whole", "whole", "field", "number", "token", "same", "link", "header"])
        self.partitions = self.changes != "link" and dice.random() < 0.25
        if not self.versions and self.changes != "whole":
            # Lists are scanned side by side: of a record that moves from one to another, the older state may come last.
            self.partitions = False
            self.changes = "whole" if self.tie == "below" else self.changes
        styles = ["offset", "page", "cursor", "json_link", "header_link", "header_cursor", "single"]
        if self.keys == "int" and self.shape in ("list", "rows"):
            styles += ["since_id", "max_id"] * 3
        if self.changes != "whole":
            # A list by time whose pages are counted may leave out records that move during its scan.
            styles = ["cursor", "json_link", "header_link", "header_cursor", "single"]
        fixed = {"same": ["cursor"], "link": ["json_link"]}
        self.style = dice.choice(fixed.get(self.changes, styles))
        self.is_post = dice.random() < 0.3 and self.style not in ("json_link", "header_link")
        self.flag = dice.choice([None, "more", "last"])
        self.count = dice.choice(["total", "pages", "none"])
        self.object_cursor = self.is_post and dice.random() < 0.5
        self.range = dice.choice(["closed", "closed", "open"])
        self.step = dice.choice([None, None, "minute", "hour", "day"])
        self.lag = dice.choice([None, None, "2m", "90s"])
        self.text = self.changes == "field" and dice.random() < 0.4
        self.format = dice.choice([None, "yyyy-MM-dd HH:mm", "seconds"]) if self.changes == "field" else None
        self.at_path = dice.choice(["path", "query", "body"]) if self.is_post else dice.choice(["path", "query"])
        if self.owners and len(self.owners.key) > 1:
            self.at_path = "path"
        self.parent = self.keys == "nested" or dice.random() < 0.7
        # A list below an owner may not name it: then only `parent` does.
        self.names_owner = self.keys != "nested" and (not self.parent or self.shape in BARE)
        bare = bool(self.owners) and len(self.owners.key) == 1
        self.ref = dice.choice(["url"] + ["key"] * bare + ["object"] * (self.shape not in FLAT))
        self.full = dice.random() < 0.5
        # The owners of a page come beside it, as records of their own.
        self.side = self.shape == "list" and self.tie == "refers" and self.ref != "object" and \
            self.changes != "whole" and dice.random() < 0.6
        self.note = dice.choice(["text", "body.text", "note[0].text"]) if self.shape not in FLAT else "text"
        self.leaves_out = dice.random() < 0.3
        self.scope = "entity"
        if self.tie == "below" and self.parent and not self.partitions and dice.random() < 0.4:
            self.scope = "owner"
        elif not self.writes and dice.random() < 0.3:
            self.scope = "listed"
        self.draw_writes(dice)

    def draw_writes(self, dice):
        self.format_of = {kind: dice.choice(["json", "json", "merge_patch", "form"]) for kind in ("create", "update")}
        if self.format_of["update"] == "json" and dice.random() < 0.3:
            self.format_of["update"] = "json_patch"
        self.put = self.format_of["update"] == "json" and dice.random() < 0.3
        self.envelope = dice.choice([None, None, "item", "data.item"])
        self.answer_envelope = dice.random() < 0.7
        self.key_in_body = dice.random() < 0.3
        self.answers = dice.choice(["record", "record", "empty", "location"])
        self.demands = dice.choice([None, "if-match", "header"])
        self.reference = dice.choice(["url", "template"] + ["key"] * (bool(self.owners) and len(self.owners.key) == 1)
                                     + ["object"] * bool(self.owners))
        self.reads = dice.random() < 0.8

    @property
    def fields(self):
        return ["text", "count", "done", "group", "updatedAt", "rev"]

    def new_key(self, dice, owner, next_id):
        """The key of a new record; that of a deleted record may come again, except for numbers of the server."""
        if self.keys == "int":
            return (next_id,)
        if self.keys == "pair":
            return (dice.choice(["r1", "r/2", "ü 3"]), dice.randint(1, 9))
        if self.keys == "nested":
            return (owner, dice.randint(1, 6))
        if self.keys == "day":
            return (f"2026-{dice.randint(1, 3):02}-{dice.randint(1, 9):02}",)
        return (dice.choice(["ada", "bob l", "k.7", "x/y", "é", "a%20b", "q?a=1&b", "007", "null", "true"])
                + dice.choice(["", "-2", "+3"]),)

    # Addresses.

    def parts(self, key):
        """The parts of a key, with those of an owner's key in front."""
        return [part for value in key for part in (self.owners.parts(value) if isinstance(value, tuple) else [value])]

    def path(self, key):
        return "/".join(urllib.parse.quote(str(part), safe="") for part in self.parts(key))

    def key_of(self, parts):
        """The key of the segments of a path."""
        parts, key = [urllib.parse.unquote(part) for part in parts], []
        for kind in self.key.values():
            if kind is None:
                count = len(self.owners.key)
                key.append(self.owners.key_of(parts[:count]))
                parts = parts[count:]
            else:
                key.append(int(parts.pop(0)) if kind == "int" else parts.pop(0))
        return tuple(key)

    def variables(self, prefix=""):
        """The variables of a path that name a record."""
        names = [f"{prefix}{name}" for name, kind in self.key.items() if kind]
        if None in self.key.values():
            names = [f"{prefix}owner.{name}" for name in self.owners.key] + names
        return "/".join(f"{{{name}}}" for name in names)

    @property
    def variable(self):
        return self.entity[0].lower() + self.entity[1:]

    def bare(self, key):
        """The key as `tarn` prints and reads it."""
        values = self.parts(key)
        return values[0] if len(values) == 1 else values
