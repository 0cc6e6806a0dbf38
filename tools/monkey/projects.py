"""The comparison of the store with the model server of projects."""
from host import text_of


def expected_records(server):
    """The records of the server, as `tarn list` shows them."""
    world = server.world
    fields = {"Task": "id title note done rev project assignee tags" + " priority" * world.priority,
              "Project": "id name rev owner tags", "User": "id name rev", "Memo": "user number text"}
    tables = {"Task": server.tasks, "Project": server.projects, "User": server.users}
    if world.memos:
        tables["Memo"] = server.memos
    return {entity: {key: {name: record[name] for name in fields[entity].split()}
                     | ({"updatedAt": text_of(record["at"])} if entity in ("Task", "Project") else {})
                     for key, record in table.items()} for entity, table in tables.items()}


def differences(commands):
    """The differences between the store and the server, as lines."""
    lines = []
    for entity, expected in expected_records(commands.server).items():
        found = {}
        for row in commands.rows("list", entity, "--fields", "all"):
            found[(row.get("user"), row.get("number")) if entity == "Memo" else row["id"]] = row
        for key in expected.keys() - found.keys():
            lines.append(f"{entity} {key} is missing: the server has {expected[key]}")
        for key in found.keys() - expected.keys():
            lines.append(f"{entity} {key} is not at the server: the store has {found[key]}")
        for key in expected.keys() & found.keys():
            for name, value in expected[key].items():
                stored = found[key].get(commands.world.note if name == "note" else name)
                if entity == "Task" and name == "tags":
                    stored = sorted(stored or [])
                if (stored or None) != (value or None) or name in ("done", "rev") and stored != value:
                    lines.append(f"{entity} {key} {name}: the store has {stored!r}, the server {value!r}")
    # Tags are only nested: those of no record stay.
    names = {row["id"]: row.get("name") for row in commands.rows("list", "Tag")}
    for table in (commands.server.tasks, commands.server.projects):
        for record in table.values():
            lines += [f"Tag {tag} is missing or wrong" for tag in record["tags"] if names.get(tag) != f"tag {tag}"]
    return sorted(set(lines))
