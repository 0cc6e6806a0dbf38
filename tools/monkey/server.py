"""The model server of projects: users, projects, their tasks and memos, kept in memory and served in pages."""
import json
import urllib.parse

from host import GONE, Host, text_of


class Server(Host):
    def __init__(self, world):
        super().__init__(world)
        self.users, self.projects, self.tasks, self.memos = {}, {}, {}, {}
        self.tags = {number: {"id": number, "name": f"tag {number}"} for number in range(1, 7)}
        self.gone = {}  # deleted tasks and the time of their deletion
        self.open()

    # Changes.

    def touch(self, record):
        self.clock += 1
        record["rev"] = record.get("rev", 0) + 1
        record["at"] = self.clock

    def noted(self, task, text):
        self.notes.setdefault(task, []).append(text)

    def mutate(self, dice):
        """Changes something, as another client does."""
        kinds = {"user": 2, "project": 3, "rename": 2, "owner": 3, "memo": 3, "task": 10, "edit": 12,
                 "remove task": 5, "remove project": 0.7, "remove user": 0.7}
        kind = dice.choices(list(kinds), kinds.values())[0]
        pick = lambda table: dice.choice(sorted(table)) if table else None
        user, project, task = pick(self.users), pick(self.projects), pick(self.tasks)
        text, tags = f"s{self.clock}", dice.sample(sorted(self.tags), dice.randint(0, 3))
        if kind == "user":
            self.add(self.users, {"name": text})
        elif kind == "project":
            self.add(self.projects, {"name": text, "owner": user, "tags": tags})
        elif kind == "task" and project:
            self.add(self.tasks, {"title": text, "note": None, "done": False, "priority": dice.randint(0, 3),
                                  "project": project, "assignee": user, "tags": sorted(tags)})
        elif kind == "rename" and user:
            self.users[user]["name"] = text
            self.touch(self.users[user])
        elif kind == "edit" and task:
            record = self.tasks[task]
            values = {"title": record["title"].split("-")[0] + f"-{self.clock}", "note": text, "project": project,
                      "done": not record["done"], "assignee": user, "tags": sorted(tags)}
            field = dice.choice(sorted(values))
            record[field] = values[field]
            if field == "note":
                self.noted(task, text)
                self.touched.add(("Task", task))
            self.touch(record)
        elif kind == "owner" and project:
            self.projects[project]["owner"] = user
            self.touch(self.projects[project])
        elif kind == "remove task" and task:
            self.touched.add(("Task", task))
            self.remove_task(task)
        elif kind == "remove project" and len(self.projects) > 2:
            self.touched.add(("Project", project))
            self.remove_project(project)
        elif kind == "remove user" and len(self.users) > 2:
            del self.users[user]
            self.memos = {key: memo for key, memo in self.memos.items() if key[0] != user}
            for table, field in ((self.projects, "owner"), (self.tasks, "assignee")):
                for record in table.values():
                    if record[field] == user:
                        record[field] = None
                        self.touch(record)
        elif kind == "memo" and user:
            key = (user, dice.randint(1, 4))
            self.memos[key] = {"number": key[1], "user": user, "text": text}
        self.clock += 1

    def add(self, table, record):
        self.next_id += 1
        record["id"] = self.next_id
        table[record["id"]] = record
        self.touch(record)
        return record

    def remove_task(self, number):
        del self.tasks[number]
        self.clock += 1
        self.gone[number] = self.clock

    def remove_project(self, number):
        for task in [task for task, record in self.tasks.items() if record["project"] == number]:
            self.touched.add(("Task", task))
            self.remove_task(task)
        del self.projects[number]

    # JSON.

    def json_of(self, kind, record, is_listed=False):
        if kind == "users":
            return {"id": record["id"], "name": record["name"], "rev": record["rev"]}
        if "deleted" in record:
            return {"id": record["id"], "deleted": True, "updated_at": text_of(record["at"])}
        if kind == "memos":
            memo = {"number": record["number"], "text": record["text"]}
            return memo if self.world.below else memo | {"user": record["user"]}
        user = lambda number: self.json_of("users", self.users[number]) if number in self.users else None
        shared = {"id": record["id"], "rev": record["rev"], "updated_at": text_of(record["at"]),
                  "tags": [self.tags[tag] for tag in record["tags"]]}
        if kind == "projects":
            if is_listed and self.world.details:
                return {"id": record["id"], "name": record["name"]}
            return shared | {"name": record["name"], "owner": user(record["owner"])}
        task = shared | {name: record[name] for name in ("title", "note", "done", "priority")}
        task["assignee"] = user(record["assignee"])
        return task if is_listed == "nested" and self.world.parent else task | {"project_id": record["project"]}

    # Requests.

    def read(self, path, query, fields, body):
        parts = path.strip("/").split("/")
        tables = {"users": self.users, "projects": self.projects, "tasks": self.tasks, "memos": self.memos}
        if len(parts) == 2:
            record = tables[parts[0]].get(int(parts[1]))
            return self.valid(self.json_of(parts[0], record), {}, fields, self.world.matches) if record else GONE
        kind, is_listed, records = parts[0], True, list(tables[parts[0]].values())
        order = lambda record: (record["id"],) if "id" in record else (record["user"], record["number"])
        if parts[-1] == "memos" and len(parts) == 3:
            if int(parts[1]) not in self.users:
                return GONE
            kind, records = "memos", [memo for memo in self.memos.values() if memo["user"] == int(parts[1])]
        elif len(parts) == 3:
            if int(parts[1]) not in self.projects:
                return GONE
            kind, is_listed = "tasks", "nested"
            records = [task for task in self.tasks.values() if task["project"] == int(parts[1])]
        elif kind == "tasks" and self.world.feed != "whole":
            order = lambda record: (record["at"], record["id"])
            if self.world.feed == "tombstones":
                records += [{"id": number, "at": at, "deleted": True} for number, at in self.gone.items()]
            records = [record for record in records if text_of(record["at"]) >= query.get("since", "")]
        if kind == "tasks" and "done" in query:
            records = [task for task in records if str(task["done"]).lower() == query["done"]]
        style = self.world.styles["nested" if is_listed == "nested" else "feed" if kind == "tasks" else kind]
        records.sort(key=order)
        size = int(query.get("n", 3))
        document, header, start = {}, {}, 0
        if style == "offset":
            start, document["total"] = int(query.get("offset", 0)), len(records)
        elif style == "page":
            start, document["pages"] = (int(query.get("page", 1)) - 1) * size, -(-len(records) // size)
        elif "after" in query:
            after = tuple(map(int, query["after"].split(".")))
            start = sum(order(record) <= after for record in records)
        page = records[start:start + size]
        if style in ("cursor", "link") and start + size < len(records):
            after = ".".join(map(str, order(page[-1])))
            if style == "cursor":
                document["next"] = after
            else:
                prefix = "/people" if self.world.people and kind in ("users", "memos") else ""
                query["after"] = after
                header["Link"] = f'<{self.base}{prefix}{path}?{urllib.parse.urlencode(query)}>; rel="next"'
        document["items"] = [self.json_of(kind, record, is_listed) for record in page]
        return self.valid(document, header, fields, self.world.validators)

    def write(self, method, path, fields, body):
        body = json.loads(body or "{}")
        parts = path.strip("/").split("/")
        if method == "POST":
            if len(parts) == 3 and int(parts[1]) not in self.projects:
                return GONE
            if len(parts) == 3:
                record = self.add(self.tasks, {
                    "title": body["title"], "note": body.get("note"), "done": bool(body.get("done")), "priority": 1,
                    "project": int(parts[1]), "assignee": None, "tags": []})
                kind, token = "tasks", record["title"]
                self.noted(record["id"], record["note"])
            else:
                record = self.add(self.projects, {"name": body["name"], "owner": None, "tags": []})
                kind, token = "projects", record["name"]
            self.created.append((token, fields.get("idempotency-key"), record["id"]))
            return self.written(kind, record, 201)
        kind, number = parts[0], int(parts[1])
        if len(parts) == 4:
            record, tag = self.tasks.get(number), int(parts[3])
            if not record or tag not in self.tags or method == "DELETE" and tag not in record["tags"]:
                return GONE
            tags = set(record["tags"]) - {tag} if method == "DELETE" else {*record["tags"], tag}
            if sorted(tags) != record["tags"]:
                record["tags"] = sorted(tags)
                self.touch(record)
            return 204, {}, b""
        table = self.projects if kind == "projects" else self.tasks
        record = table.get(number)
        if not record:
            return GONE
        tag = self.valid(self.json_of(kind, record), {}, {}, True)[1]["ETag"]
        if self.world.matches and fields.get("if-match", tag) != tag:
            return 412, {}, b"{}"
        if method == "DELETE":
            self.remove_project(number) if kind == "projects" else self.remove_task(number)
            return 204, {}, b""
        for name, value in body.items():
            value = value["id"] if isinstance(value, dict) else value
            name = {"project_id": "project"}.get(name, name)
            if name == "project" and value not in self.projects:
                return 422, {}, b'{"message": "no such record"}'
            record[name] = sorted(value) if name == "tags" and kind == "tasks" else value
            if name == "note":
                self.noted(number, value)
        self.touch(record)
        return self.written(kind, record, 200)

    def written(self, kind, record, status):
        if self.world.form == "empty" and status == 200:
            return 204, {}, b""
        answer = self.valid(self.json_of(kind, record), {}, {}, self.world.matches)
        if self.world.form != "record" and status == 201:
            return 201, {"Location": f"{self.base}/{kind}/{record['id']}"}, b""
        return status, answer[1], answer[2]
