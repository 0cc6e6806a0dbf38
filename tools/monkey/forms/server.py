"""The model server of the forms: collections whose lists, records and requests have the forms of the world."""
import json
import random
import urllib.parse

from forms import changes, paging, shapes, writes
from forms.collection import COLORS, GROUPS
from forms.fields import object_of
from host import GONE, Host


class FormServer(Host):
    read_faults, write_faults = ["html", "refused", "null"], ["lost", "refused"]

    def __init__(self, world):
        super().__init__(world)
        self.plant = None  # A mistake that the comparison has to find.
        self.open()

    def is_read(self, method, path):
        return method == "GET" or path.endswith("/search")

    def nothing(self):
        return b'{"items": null, "rows": null, "series": null, "groups": null, "data": null}'

    def key_of(self, fields, body):
        if "request_id" in (body or ""):
            return fields.get("idempotency-key") or body.split("request_id")[1][:60]
        return fields.get("idempotency-key")

    # Changes.

    def touch(self, record):
        self.clock += 1
        # Several records change in the same second.
        record["rev"], record["at"] = self.clock, self.clock // 3

    def noted(self, collection, key, text):
        self.notes.setdefault((collection.entity, key), []).append(text)

    def dice_of(self, text):
        return random.Random(f"{self.world.seed} {text}")

    def add(self, collection, dice, values=()):
        """Adds a record, and returns it, or nothing if there is no owner."""
        self.next_id += 1
        owner = next(iter(self.some(collection.owners, dice, 1)), None)
        record = {"text": f"s{self.clock}", "origin": None, "count": dice.choice([None, 0, 1, 7]),
                  "done": dice.random() < 0.5,
                  "group": dice.choice(GROUPS), "kind": dice.choice(["x", "y", "zz"]), "extra": dice.randint(0, 9),
                  "owner": owner, "labels": dice.sample(COLORS, dice.randint(0, 3)),
                  "lines": [f"l{self.clock}.{number}" for number in range(dice.randint(0, 3))],
                  "watchers": self.some(collection.owners, dice) if collection.watched else []} | dict(values)
        if collection.tie == "below" and record["owner"] is None:
            return None
        key = record.setdefault("key", None) or collection.new_key(dice, record["owner"], self.next_id)
        record["key"] = key
        if key in collection.records:
            return None
        collection.gone.pop(key, None)
        collection.records[key] = record
        self.touch(record)
        return record

    def some(self, owners, dice, least=0):
        """Some of the owners, or none."""
        keys = sorted(owners.records) if owners else []
        return dice.sample(keys, min(len(keys), dice.randint(least, 3)))

    def remove(self, collection, key):
        """Removes a record with the ones below it; references to it become null."""
        removed = collection.records.pop(key)
        self.clock += 1
        collection.gone[key] = {"key": key, "deleted": True, "group": removed["group"], "owner": removed["owner"],
                                "rev": self.clock, "at": self.clock // 3}
        self.touched.add((collection.entity, key))
        for other in self.world.collections:
            if other.owners is not collection:
                continue
            for name, record in list(other.records.items()):
                if other.tie == "below" and record["owner"] == key:
                    self.remove(other, name)
                elif record["owner"] == key or key in record["watchers"]:
                    record["owner"] = None if record["owner"] == key else record["owner"]
                    record["watchers"] = [watcher for watcher in record["watchers"] if watcher != key]
                    self.touch(record)

    def mutate(self, dice):
        """Changes something, as another client does."""
        collection = dice.choice(self.world.collections)
        kinds = {"add": 12, "edit": 14, "remove": 5, "expire": 0.5, "columns": 1}
        if collection is self.world.collections[0]:
            kinds["remove"] = 1
        kind = dice.choices(list(kinds), kinds.values())[0]
        key = dice.choice(sorted(collection.records)) if collection.records else None
        if kind == "add":
            self.add(collection, dice)
        elif kind == "edit" and key:
            self.edit(collection, collection.records[key], dice)
        elif kind == "remove" and key and len(collection.records) > 2:
            self.remove(collection, key)
        elif kind == "expire":
            collection.epoch += 1
        elif kind == "columns":
            collection.order += 1
        self.clock += 1

    def edit(self, collection, record, dice):
        text = f"s{self.clock}"
        values = {"text": text, "count": dice.choice([None, 0, 3]), "done": not record["done"],
                  "group": dice.choice(GROUPS), "kind": dice.choice(["x", "y", "zz"]), "extra": dice.randint(0, 9),
                  "labels": dice.sample(COLORS, dice.randint(0, 3))}
        if collection.lines:
            values["lines"] = [f"l{self.clock}.{number}" for number in range(dice.randint(0, 3))]
        if collection.watched:
            values["watchers"] = self.some(collection.owners, dice)
        if collection.tie != "none" and collection.keys != "nested" and collection.owners.records:
            values["owner"] = dice.choice(sorted(collection.owners.records))
        field = dice.choice(sorted(values))
        record[field] = values[field]
        if field == "text":
            self.noted(collection, record["key"], text)
            self.touched.add((collection.entity, record["key"]))
        self.touch(record)

    # Requests.

    def read(self, path, query, fields, body):
        parts = path.strip("/").split("/")
        collection = next((each for each in self.world.collections if each.list == parts[0]), None)
        if not collection:
            return GONE
        if parts[1:2] == ["one"]:
            record = collection.records.get(collection.key_of(parts[2:]))
            if not record:
                return GONE
            return self.valid(object_of(collection, record, self.base), {}, fields, self.world.matches)
        if path.endswith("/search"):
            query = query | changes.flattened(body)
            parts.pop()
        records = [*collection.records.values()]
        if collection.changes != "whole":
            records += collection.gone.values()
        if collection.tie == "below":
            owner = self.owner_of(collection, parts, query)
            if owner not in collection.owners.records:
                return GONE
            records = [record for record in records if record["owner"] == owner]
        if collection.partitions:
            records = [record for record in records if record["group"] == query.get("group")]
        if self.plant == "leaves out":
            records = [record for record in records if record["rev"] % 3]
        records = changes.selected(collection, records, query)
        if records is None:
            return changes.EXPIRED
        url = (path, query)
        page, meta, header = paging.page_of(collection, records, changes.order_of(collection), query, url)
        has_more = bool(page) and len(records) and page[-1] is not max(
            records, key=lambda record: paging.as_order(changes.order_of(collection)(record)))
        changes.tell(collection, page, has_more, query, url, meta, header)
        if self.plant == "other value":
            page = [record | {"count": 99} if record["rev"] % 3 == 0 and "count" in record else record
                    for record in page]
        document = shapes.document_of(collection, page, self.base)
        return self.valid(document | ({"meta": meta} if meta else {}), header, fields, self.world.validators)

    def owner_of(self, collection, parts, query):
        owners = collection.owners
        if collection.at_path == "path":
            return owners.key_of(parts[2:])
        value = query.get("owner")
        return None if value is None else owners.key_of([urllib.parse.quote(str(value), safe="")])

    def write(self, method, path, fields, body):
        parts = path.strip("/").split("/")
        collection = next((each for each in self.world.collections if each.list == parts[0]), None)
        if not collection or not collection.writes:
            return GONE
        return writes.perform(self, collection, method, parts[2:], fields, body)
