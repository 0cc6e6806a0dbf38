"""The JSON of a record, and the entities that are mapped from it."""
from host import text_of


def set_path(document, path, value):
    """Sets a value at a path such as `note[0].text`."""
    *parents, last = path.split(".")
    for name in parents:
        if name.endswith("[0]"):
            elements = document.setdefault(name[:-3], [{}])
            document = elements[0]
        else:
            document = document.setdefault(name, {})
    document[last] = value


def reference_of(collection, key, base, is_full):
    """The reference to an owner in a response: its member and its value."""
    owners = collection.owners
    if collection.ref == "key":
        return "owner_id", key and key[0]
    if collection.ref == "url":
        return "owner_url", key and f"{base}/{owners.list}/one/{owners.path(key)}"
    if key is None:
        return "owner", None
    return "owner", object_of(owners, owners.records[key], base) if is_full else key_object(owners, key)


def key_object(collection, key):
    return {name: collection.bare((value,)) for name, value in zip(collection.key, key)}


def object_of(collection, record, base, is_listed=False):
    """A record as an object of JSON."""
    key = record["key"]
    if is_listed and collection.keys == "member":
        document = {}
    else:
        document = {name: value for name, value in zip(collection.key, key) if not isinstance(value, tuple)}
    document |= {"updated_at": text_of(record["at"]), "rev": record["rev"]}
    if record.get("deleted"):
        return document | {"deleted": True}
    set_path(document, collection.note, record["text"])
    if record["count"] is not None or not collection.leaves_out:
        document["count"] = record["count"]
    document |= {"done": record["done"], "group": record["group"], "origin": record["origin"]}
    if collection.kinds:
        document["type"] = record["kind"]
        if record["kind"] == "x":
            document["extra"] = record["extra"]
    if collection.tie == "refers" or collection.tie == "below" and (not is_listed or collection.names_owner):
        name, value = reference_of(collection, record["owner"], base, collection.full)
        document[name] = value
    if collection.labels == "objects":
        document["labels"] = [{"name": name, "color": f"{name}!"} for name in record["labels"]]
    elif collection.labels == "names":
        document["labels"] = record["labels"]
    elif collection.labels == "map":
        document["labels"] = {name: {"color": f"{name}!"} for name in record["labels"]}
    if collection.lines:
        document["lines"] = [{"text": text} for text in record["lines"]]
    if collection.watched:
        owners = collection.owners
        document["watchers"] = [key[0] if len(key) == 1 else f"{base}/{owners.list}/one/{owners.path(key)}"
                                for key in record["watchers"]]
    return document


def columns_of(collection):
    """The names of the columns of a flat shape, in the order of the server."""
    names = [*[name for name, kind in collection.key.items() if kind], "updated_at", "rev", "deleted", "text", "done",
             "group", "origin"]
    names += ["type", "extra"] * collection.kinds
    if collection.tie == "refers" or collection.tie == "below" and collection.names_owner:
        names.append("owner_id" if collection.ref == "key" else "owner_url")
    names += ["labels"] * (collection.labels != "none") + ["lines"] * collection.lines
    names += ["watchers"] * collection.watched
    turn = collection.order % len(names) if collection.shape != "arrays" and collection.names != "given" else 0
    # The last one: a row without it is shorter.
    return names[turn:] + names[:turn] + ["count"]


def places_of(collection, name):
    """The `from` of an attribute, or none."""
    if collection.shape == "arrays":
        column = {"updatedAt": "updated_at"}.get(name, name)
        columns = columns_of(collection)
        if name == "owner":
            column = "owner_id" if collection.ref == "key" else "owner_url"
        place = f"[{columns.index(column)}]" if column in columns else None
        return place + ".*" if name == "labels" and collection.labels == "map" else place
    if name == "text":
        return collection.note if collection.note != "text" else None
    if name == "owner":
        return {"key": "owner_id", "url": "owner_url", "object": None}[collection.ref]
    if name == "group" and collection.shape == "groups":
        return "@memberName"
    if name == "name" and collection.keys == "member":
        return "@memberName"
    if name == "labels" and collection.labels == "map":
        return "labels.*"
    return None


