"""A world: the habits of the model server, and the description that mirrors it.

The habits are drawn from the seed and stay for the whole run. The description changes during a run (`change`),
and has every endpoint again when the store is compared with the server.
"""
import random

LISTS = ["users", "projects", "nested", "feed", "memos"]
ENTITIES = {"users": "User", "projects": "Project", "memos": "Memo"}


class World:
    def __init__(self, seed):
        dice = random.Random(f"world {seed}")
        self.seed = seed
        # How tasks are listed: below each project, in one list, or both. The one list is whole, or lists what has
        # changed (`since`), with tombstones of deleted tasks or without.
        self.nested = dice.random() < 0.75
        self.feed = dice.choice(["whole", "tombstones", "tombstones", "changes"] + ["none"] * self.nested)
        # Otherwise nothing tells that a task was deleted.
        self.nested |= self.feed == "changes"
        self.parent = self.nested and dice.random() < 0.6
        self.scope = dice.choice(["entity", "owner"]) if self.parent else "entity"
        self.details = dice.random() < 0.4
        self.styles = {name: dice.choice(["offset", "page", "cursor", "link"]) for name in LISTS}
        if self.feed in ("tombstones", "changes"):
            # A list by time whose pages are counted may leave out records that move during its scan.
            self.styles["feed"] = dice.choice(["cursor", "link"])
        self.validators = dice.random() < 0.8
        self.link_with_304 = dice.random() < 0.5
        self.matches = dice.random() < 0.6
        self.honours_keys = dice.random() < 0.7
        self.form = dice.choice(["record", "record", "empty", "location"])
        self.conflicts = dice.choice(["per_field", "per_field", "server", "client"])
        self.overlap = dice.choice(["hold", "local", "server"])
        self.versions = dice.random() < 0.5
        # Tags of tasks are added and removed one by one; the list by state has two parts, between which tasks move;
        # users and memos come from an API of their own; memos are listed below their users.
        self.members, self.parts = dice.random() < 0.4, dice.random() < 0.4
        self.people, self.below = dice.random() < 0.4, dice.random() < 0.4
        self.faults = dice.choice([0, 0.05, 0.1, 0.2])
        self.unrest = dice.choice([0, 0.1, 0.3])
        # What changes.
        self.sizes = {name: dice.choice([1, 2, 3, 5, 10]) for name in LISTS}
        self.priority = self.index = self.pair = self.memos = False
        self.after, self.commit, self.color, self.lacking = "two_scans", "page", "red", set()
        self.note, self.was = "note", "remark"  # the name of an attribute that is renamed

    def __str__(self):
        return ", ".join(f"{name} {value}" for name, value in vars(self).items())

    def endpoints(self, of_all=False):
        """The names of the endpoints that the description has; with `of_all`, also those that it lacks for now."""
        absent = set() if of_all else set(self.lacking)
        present = {"nested": self.nested, "feed": self.feed != "none", "memos": self.memos}
        absent |= {name for name, is_present in present.items() if not is_present}
        return [name for name in LISTS if name not in absent]

    def change(self, dice):
        """Changes the description, and returns the name of the change."""
        kinds = ["priority", "index", "pair", "memos", "note", "after", "commit", "color"]
        kind = dice.choice(kinds + ["size", "lacking"] * 2)
        if kind == "note":
            self.note, self.was = self.was, self.note
            return f"{self.note} in place of {self.was}"
        if kind == "size":
            name = dice.choice(LISTS)
            self.sizes[name] = dice.choice([1, 2, 3, 5, 10])
            return f"{self.sizes[name]} {name} a page"
        if kind == "lacking":
            name = dice.choice(self.endpoints(of_all=True))
            self.lacking ^= {name}
            return ("without " if name in self.lacking else "with ") + name
        choices = {"after": ["one_scan", "two_scans"], "color": ["red", "green"],
                   "commit": ["page", "walk", "{ every: 2 }"]}
        setattr(self, kind, dice.choice(choices[kind]) if kind in choices else not getattr(self, kind))
        return f"{kind} {getattr(self, kind)}"

    # The description.

    def text(self, base):
        keys = ["transport: { idle_timeout: 5 }", "retry: { attempts: 2, first_delay: 0.01, longest_delay: 0.05 }"]
        if self.people:
            lines = ["apis:", "  work:", *[f"    {line}" for line in [f"base: {base}", *keys]],
                     "  people:", *[f"    {line}" for line in [f"base: {base}/people", *keys]]]
        else:
            lines = ["api:", *[f"  {line}" for line in [f"base: {base}", *keys]]]
        lines = ["store: store.tarn", *lines, "entities:", *self._entities(), "endpoints:"]
        for name in self.endpoints() or ["users"]:
            lines += self._endpoint(name)
        return "\n".join(lines) + "\n"

    def _entities(self):
        version = ["    version: rev"] * self.versions
        index = ", index: true" if self.index else ""
        priority = ", priority: int?" if self.priority else ""
        note = f"{self.note}: {{ type: string?, from: note, was: {self.was} }}"
        return [
            "  User:", *["    api: people"] * self.people, "    key: id",
            "    attributes: { id: int, name: string, rev: int }", *version,
            "  Tag: { key: id, attributes: { id: int, name: string } }",
            "  Project:", "    key: id", *version,
            "    attributes: { id: int, name: string, rev: int, updatedAt: date }",
            "    relationships:",
            "      owner: { to: User, inverse: owned }",
            "      tags: { to: [Tag], ordered: true }",
            "      tasks: { to: [Task], inverse: project, on_delete: cascade }",
            *self._write("/projects", "POST /projects", "[name]"),
            "  Task:", "    key: id", *version, "    attributes:",
            f"      {{ id: int, title: {{ type: string{index} }}, {note}, done: bool, rev: int,",
            f"        updatedAt: date{priority} }}",
            "    relationships:",
            "      project: { to: Project, from: project_id, inverse: tasks }",
            "      assignee: { to: User, inverse: assigned }",
            "      tags: { to: [Tag], inverse: tasks }",
            *["    ignore: [priority]"] * (not self.priority),
            *["    deleted: deleted"] * (self.feed == "tombstones"),
            *["    indexes:", f"      byDone: [done, {self.note}]",
              "      open: { on: title, where: { done: 'false' } }"] * self.pair,
            *self._write("/tasks", "POST /projects/{project.id}/tasks", f"[title, {self.note}, done]"),
            *["      relationships:", "        tags:", "          add: 'PUT /tasks/{id}/tags/{member.id}'",
              "          remove: 'DELETE /tasks/{id}/tags/{member.id}'"] * self.members,
            *["  Memo:", *["    api: people"] * self.people, "    key: [user, number]",
              "    attributes: { number: int, text: string }", "    relationships: { user: User }"] * self.memos,
        ]

    def _write(self, path, create, fields):
        return ["    write:", f"      create: {{ request: '{create}', fields: {fields} }}",
                f"      update: 'PATCH {path}/{{id}}'", f"      delete: 'DELETE {path}/{{id}}'",
                f"      read: '{path}/{{id}}'", f"      conflicts: {self.conflicts}",
                *[f"      overlap: {self.overlap}"] * (self.conflicts == "per_field")]

    def _endpoint(self, name):
        size, given = self.sizes[name], f"color: {self.color}"
        path = {"nested": "'/projects/{project.id}/tasks'", "feed": "/tasks"}.get(name, f"/{name}")
        if name == "memos" and self.below:
            path = "'/users/{user.id}/memos'"
        paginate = {
            "offset": f"{{ offset: {{ param: offset, per_page: {{ n: {size} }}, total: total }} }}",
            "page": f"{{ page_number: {{ param: page, per_page: {{ n: {size} }}, total_pages: pages }} }}",
            "cursor": "{ cursor: { path: next, param: after } }", "link": "header_link"}[self.styles[name]]
        if self.styles[name] in ("cursor", "link"):
            given += f", n: {size}"
        lines = [f"  {name}:", f"    path: {path}", "    records: items", f"    entity: {ENTITIES.get(name, 'Task')}",
                 f"    commit: {self.commit}", f"    paginate: {paginate}", f"    with: {{ {given} }}"]
        if self.people:
            lines.insert(1, f"    api: {'people' if name in ('users', 'memos') else 'work'}")
        if name == "memos" and self.below:
            lines.append("    for_each: { entity: User, parent: user }")
        if name == "feed" and self.feed == "whole" and self.parts:
            lines.append("    partitions: { done: ['true', 'false'] }")
        if name == "nested":
            lines.append("    for_each: " + ("{ entity: Project, parent: project }" if self.parent else "Project"))
        if name == "feed" and self.feed != "whole":
            lines.append("    since: { param: since, field: updated_at }")
        elif name != "nested" or self.feed != "tombstones":
            scope = self.scope if name == "nested" else "entity"
            lines.append(f"    orphans: {{ scope: {scope}, after: {self.after}, allow_empty: true }}")
        if name == "projects" and self.details:
            lines += ["    children:", "      project: { path: '/projects/{id}', paginate: single_page }"]
        return lines
