"""Edits a description, syncs, and compares the mirror with a new one of the same description.

The mirrors are equal, or each difference is named: by the sync after the edit or by `tarn check`, with the field as
`Entity.field`, or with the number of records that no list has any more.
"""
import copy
import json
import os
import random
import re
import shutil
import subprocess
import tempfile
import time

from . import edits as made
from .server import Server

UNLISTED = re.compile(r"of former lists|in no list now|in no other list|no longer listed by the server")


class Matrix:
    def __init__(self, options):
        self.tarn, self.options = os.path.abspath(options.tarn), options
        self.server, self.edits = Server(), made.edits()
        self.folder = tempfile.mkdtemp(prefix="tarn-monkey-edits-")
        self.mirrors = {}  # by the text of a description
        self.runs, self.refused, self.equal, self.named = 0, 0, 0, 0

    def tarn_in(self, folder, *arguments):
        done = subprocess.run([self.tarn, *arguments], cwd=folder, capture_output=True, text=True, timeout=120,
                              env={**os.environ, "NO_COLOR": "1", "TARN_PROGRESS_SECONDS": "0"})
        return done.returncode, done.stdout, done.stdout + done.stderr

    def write(self, folder, description):
        with open(os.path.join(folder, "tarn.yaml"), "w") as file:
            file.write(made.text(description, self.server.base))

    def records(self, folder, description, before=None):
        """The records of a mirror, by entity and key; the fields are those of the description. Records of kinds that
        only the description of before has are there, too."""
        _, output, _ = self.tarn_in(folder, "inspect", "dump", "store.tarn", "--no-versions", "--format", "ndjson")
        fields = {}
        for name, declared in description["entities"].items():
            line, seen = name, {"_partial"}
            while line:
                each = description["entities"].get(line, {})
                seen |= set(each.get("attributes", {})) | set(each.get("relationships", {}))
                line = each.get("parent")
            fields[name] = seen
        for name, declared in (before or {}).get("entities", {}).items():
            if name not in fields and declared.get("parent") in fields:
                fields[name] = fields[declared["parent"]]
        found = {}
        for line in output.splitlines():
            row = json.loads(line)
            entity, key = row.get("entity"), json.dumps(row.get("key"))
            if entity not in fields:
                continue
            values = {name: value for name, value in row.get("fields", {}).items() if name in fields[entity]}
            # Null and absent read alike; a reference without targets is none.
            values = {name: value for name, value in values.items() if value not in (None, [])}
            for name, value in values.items():
                relationship = self.relationship(description, entity, name)
                if relationship and isinstance(value, list) and not relationship.get("ordered"):
                    values[name] = sorted(value, key=json.dumps)
            values["partial"] = row.get("partial", False)
            found[f"{entity} {key}"] = values
        return found

    @staticmethod
    def relationship(description, entity, name):
        while entity:
            declared = description["entities"].get(entity, {})
            if name in declared.get("relationships", {}):
                return declared["relationships"][name]
            entity = declared.get("parent")
        return None

    @staticmethod
    def lines(description, entity):
        """An entity, those of which it is a kind, and its kinds."""
        names, entities = [entity], description["entities"]
        while parent := entities.get(names[-1], {}).get("parent"):
            names.append(parent)
        return names + [name for name, each in entities.items() if each.get("parent") in names]

    def mirror(self, description):
        """The folder of a mirror of a description, synced once; nothing if the description is refused."""
        text = made.text(description, self.server.base)
        if text not in self.mirrors:
            folder = tempfile.mkdtemp(dir=self.folder)
            self.write(folder, description)
            code = self.tarn_in(folder, "sync")[0]
            self.mirrors[text] = folder if code in (0, 3) else None
        return self.mirrors[text]

    def differences(self, before, after):
        """The differences that nothing names; nothing if a description is refused."""
        start, fresh = self.mirror(before), self.mirror(after)
        if start is None or fresh is None:
            return None
        folder = tempfile.mkdtemp(dir=self.folder)
        try:
            shutil.copytree(start, folder, dirs_exist_ok=True)
            self.write(folder, after)
            code, _, output = self.tarn_in(folder, "sync")
            if code in (2, 6):
                # The store refuses the edit, and says so.
                return None
            theirs = self.records(fresh, after)
            # Most mirrors are equal: the other commands run only for those that are not.
            if self.records(folder, after, before) == theirs:
                return []
            output += self.tarn_in(folder, "sync")[2] + self.tarn_in(folder, "check")[2]
            mine = self.records(folder, after, before)
            shutil.rmtree(os.path.join(folder, "store.tarn"))
            shutil.copytree(os.path.join(start, "store.tarn"), os.path.join(folder, "store.tarn"))
            output += self.tarn_in(folder, "check")[2]
        finally:
            shutil.rmtree(folder)
        self.was_named = mine != theirs
        return self.unnamed(before, after, mine, theirs, output)

    def leads_to(self, descriptions, entity, output):
        """Whether the output names a relationship of which nested records of an entity come."""
        for description in descriptions:
            for name, declared in description["entities"].items():
                for field, relationship in declared.get("relationships", {}).items():
                    if entity in (relationship["to"], *relationship["to"]) and f"{name}.{field}" in output:
                        return True
        return False

    def refers(self, description, owner, values, record):
        """Whether a record refers to another one, by the fields of its values."""
        entity, key = record.split(" ", 1)
        for name, value in values.items():
            relationship = self.relationship(description, owner.split(" ")[0], name)
            if relationship is None:
                continue
            is_many = isinstance(relationship["to"], list)
            to = relationship["to"][0] if is_many else relationship["to"]
            if to in self.lines(description, entity) and key in map(json.dumps, value if is_many else [value]):
                return True
        return False

    def unnamed(self, before, after, mine, theirs, output):
        """The differences for which there is no sentence, and which follow from none."""
        found, further = [], []
        # Fields that are named, with what they have kept.
        kept = {}
        for record in sorted(mine.keys() | theirs.keys()):
            names = self.lines(after, record.split(" ")[0])
            if record not in theirs:
                further.append(record)
            elif record not in mine:
                has_other_kind = self.has_kept_kind(record, before, after, mine, output)
                if not has_other_kind and not re.search("skipped|not stored", output):
                    found.append(f"{record}: only a new mirror has it")
            else:
                for field in sorted(mine[record].keys() | theirs[record].keys()):
                    own, other = mine[record].get(field), theirs[record].get(field)
                    if own == other:
                        continue
                    if any(f"{name}.{field}" in output for name in names):
                        kept.setdefault(record, {})[field] = own
                    elif not (self.keeps_field(before, after, names, output)
                              or other is None and self.is_unlisted(names, output)):
                        found.append(f"{record}: {field} is {own!r}, in a new mirror {other!r}")
        stay = {record: mine[record] for record in further if self.is_counted(record, before, after, theirs, output)}
        further = [record for record in further if record not in stay]
        # What follows from a record that stays: it refers to another one, or a list of its own is requested.
        while follows := [record for record in further if self.follows(record, after, mine[record], stay, kept)]:
            stay.update((record, mine[record]) for record in follows)
            further = [record for record in further if record not in stay]
        return found + [f"{record}: a new mirror does not have it" for record in further]

    def keeps_field(self, before, after, names, output):
        """Whether a field belongs to a nested record whose place has changed, as the sync says: "records without a
        value there keep the old one". It is the same record: its key is the same at both places."""
        listed = {endpoint["entity"] for endpoint in after["endpoints"].values()}
        return not listed.intersection(names) and any(self.leads_to((before, after), name, output) for name in names)

    def has_kept_kind(self, record, before, after, others, output):
        """Whether the other mirror has a record with another kind, as the sync says: one to which no rule for kinds
        applies keeps its kind, also one that the description has no longer."""
        entity, key = record.split(" ", 1)
        names = {name for each in (before, after) for name in self.lines(each, entity)}
        return any(f"kinds of {name} have changed" in output for name in names) and any(
            f"{name} {key}" in others for name in names)

    def is_counted(self, record, before, after, theirs, output):
        """Whether the output has a sentence about a record that a new mirror does not have."""
        names = self.lines(after, record.split(" ")[0])
        listed = {endpoint["entity"] for endpoint in after["endpoints"].values()}
        if self.has_kept_kind(record, before, after, theirs, output):
            return True
        if "responses report them as deleted" in output and not listed.intersection(names):
            return True
        # What an endpoint has listed before it failed stays: the sync ends with its failure.
        failed = {each["entity"] for name, each in after["endpoints"].items() if f"(FAILED) {name}" in output}
        if failed.intersection(names):
            return True
        return self.is_unlisted(names, output)

    @staticmethod
    def is_unlisted(names, output):
        """Whether records of former lists are counted: they stay, with the values that they have, also those that
        are nested in others now."""
        return any(UNLISTED.search(line) and any(re.search(rf"\b{name}\b", line) for name in names)
                   for line in output.splitlines())

    def follows(self, record, after, values, stay, kept):
        """Whether a record stays because another one does, about which there is a sentence."""
        owners = list(stay.items()) + list(kept.items())
        if any(self.refers(after, owner, fields, record) for owner, fields in owners if owner != record):
            return True
        names = self.lines(after, record.split(" ")[0])
        for endpoint in after["endpoints"].values():
            if endpoint["entity"] not in names or not isinstance(endpoint.get("for_each"), dict):
                continue
            kinds = self.lines(after, endpoint["for_each"]["entity"])
            parent = endpoint["for_each"].get("parent")
            keys = [owner.split(" ", 1)[1] for owner in stay if owner.split(" ")[0] in kinds]
            if parent is None and keys or parent and json.dumps(values.get(parent)) in keys:
                return True
        return False

    def try_edits(self, names, start=()):
        before = made.base()
        for name in start:
            self.edits[name](before)
        after = copy.deepcopy(before)
        for name in names:
            self.edits[name](after)
        return before, after

    def run(self):
        deadline, dice = time.monotonic() + self.options.minutes * 60, random.Random(self.options.seed)
        print(f"{len(self.edits)} kinds of edit, seed {self.options.seed}, at most {self.options.minutes:g} min",
              flush=True)
        names, failures, seen = list(self.edits), [], set()
        dice.shuffle(names)
        if self.options.edit:
            queue = [((), (name,)) for name in self.options.edit]
        else:
            # Several at once: what they have in common with a new mirror is seen sooner.
            queue = [((), tuple(names[start:start + 4])) for start in range(0, len(names), 4)]
        try:
            while time.monotonic() < deadline:
                if queue:
                    start, chosen = queue.pop(0)
                elif self.options.edit:
                    break
                else:
                    start = tuple(dice.sample(names, dice.randint(0, 2)))
                    chosen = tuple(dice.sample(names, dice.randint(1, 3)))
                try:
                    pair = self.try_edits(chosen, start)
                except (KeyError, TypeError, AttributeError):
                    queue[:0] = [(start, (name,)) for name in chosen if len(chosen) > 1]
                    continue
                self.runs, self.was_named = self.runs + 1, False
                found = self.differences(*pair)
                if found is None:
                    self.refused += 1
                    queue[:0] = [(start, (name,)) for name in chosen if len(chosen) > 1]
                elif not found:
                    self.named, self.equal = self.named + self.was_named, self.equal + (not self.was_named)
                else:
                    self.report(start, chosen, found, failures, seen, deadline)
        finally:
            self.server.close()
            shutil.rmtree(self.folder, ignore_errors=True)
        print(f"{self.runs} pairs: {self.equal} equal, {self.named} with differences that are named, {self.refused} "
              f"refused, {len(failures)} with differences that nothing names")
        return 1 if failures else 0

    def report(self, start, chosen, found, failures, seen, deadline):
        """Prints a difference with the fewest edits, and the smallest pair of descriptions, that show it."""
        parts = []
        for name in chosen if start or len(chosen) > 1 else []:
            try:
                if less := self.differences(*self.try_edits((name,))):
                    parts.append(((), (name,), less))
            except (KeyError, TypeError, AttributeError):
                continue
        for part in parts or [(start, chosen, found)]:
            self.show(*part, failures, seen, deadline)

    def show(self, start, chosen, found, failures, seen, deadline):
        failures.append((start, chosen))
        print(f"\n{' + '.join(chosen)}{' after ' + ' + '.join(start) if start else ''}: {len(found)} differences "
              f"that nothing names, such as\n  " + "\n  ".join(found[:self.options.most]), flush=True)
        kind = re.sub(r"[0-9]+|'[^']*'", "_", found[0])
        if self.options.shrink and kind not in seen:
            seen.add(kind)
            before, after = self.smallest(*self.try_edits(chosen, start), deadline)
            print("before:\n" + made.text(before, "URL") + "after:\n" + made.text(after, "URL"), flush=True)

    def smallest(self, before, after, deadline):
        """Leaves out entities, fields and endpoints of both descriptions as long as there is a difference."""
        def parts():
            for name in sorted(after["endpoints"].keys() | before["endpoints"].keys()):
                yield ("endpoints", name)
            for entity in list(before["entities"]):
                yield ("entities", entity)
            for entity, declared in before["entities"].items():
                for section in ("relationships", "attributes"):
                    for field in list(declared.get(section, {})):
                        yield ("entities", entity, section, field)
                for key in ("kinds", "ignore"):
                    if key in declared:
                        yield ("entities", entity, key)

        for path in list(parts()):
            if time.monotonic() > deadline:
                break
            pair = copy.deepcopy(before), copy.deepcopy(after)
            for description in pair:
                try:
                    if len(path) == 2 and path[0] == "entities":
                        made.remove_entity(description, path[1])
                        continue
                    for key in path[:-1]:
                        description = description[key]
                    description.pop(path[-1], None)
                except (KeyError, TypeError):
                    pass
            if pair != (before, after) and self.differences(*pair):
                before, after = pair
        return before, after
