"""A world of forms: an API whose collections each have forms of their own, and the description that mirrors it."""
import random

from forms import changes, fields, paging, shapes, writes
from forms.collection import GROUPS, Collection


class FormWorld:
    members = False

    def __init__(self, seed):
        dice = random.Random(f"world {seed}")
        self.seed = seed
        self.validators = dice.random() < 0.8
        self.link_with_304 = dice.random() < 0.5
        self.matches = dice.random() < 0.6
        self.honours_keys = dice.random() < 0.7
        self.conflicts = dice.choice(["per_field", "per_field", "server", "client"])
        self.overlap = dice.choice(["hold", "local", "server"])
        self.faults = dice.choice([0, 0.05, 0.1, 0.2])
        self.unrest = dice.choice([0, 0.1, 0.3])
        self.reshapes = dice.random() < 0.4
        self.index, self.lacking, self.collections = False, set(), []
        self.note, self.was = "text", "caption"  # the name of an attribute that is renamed
        for name in ("Alpha", "Beta", "Gamma", "Delta")[:dice.randint(2, 4)]:
            owners = dice.choice(self.collections[:2]) if self.collections else None
            self.collections.append(Collection(name, dice, owners))
        self.collections[0].writes |= not any(each.writes for each in self.collections)

    def __str__(self):
        lines = [", ".join(f"{name} {value}" for name, value in vars(self).items() if name != "collections")]
        for each in self.collections:
            hidden = ("records", "gone", "key", "owners")
            lines.append("  " + ", ".join(f"{name} {value}" for name, value in vars(each).items()
                                          if name not in hidden))
        return "\n".join(lines)

    def endpoints(self, of_all=False):
        return [each.list for each in self.collections if of_all or each.list not in self.lacking]

    def change(self, dice):
        """Changes the description, and perhaps the API with it; returns the name of the change."""
        each = dice.choice(self.collections)
        kind = dice.choice(["size", "lacking", "after", "commit", "index", "note", "shape", "shape"])
        if kind == "note":
            self.note, self.was = self.was, self.note
            return f"{self.note} in place of {self.was}"
        if kind == "size":
            each.size = dice.choice([1, 2, 3, 5, 10])
            # The size is a parameter, which may change what is listed.
            each.was_listed_otherwise = True
            return f"{each.size} {each.list} a page"
        if kind == "lacking":
            self.lacking ^= {each.list}
            each.was_listed_otherwise = True
            return ("without " if each.list in self.lacking else "with ") + each.list
        if kind == "shape":
            if not self.reshapes:
                return "nothing"
            each.draw(dice)
            each.was_listed_otherwise = True
            return f"{each.list} as {each.shape} by {each.style}, {each.changes}"
        if kind == "index":
            self.index = not self.index
            return f"index {self.index}"
        choices = {"after": ["one_scan", "two_scans"], "commit": ["page", "walk", "{ every: 2 }"]}
        setattr(each, kind, dice.choice(choices[kind]))
        return f"{each.list}: {kind} {getattr(each, kind)}"

    # The description.

    def text(self, base):
        lines = ["store: store.tarn", "api:", f"  base: {base}", "  transport: { idle_timeout: 5 }",
                 "  retry: { attempts: 2, first_delay: 0.01, longest_delay: 0.05, methods: [POST] }", "entities:"]
        for each in self.collections:
            lines += fields.entity_lines(each, self) + writes.lines_of(each, self) + fields.kind_lines(each)
        lines.append("endpoints:")
        for each in self.collections:
            if each.list not in self.lacking or len(self.lacking) == len(self.collections):
                lines += self._endpoint(each)
        return "\n".join(lines) + "\n"

    def _endpoint(self, each):
        owner = each.owners and f"{{{each.owners.variable}.{next(iter(each.owners.key))}}}"
        path, given, body = f"/{each.list}", {}, {"page": {}, "filter": {}}
        if each.tie == "below":
            if each.at_path == "path":
                path += "/of/" + each.owners.variables(each.owners.variable + ".")
            elif each.at_path == "query":
                given["owner"] = f"'{owner}'"
            else:
                body["filter"]["owner"] = f"'{owner}'"
        if paging.sends_size(each):
            (body["page"] if each.is_post else given)["n"] = each.size
        if each.is_post:
            path += "/search"
            if each.partitions:
                body["filter"]["group"] = "'{group}'"
        lines = [f"  {each.list}:", f"    path: '{path}'", f"    commit: {each.commit}", *shapes.lines_of(each),
                 *paging.lines_of(each), *changes.lines_of(each)]
        if given:
            lines.append("    with: { " + ", ".join(f"{name}: {value}" for name, value in given.items()) + " }")
        if each.is_post:
            parts = [f"{name}: {{ " + ", ".join(f"{key}: {value}" for key, value in members.items()) + " }"
                     for name, members in body.items()]
            lines.append("    body: { kind: list, " + ", ".join(parts) + " }")
        if each.partitions:
            lines.append(f"    partitions: {{ group: [{', '.join(GROUPS)}] }}")
        if each.tie == "below":
            parent = ", parent: owner" if each.parent else ""
            lines.append(f"    for_each: {{ entity: {each.owners.entity}{parent} }}")
        return lines

    # The expectation.

    def expected(self):
        """The records of the server, as `tarn list` shows them: by entity and key."""
        tables = {}
        for each in self.collections:
            table = tables[each.entity] = {}
            for key, record in each.records.items():
                values = {name: each.bare((value,)) for name, value in zip(each.key, key)}
                values |= {name: record[name] for name in ("text", "count", "done", "group", "rev", "origin")}
                values["updatedAt"] = fields.text_of(record["at"])
                if each.tie != "none":
                    values["owner"] = record["owner"] and each.owners.bare(record["owner"])
                if each.labels != "none":
                    values["labels"] = record["labels"]
                if each.lines:
                    values["lines"] = [[*each.parts(key), position] for position in range(len(record["lines"]))]
                if each.watched:
                    watchers = [each.owners.bare(watcher) for watcher in record["watchers"]]
                    values["watchers"] = watchers if each.ordered else sorted(watchers, key=str)
                if each.kinds:
                    values["type"] = record["kind"]
                table[key] = values
            if each.kinds:
                tables[each.entity + "X"] = {key: {"extra": record["extra"]} for key, record in each.records.items()
                                             if record["kind"] == "x"}
                tables[each.entity + "Y"] = {key: {} for key, record in each.records.items() if record["kind"] != "x"}
        return tables
