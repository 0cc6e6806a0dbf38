"""The requests that change records: their description, and what the server does with them."""
import hashlib
import json
import urllib.parse

from forms.fields import object_of, set_path
from host import GONE

REFUSAL = 422, {}, b'{"message": "no such record"}'


def lines_of(collection, world):
    """The lines of `write` in the entity."""
    if not collection.writes:
        return []
    one = f"/{collection.list}/one/{collection.variables()}"
    names = [*chosen(collection), world.note, "done", "origin"] + ["owner"] * (collection.tie != "none")
    create = [f"fields: [{', '.join(names)}]", *options(collection, "create", world)]
    update = options(collection, "update", world)
    if collection.demands == "header":
        update.append("headers: { X-Revision: '{rev}' }")
    method = "PUT" if collection.put else "PATCH"
    if collection.put:
        update.append("body: changed")
    lines = ["    write:"]
    if collection.keys != "nested":
        lines.append(f"      create: {{ request: 'POST /{collection.list}', {', '.join(create)} }}")
    lines += [f"      update: {{ request: '{method} {one}', {', '.join(update)} }}", f"      delete: 'DELETE {one}'",
              *[f"      read: '{one}'"] * collection.reads, f"      conflicts: {world.conflicts}"]
    lines += ["      idempotency: none"] * collection.key_in_body
    return lines + [f"      overlap: {world.overlap}"] * (world.conflicts == "per_field")


def options(collection, kind, world):
    form = collection.format_of[kind]
    has_envelope = collection.envelope and form != "json_patch"
    parts = [f"format: {form}"] if form != "json" else []
    parts += [f"envelope: {collection.envelope}"] if has_envelope else []
    if not collection.answer_envelope or form == "json_patch":
        parts.append("records: $" if has_envelope else "records: result")
    places = {}
    if collection.note != "text" or collection.shape == "arrays":
        places[world.note] = collection.note
    if collection.shape == "arrays":
        places |= {"done": "done", "origin": "origin"}
    if kind == "create" and (collection.shape == "arrays" or collection.keys == "member"):
        places |= {name: name for name in chosen(collection)}
    if places:
        parts.append("places: { " + ", ".join(f"{name}: '{place}'" for name, place in places.items()) + " }")
    if collection.tie != "none":
        template = f"'Owner {separated(collection)}'" if collection.reference == "template" else collection.reference
        parts.append(f"references: {{ owner: {template} }}")
    if collection.key_in_body and form != "json_patch":
        parts.append("set: { request_id: '{@idempotency_key}' }")
    return parts


def chosen(collection):
    """The attributes of a key that whoever creates a record chooses; numbers are the server's."""
    return [] if collection.keys == "int" else list(collection.key)


def separated(collection):
    """The template of a reference that is a text: the parts of the key."""
    owners = collection.owners
    if None in owners.key.values():
        return "|".join([f"{{owner.{name}}}" for name in owners.owners.key] + ["{number}"])
    return "|".join(f"{{{name}}}" for name in owners.key)


def unformed(text):
    """The object of a form."""
    document = {}
    for name, value in urllib.parse.parse_qsl(text, keep_blank_values=True):
        path = name.replace("[0]", ".0").replace("][", ".").replace("[", ".").replace("]", "").split(".")
        target = document
        for part in path[:-1]:
            target = target.setdefault(part, {})
        target[path[-1]] = None if value == "" else {"true": True, "false": False}.get(value, value)
    return document


def body_of(collection, kind, text):
    """The object of the fields in a body, and the whole body."""
    form = collection.format_of[kind]
    if form == "json_patch":
        document = {}
        for operation in json.loads(text):
            path = [part.replace("~1", "/").replace("~0", "~") for part in operation["path"].split("/")[1:]]
            set_path(document, ".".join(path).replace(".0.", "[0]."), operation["value"])
        return document, {}
    document = whole = unformed(text) if form == "form" else json.loads(text)
    for name in collection.envelope.split(".") if collection.envelope else ():
        document = document.get(name, {})
    return document, whole


