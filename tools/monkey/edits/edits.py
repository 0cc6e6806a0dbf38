"""The description of the tracker, and the edits of it: each has a name and changes a copy of a description."""
import copy
import json

MEMBERS = ["name", "title", "count", "size", "price", "note", "other", "day", "created_at", "stamp", "nested.text",
           "flag", "ratio", "gone", "closed_at"]
TYPES = ["string?", "int?", "double?", "decimal?", "bool?", "date?", "json?", "url?", "'[string]?'".strip("'")]


def base():
    """The description before edits."""
    return {
        "api": {},
        "entities": {
            "Item": {
                "key": "id",
                "attributes": {
                    "id": {"type": "int"}, "name": {"type": "string?"}, "count": {"type": "int?"},
                    "price": {"type": "decimal?"}, "note": {"type": "string?"},
                    "label": {"type": "string?", "from": "other"},
                    "state": {"type": "enum?", "values": ["open", "closed", "held"]}, "flag": {"type": "bool?"},
                    "createdAt": {"type": "date?"}, "closedAt": {"type": "date?"}, "tags": {"type": "[string]?"},
                    "deep": {"type": "string?", "from": "nested.text"}, "type": {"type": "string?"},
                },
                "relationships": {
                    "owner": {"to": "User"}, "maker": {"to": "User", "from": "creator"},
                    "parent": {"to": "Item", "from": "parent"},
                    "reviewers": {"to": ["User"]}, "labels": {"to": ["Label"], "ordered": True},
                    "lines": {"to": ["Line"], "ordered": True},
                },
                "kinds": {"Bug": {"type": "bug"}, "Task": {"type": "task"}},
                "ignore": ["*"],
            },
            "Bug": {"parent": "Item", "attributes": {"severity": {"type": "int?"}}},
            "Task": {"parent": "Item", "attributes": {"effort": {"type": "int?"}}},
            "User": {"key": "id", "attributes": {"id": {"type": "int"}, "login": {"type": "string?"},
                                                 "email": {"type": "string?"}, "city": {"type": "string?"}},
                     "ignore": ["*"]},
            "Label": {"key": "name", "attributes": {"name": {"type": "string"}}, "ignore": ["*"]},
            "Line": {"key": ["item", "position"],
                     "attributes": {"position": {"type": "int", "from": "@position"}, "text": {"type": "string?"}},
                     "relationships": {"item": {"to": "Item", "from": "@parent"}}},
            "Group": {"key": "id", "attributes": {"id": {"type": "int"}, "name": {"type": "string?"},
                                                  "rank": {"type": "int?"}},
                      "relationships": {"members": {"to": ["User"]}}},
            "Note": {"key": "id", "attributes": {"id": {"type": "int"}, "text": {"type": "string?"}},
                     "relationships": {"item": {"to": "Item", "from": "item_id"}, "by": {"to": "User"}},
                     "ignore": ["*"]},
        },
        "endpoints": {
            "items": {"path": "/items", "entity": "Item",
                      "paginate": {"page_number": {"param": "page", "start": 1, "per_page": {"size": 5}}}},
            "users": {"path": "/people", "entity": "User", "paginate": "single_page"},
            "groups": {"path": "/groups", "entity": "Group", "paginate": "single_page"},
            "notes": {"path": "/items/{item.id}/notes", "entity": "Note", "paginate": "single_page",
                      "for_each": {"entity": "Item", "parent": "item"}},
            "parts": {"path": "/items", "entity": "Item", "partitions": {"state": ["open", "closed"]},
                      "paginate": "single_page"},
        },
    }


def text(description, url):
    """The description as YAML."""
    lines = ["store: store.tarn", "api:", f"  base: {url}", "  retry: { attempts: 1 }"]
    lines += [f"  {key}: {json.dumps(value)}" for key, value in description["api"].items()]
    for section in ("entities", "endpoints"):
        lines.append(f"{section}:")
        lines += [f"  {name}: {json.dumps(value)}" for name, value in description[section].items()]
    return "\n".join(lines) + "\n"