def entity_lines(collection, world):
    """The lines of the entity in the description, without its `write`."""
    def field(name, text, more=""):
        places = [place for place in (places_of(collection, name),) if place]
        if name == "owner" and collection.shape == "arrays":
            places.append("owner_id" if collection.ref == "key" else "owner_url")
        if name == "labels" and collection.labels == "map" and collection.shape == "arrays":
            places.append("labels.*")
        if name == "text":
            # The attribute changes its name during a run.
            places, name, more = places or ["text"], world.note, f", was: {world.was}{more}"
        source = f", from: [{', '.join(repr(place) for place in places)}]" if places else ""
        return f"      {name}: {{ {text}{source}{more} }}"

    key = ", ".join(collection.key)
    lines = [f"  {collection.entity}:", f"    key: [{key}]",
             f"    url: /{collection.list}/one/{collection.variables()}"] if collection.keys != "nested" else [
             f"  {collection.entity}:", f"    key: [{key}]"]
    lines += ["    ignore: ['*']", "    attributes:"]
    lines += [field(name, f"type: {kind}") for name, kind in collection.key.items() if kind]
    index = ", index: true" if world.index else ""
    lines += [field("text", "type: 'string?'", index), field("count", "type: 'int?'", ", absent: clear"),
              field("done", "type: bool"), field("group", "type: string"), field("updatedAt", "type: date"),
              field("rev", "type: int"), field("origin", "type: 'string?'")]
    if collection.kinds:
        lines.append(field("type", "type: string"))
    relations = []
    if collection.tie != "none":
        relations.append(field("owner", f"to: {collection.owners.entity}", f", inverse: {collection.list}"))
    if collection.labels != "none":
        relations.append(field("labels", f"to: [{collection.entity}Label], ordered: true"))
    if collection.lines:
        relations.append(field("lines", f"to: [{collection.entity}Line], ordered: true, on_delete: cascade"))
    if collection.watched:
        order = ", ordered: true" if collection.ordered else ""
        relations.append(field("watchers", f"to: [{collection.owners.entity}]{order}, "
                               f"inverse: {collection.list}Watched"))
    for other in world.collections:
        if other.owners is collection and other.tie == "below":
            relations.append(f"      {other.list}: {{ to: [{other.entity}], inverse: owner, on_delete: cascade }}")
    lines += ["    relationships:", *relations] if relations else []
    lines += ["    version: rev"] * collection.versions
    lines += ["    deleted: deleted"] if collection.changes != "whole" else []
    if collection.kinds:
        x, y = collection.entity + "X", collection.entity + "Y"
        lines += [f"    kinds: {{ {x}: {{ type: x }}, {y}: {{ type: [y, 'z*'] }} }}"]
    return lines


def kind_lines(collection):
    """The lines of the entities that belong to this one."""
    lines = []
    if collection.kinds:
        place = f", from: '[{columns_of(collection).index('extra')}]'" if collection.shape == "arrays" else ""
        lines += [f"  {collection.entity}X: {{ parent: {collection.entity}, attributes: "
                  f"{{ extra: {{ type: 'int?'{place} }} }} }}",
                  f"  {collection.entity}Y: {{ parent: {collection.entity} }}"]
    if collection.lines:
        lines += [f"  {collection.entity}Line:", "    key: [of, position]",
                  "    attributes: { position: { type: int, from: '@position' }, text: string }",
                  f"    relationships: {{ of: {{ to: {collection.entity}, from: '@parent' }} }}"]
    if collection.labels != "none":
        name = "{ type: string, from: '@memberName' }" if collection.labels == "map" else "string"
        lines.append(f"  {collection.entity}Label: {{ key: name, attributes: {{ name: {name}, color: 'string?' }} }}")
    return lines