def value_at(document, path):
    """Returns whether there is a value at a path, and the value."""
    for name in path.replace("[0]", ".0").split("."):
        if isinstance(document, list):
            if not document:
                return True, None
            document = document[int(name)]
        elif isinstance(document, dict) and name in document:
            document = document[name]
        elif document is None:
            return True, None
        else:
            return False, None
    return True, document


def values_of(collection, document, base):
    """The fields in a body by the names of the model. A reference that names no record is a ValueError."""
    values = {}
    for name, place in (("text", collection.note), ("done", "done"), ("origin", "origin")):
        is_there, value = value_at(document, place)
        if is_there:
            values[name] = value
    for name in ("owner", "owner_id", "owner_url"):
        if name in document:
            values["owner"] = owner_of(collection, document[name], base)
    return values


def owner_of(collection, value, base):
    owners = collection.owners
    if value is None:
        return None
    if collection.reference == "object":
        value = [value[name] for name in owners.key]
        parts = [urllib.parse.quote(str(part), safe="") for part in flat(value)]
    elif collection.reference == "template":
        parts = [urllib.parse.quote(part, safe="") for part in value.removeprefix("Owner ").split("|")]
    elif collection.reference == "url":
        parts = value.removeprefix(f"{base}/{owners.list}/one/").split("/")
    else:
        parts = [urllib.parse.quote(str(value), safe="")]
    key = owners.key_of(parts)
    if key not in owners.records:
        raise ValueError
    return key


def flat(values):
    return [part for value in values for part in (flat(value) if isinstance(value, list) else [value])]


def answer_of(collection, record, kind, base):
    """The JSON of an answer with the record, where the request expects it."""
    document = object_of(collection, record, base)
    form = collection.format_of[kind]
    path = collection.envelope if form != "json_patch" else None
    if not collection.answer_envelope or form == "json_patch":
        path = None if path else "result"
    for name in reversed(path.split(".") if path else []):
        document = {name: document}
    return document


def perform(server, collection, method, parts, fields, text):
    """Performs a request, and returns the answer."""
    if method == "POST":
        document, _ = body_of(collection, "create", text)
        try:
            values = values_of(collection, document, server.base)
        except ValueError:
            return REFUSAL
        if names := chosen(collection):
            values["key"] = tuple(int(document[name]) if collection.key[name] == "int" else document[name]
                                  for name in names)
        record = server.add(collection, server.dice_of(text), values)
        if record is None:
            return 409, {}, b'{"message": "no owner, or the key is used"}'
        server.created.append(((collection.entity, record["origin"]), server.key_of(fields, text), record["key"]))
        server.noted(collection, record["key"], record["text"])
        if collection.answers == "location":
            return 201, {"Location": f"{server.base}/{collection.list}/one/{collection.path(record['key'])}"}, b""
        return 201, {}, json.dumps(answer_of(collection, record, "create", server.base)).encode()
    key = collection.key_of(parts)
    record = collection.records.get(key)
    if not record:
        return GONE
    if collection.demands == "if-match" and "if-match" in fields and (
            fields["if-match"] != tag_of(collection, record, server.base)):
        return 412, {}, b"{}"
    if method == "DELETE":
        server.remove(collection, key)
        return 204, {}, b""
    if collection.demands == "header" and fields.get("x-revision") != str(record["rev"]):
        return 409, {}, b'{"message": "another revision"}'
    document, _ = body_of(collection, "update", text)
    try:
        values = values_of(collection, document, server.base)
    except ValueError:
        return REFUSAL
    if values.get("owner", 0) is None and collection.tie == "below":
        return REFUSAL
    if server.plant == "ignores changes":
        return 204, {}, b""
    record |= values
    if "text" in values:
        server.noted(collection, key, values["text"])
    server.touch(record)
    if collection.answers == "empty":
        return 204, {}, b""
    answer = json.dumps(answer_of(collection, record, "update", server.base)).encode()
    return 200, {"ETag": tag_of(collection, record, server.base)}, answer


def tag_of(collection, record, base):
    """The entity tag of a record: of all that its URL answers."""
    content = json.dumps(object_of(collection, record, base)).encode()
    return f'"{hashlib.md5(content).hexdigest()[:12]}"'