def rename(mapping, old, new, value):
    """Renames a member in its place."""
    members = [(new, value) if key == old else (key, each) for key, each in mapping.items()]
    mapping.clear()
    mapping.update(members)


def edits():
    """All edits, by name."""
    found = {}

    def add(name, change):
        found[name] = change

    def set_at(path, value):
        def change(description):
            *parents, last = path
            for key in parents:
                description = description.setdefault(key, {}) if isinstance(description, dict) else description[key]
            if description.get(last) == value:
                raise KeyError(last)
            description[last] = copy.deepcopy(value)
        return change

    def remove(path):
        def change(description):
            *parents, last = path
            for key in parents:
                description = description[key]
            del description[last]
        return change

    start = base()
    for entity, declared in start["entities"].items():
        own = ("entities", entity)
        keys = declared.get("key", [])
        for attribute in declared.get("attributes", {}):
            path, is_key = (*own, "attributes", attribute), attribute in ([keys] if isinstance(keys, str) else keys)
            short = f"{entity}.{attribute}"
            if is_key:
                continue
            add(f"remove {short}", remove(path))

            def renamed(description, path=path, attribute=attribute, was=True):
                fields = description[path[0]][path[1]][path[2]]
                value = dict(fields[attribute])
                if was:
                    value["was"] = attribute
                rename(fields, attribute, attribute + "New", value)
            add(f"rename {short}", renamed)
            add(f"rename {short} without was", lambda d, r=renamed: r(d, was=False))
            for member in MEMBERS if entity == "Item" else ["login", "nick", "text", "name", "age"]:
                add(f"{short} from {member}", set_at((*path, "from"), member))
            add(f"{short} from two", set_at((*path, "from"), ["note", "title"]))
            for kind in TYPES:
                add(f"{short} type {kind}", set_at((*path, "type"), kind))
            for key, value in [("absent", "clear"), ("nulls", "ignore"), ("index", True), ("unique", True),
                               ("coercion", "strict"), ("transform", "trim")]:
                add(f"{short} {key} {value}", set_at((*path, key), value))
            add(f"{short} value", set_at((*path, "value"), "1"))
            add(f"{short} absent value", set_at((*path, "absent"), {"value": "1"}))
            add(f"{short} default", set_at((*path, "default"), "1"))
        for name, relationship in declared.get("relationships", {}).items():
            path = (*own, "relationships", name)
            short = f"{entity}.{name}"
            if name in keys:
                continue
            add(f"remove {short}", remove(path))

            def renamed(description, path=path, name=name, was=True):
                fields = description[path[0]][path[1]][path[2]]
                value = dict(fields[name])
                if was:
                    value["was"] = name
                rename(fields, name, name + "New", value)
            add(f"rename {short}", renamed)
            add(f"rename {short} without was", lambda d, r=renamed: r(d, was=False))
            for member in ["owner", "creator", "owner_id", "parent", "watchers", "reviewers", "labels", "marks", "by"]:
                add(f"{short} from {member}", set_at((*path, "from"), member))
            for key, value in [("absent", "clear"), ("nulls", "ignore"), ("on_delete", "cascade"), ("ordered", True),
                               ("to_many", "append"), ("to_many", "patch"), ("ordered", False)]:
                add(f"{short} {key} {value}", set_at((*path, key), value))
            is_many = isinstance(relationship["to"], list)
            to = relationship["to"][0] if is_many else relationship["to"]
            add(f"{short} to other cardinality", set_at((*path, "to"), to if is_many else [to]))
            add(f"{short} to Group", set_at((*path, "to"), ["Group"] if is_many else "Group"))
            add(f"{short} inverse", set_at((*path, "inverse"), f"{name}Of"))
        for key, value in [("nulls", "ignore"), ("absent", "clear"), ("to_many", "append"), ("to_many", "prepend"),
                           ("duplicates", "first_wins"), ("keyless", "ignore"), ("coercion", "strict"),
                           ("dates", ["day"]), ("naming", "camel_case"), ("compression", "none")]:
            add(f"{entity} {key} {value}", set_at((*own, key), value))

        def rest(description, entity=entity):
            description["entities"][entity].setdefault("attributes", {})["extra"] = {"type": "json?"}
            description["entities"][entity]["rest"] = "extra"
            description["entities"][entity].pop("ignore", None)
        add(f"{entity} rest", rest)
        add(f"remove entity {entity}", lambda d, e=entity: remove_entity(d, e))
    for name, kind in [("title", "string?"), ("size", "int?"), ("day", "string?"), ("ratio", "double?"),
                       ("stamp", "int?"), ("gone", "bool?"), ("other", "string?")]:
        add(f"add Item.{name}", set_at(("entities", "Item", "attributes", name), {"type": kind}))
    for name, value in [("marks", {"to": ["Label"]}), ("watchers", {"to": ["User"]}),
                        ("holder", {"to": "User", "from": "owner_id"})]:
        add(f"add Item.{name}", set_at(("entities", "Item", "relationships", name), value))
    item = ("entities", "Item")
    add("Item deleted", set_at((*item, "deleted"), "gone"))
    add("Item deleted state", set_at((*item, "deleted"), {"state": "held"}))
    add("Item version", set_at((*item, "version"), "count"))
    add("Item otherwise skip", set_at((*item, "otherwise"), "skip"))
    add("Item key uid", lambda d: (set_at((*item, "attributes", "uid"), {"type": "string"})(d),
                                   set_at((*item, "key"), "uid")(d)))
    add("Item key from rev", set_at((*item, "attributes", "id", "from"), "rev"))
    add("Item id string", set_at((*item, "attributes", "id", "type"), "string"))
    add("User key login", set_at(("entities", "User", "key"), "login"))
    add("Item without kinds", remove((*item, "kinds")))
    add("Item without Bug rule", remove((*item, "kinds", "Bug")))
    add("Item without Task rule", remove((*item, "kinds", "Task")))
    add("Item kinds swapped", set_at((*item, "kinds"), {"Task": {"type": "bug"}, "Bug": {"type": "task"}}))
    add("Item kind by flag", set_at((*item, "kinds", "Bug"), {"flag": "true"}))
    add("Item kinds of all", set_at((*item, "kinds"), {"Bug": {"id": "*"}}))
    add("Item kinds with parent rule", set_at((*item, "kinds"), {"Bug": {"type": "bug"}, "Item": {}}))
    add("Label key with color", set_at(("entities", "Label", "attributes", "color"), {"type": "string?"}))
    for key, value in [("naming", "camel_case"), ("coercion", "strict"), ("nulls", "ignore"), ("absent", "clear"),
                       ("to_many", "append"), ("duplicates", "first_wins"), ("keyless", "ignore"),
                       ("headers", {"X-Kind": "other"})]:
        add(f"api {key} {value}", set_at(("api", key), value))
    for name in start["endpoints"]:
        own = ("endpoints", name)
        add(f"remove {name}", remove(own))
        add(f"rename {name}", lambda d, n=name: rename(d["endpoints"], n, n + "New", d["endpoints"][n]))
        for query in [{"state": "open"}, {"type": "bug"}, {"unused": "1"}, {"rev": "3"}]:
            add(f"{name} with {query}", set_at((*own, "with"), query))
        for limit in (1, 3, 7):
            add(f"{name} limit {limit}", set_at((*own, "limit"), {"records": limit, "then": "stop"}))
        add(f"{name} limit pages", set_at((*own, "limit"), {"pages": 1, "then": "stop"}))
        for size in (2, 3, 50):
            add(f"{name} pages of {size}", set_at((*own, "paginate"), {
                "page_number": {"param": "page", "start": 1, "per_page": {"size": size}}}))
        add(f"{name} single_page", set_at((*own, "paginate"), "single_page"))
        add(f"{name} orphans", set_at((*own, "orphans"), {"scope": "listed", "after": "one_scan"}))
        add(f"{name} excerpts", set_at((*own, "excerpts"), True))
        add(f"{name} commit", set_at((*own, "commit"), "walk"))
        add(f"{name} headers", set_at((*own, "headers"), {"X-A": "b"}))
        for rule in [{"contains": "Item 3", "then": "empty"}, {"contains": "user1", "then": "ignore"},
                     {"status": 200, "then": "empty"}, {"status": 200, "contains": "Title 2", "then": "fail"}]:
            add(f"{name} rule {rule}", set_at((*own, "responses"), [rule]))
        add(f"{name} wrapped", lambda d, n=name: (set_at(("endpoints", n, "with"), {"wrapped": "1"})(d),
                                                  set_at(("endpoints", n, "records"), "data")(d)))
        add(f"{name} other records", lambda d, n=name: (set_at(("endpoints", n, "with"), {"wrapped": "1"})(d),
                                                        set_at(("endpoints", n, "records"), "more")(d)))
    for path in ["/issues", "/items/3"]:
        add(f"items at {path}", set_at(("endpoints", "items", "path"), path))
        add(f"parts at {path}", set_at(("endpoints", "parts", "path"), path))
    add("items as users", set_at(("endpoints", "items", "entity"), "User"))
    add("users as groups", set_at(("endpoints", "users", "entity"), "Group"))
    add("items since", set_at(("endpoints", "items", "since"), {"param": "since", "field": "created_at"}))
    for name in ("items", "parts"):
        for day in ("03", "06", "09"):
            add(f"{name} since initial {day}", set_at(("endpoints", name, "since"), {
                "param": "since", "field": "created_at", "initial": f"2025-01-{day}T00:00:00Z"}))
    add("items since later", set_at(("endpoints", "items", "since"), {"param": "since", "field": "stamp"}))
    add("notes only changed", set_at(("endpoints", "notes", "for_each", "only"), "changed"))
    for name, entity in (("owner", "User"), ("labels", "Label")):
        relationship = ("entities", "Item", "relationships", name)
        to = ["Label"] if name == "labels" else entity

        def cleared(description, relationship=relationship, to=to):
            source = "marks" if to == ["Label"] else "none"
            set_at(relationship, {"to": to, "from": source, "absent": "clear"})(description)
        add(f"move Item.{name} and clear it", cleared)
    for values in (["open"], ["held"], ["open", "closed", "held"], ["closed", "none"]):
        add(f"parts of {values}", set_at(("endpoints", "parts", "partitions"), {"state": values}))
    add("parts by type", set_at(("endpoints", "parts", "partitions"), {"type": ["bug"]}))
    add("parts without partitions", remove(("endpoints", "parts", "partitions")))
    add("notes of Bug", set_at(("endpoints", "notes"), {
        "path": "/items/{bug.id}/notes", "entity": "Note", "paginate": "single_page", "for_each": {"entity": "Bug"}}))
    add("notes of groups", set_at(("endpoints", "notes"), {
        "path": "/groups/{group.id}/notes", "entity": "Note", "paginate": "single_page",
        "for_each": {"entity": "Group"}}))
    add("notes without parent", remove(("endpoints", "notes", "for_each", "parent")))
    for name in ("items", "users", "groups"):
        path = {"items": "/items/{id}", "users": "/people/{id}", "groups": "/groups/{id}"}[name]
        add(f"children of {name}", set_at(("endpoints", name, "children"), {
            f"{name}Detail": {"path": path, "paginate": "single_page"}}))
    return found


def remove_entity(description, entity):
    """Removes an entity with everything that names it."""
    entities = description["entities"]
    del entities[entity]
    for each in list(entities):
        if entities[each].get("parent") == entity:
            del entities[each]
    for declared in entities.values():
        relationships = declared.get("relationships", {})
        for name in [name for name, value in relationships.items()
                     if (value["to"][0] if isinstance(value["to"], list) else value["to"]) not in entities]:
            if name in declared.get("key", []):
                raise KeyError(name)
            del relationships[name]
        if entity in declared.get("kinds", {}):
            del declared["kinds"][entity]
            if not declared["kinds"]:
                del declared["kinds"]
    for name, endpoint in list(description["endpoints"].items()):
        needed = {endpoint["entity"], endpoint.get("for_each", {}).get("entity", endpoint["entity"])}
        if not needed <= entities.keys():
            del description["endpoints"][name]
    if not description["endpoints"]:
        raise KeyError(entity)
