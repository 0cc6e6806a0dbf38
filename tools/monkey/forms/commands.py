"""Random commands for a world of forms, and the comparison of its local changes."""
import json

from commands import QUEUED, Commands


class FormCommands(Commands):
    def __init__(self, *arguments):
        super().__init__(*arguments)
        self.arguments = {}  # by key of a created record, as it was printed: the key as an argument

    @property
    def reads(self):
        names = [each.entity for each in self.world.collections]
        return ["status", "search s", "changes", "outbox list", "check", "inspect stat store.tarn",
                *[f"list {name} --where 'done = true' --sort 'updatedAt desc' --limit 3" for name in names],
                *[f"count {name} --by group" for name in names],
                *[f"fetch {each.list}" for each in self.world.collections if each.list in self.world.endpoints()
                  and each.tie != "below" and not each.partitions]]

    @property
    def followers(self):
        return [f"watch {self.world.collections[0].entity}", "changes --follow", "push --watch", "sync --watch 1s"]

    @property
    def roots(self):
        return ",".join(each.entity for each in self.world.collections)

    def sync_arguments(self, dice):
        arguments = super().sync_arguments(dice)
        # A value of `--since` has the form of one endpoint only.
        return [] if arguments[:1] == ["--since"] else arguments

    def condition(self, collection, key):
        parts = [f"{name} = {json.dumps(collection.bare((value,)), ensure_ascii=False)}"
                 for name, value in zip(collection.key, key)]
        return " and ".join(parts)

    def handle(self, dice, collection):
        made = [text for text in self.ledger.creations if text[0] == collection.entity]
        known = sorted(collection.records)
        if made and (dice.random() < 0.4 or not known):
            text = dice.choice(made)
            return text, f"origin = {text[1]}"
        if not known:
            return None, "rev = -1"
        key = dice.choice(known[-3:] if dice.random() < 0.5 else known)
        return key, self.condition(collection, key)

    def prepared(self, dice):
        writable = [each for each in self.world.collections if each.writes]
        if not writable:
            return ["list", self.world.collections[0].entity], lambda output: None
        collection = dice.choice(writable)
        kinds = [self.create] * 3 if collection.keys != "nested" else []
        arguments, note = dice.choice(kinds + [self.update] * 4 + [self.delete])(dice, collection)
        return arguments + [dice.choice(["--queue", "--queue", "--send"])], note

    def owner_for(self, dice, collection):
        """An owner for a record: one of the server, or one that was created here."""
        mine = [key for key, made in self.ledger.keys.items() if made[0] == collection.owners.entity]
        known = sorted(collection.owners.records)
        if mine and dice.random() < 0.5:
            return self.arguments[dice.choice(mine)]
        return json.dumps(collection.owners.bare(dice.choice(known)), ensure_ascii=False) if known else "1"

    def create(self, dice, collection):
        text, chosen = (collection.entity, f"c{self.step}"), None
        arguments = ["create", collection.entity, "--set", f"origin={text[1]}", "--set", "done=false",
                     "--set", f"{self.world.note}=n{self.step}"]
        if collection.keys != "int":
            key = {"pair": ["r 9", self.step], "day": f"2027-01-{self.step:02}"}.get(collection.keys, f"n/{self.step}")
            chosen = json.dumps(key) if isinstance(key, list) else key
            arguments += ["--key", chosen]
        if collection.tie == "below" or collection.tie == "refers" and dice.random() < 0.7:
            arguments += ["--set", f"owner={self.owner_for(dice, collection)}"]

        def note(output):
            self.ledger.creations[text] = bool(output)
            if output:
                self.ledger.keys[output.split("\n")[0]] = text
                self.arguments[output.split("\n")[0]] = chosen or output.split("\n")[0]
        return arguments, note

    def update(self, dice, collection):
        handle, condition = self.handle(dice, collection)
        text = f"u{self.step}"
        sets = ["--set", f"{self.world.note}={text}"]
        if dice.random() < 0.3:
            sets += ["--set", f"done={dice.choice(['true', 'false'])}"]
        if collection.tie != "none" and collection.keys != "nested" and dice.random() < 0.2:
            sets += ["--set", f"owner={self.owner_for(dice, collection)}"]

        def note(output):
            self.ledger.updates.append((self.step, collection.entity, handle, text, bool(QUEUED.search(output))))
        return ["update", collection.entity, "--where", condition, *sets], note

    def delete(self, dice, collection):
        handle, condition = self.handle(dice, collection)

        def note(output):
            self.ledger.deletions.append((self.step, collection.entity, handle, bool(QUEUED.search(output))))
            self.excuse_with(collection, handle)
        return ["delete", collection.entity, "--where", condition], note

    def excuse_with(self, collection, handle):
        """Notes that the changes of a record, and of all that may be deleted with it, may be missing."""
        self.ledger.excused.add((collection.entity, handle))
        for other in self.world.collections:
            if other.owners is collection and other.tie == "below":
                for key in [*other.records, *[text for text in self.ledger.creations if text[0] == other.entity]]:
                    self.excuse_with(other, key)

    def excuse(self, operation):
        table, _, key = operation["record"].partition(" ")
        collection = next(each for each in self.world.collections if table.startswith(each.entity))
        handle = self.ledger.keys.get(key) or self.key_in(collection, key)
        self.ledger.excused.add((collection.entity, handle))
        self.ledger.refused.add((collection.entity, handle))
        # The discard of a creation takes everything along that needs the record.
        if operation["change"] != "update":
            self.excuse_with(collection, handle)
            self.ledger.excused |= {(text[0], text) for text in self.ledger.creations}
        for token, _, number in self.server.created:
            if token[0] == collection.entity and number == handle:
                self.ledger.excused.add((collection.entity, token))

    def key_in(self, collection, text):
        """The key in a text of the outbox."""
        for key in [*collection.records, *collection.gone]:
            bare = collection.bare(key)
            plain = f"[{', '.join(map(str, bare))}]" if isinstance(bare, list) else str(bare)
            if text in (plain, json.dumps(bare, separators=(",", ":"), ensure_ascii=False)):
                return key
        return text

    # The comparison at rest.

    def table_of(self, text):
        return text[0]

    def notes_of(self, table, number):
        return self.server.notes.get((table, number), [])

    def name_of(self, noted):
        return noted

    def records_of(self, table):
        return next(each.records for each in self.world.collections if each.entity == table)

    def needs_whole_list(self, lines):
        return False

    def differences(self):
        """The differences between the store and the server, as lines."""
        lines = []
        for entity, expected in self.world.expected().items():
            collection = next(each for each in self.world.collections if entity.startswith(each.entity))
            rows = self.rows("list", entity, "--fields", "all")
            found = {self.key_of(collection, row): row for row in rows}
            if len(found) != len(rows):
                lines.append(f"{entity}: {len(rows)} rows have {len(found)} keys")
            for key in expected.keys() - found.keys():
                lines.append(f"{entity} {key} is missing: the server has {expected[key]}")
            for key in found.keys() - expected.keys():
                # An excerpt in another record creates a part of a record, which no list has to name.
                if found[key].get("done") is not None and not self.may_stay(collection):
                    lines.append(f"{entity} {key} is not at the server: the store has {found[key]}")
            for key in expected.keys() & found.keys():
                lines += [f"{entity} {key} {name}: the store has {self.stored(collection, found[key], name)!r}, "
                          f"the server {value!r}" for name, value in expected[key].items()
                          if self.stored(collection, found[key], name) != value]
        return sorted(set(lines + self.part_differences()))

    def may_stay(self, collection):
        """Whether records that the server has deleted may stay: its list was another one meanwhile."""
        return collection.scope == "listed" and collection.was_listed_otherwise

    def key_of(self, collection, row):
        """The key of a row, as the model has it."""
        def key(value, owners):
            values = value if isinstance(value, list) else [value]
            return tuple(key(part, owners.owners) if kind is None else part
                         for part, kind in zip(values, owners.key.values()))
        return key([row.get(name) for name in collection.key], collection)

    def stored(self, collection, row, name):
        value = row.get(self.world.note if name == "text" else name)
        if name in ("labels", "lines"):
            return value or []
        if name == "watchers":
            return value or [] if collection.ordered else sorted(value or [], key=str)
        return value

    def part_differences(self):
        """The differences of records that only others have: labels and lines."""
        lines = []
        for each in self.world.collections:
            if each.lines:
                texts = {(json.dumps(row["of"]), row["position"]): row.get("text")
                         for row in self.rows("list", each.entity + "Line", "--fields", "all")}
                for key, record in each.records.items():
                    of = json.dumps(each.bare(key))
                    found = [texts.get((of, position)) for position in range(len(record["lines"]))]
                    if found != record["lines"]:
                        lines.append(f"{each.entity} {key} has the lines {found!r}, at the server {record['lines']!r}")
            if each.labels in ("objects", "map"):
                colors = {row["name"]: row.get("color") for row in self.rows("list", each.entity + "Label")}
                wanted = {name for record in each.records.values() for name in record["labels"]}
                lines += [f"{each.entity}Label {name} is missing or wrong" for name in wanted
                          if colors.get(name) != f"{name}!"]
        return lines
