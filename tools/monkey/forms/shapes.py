"""The shapes of a list in a response: objects, rows, columns, maps, groups, and bare keys or URLs."""
from forms.collection import BARE
from forms.fields import columns_of, key_object, object_of


def document_of(collection, records, base):
    """The part of a response that has the records."""
    shape = collection.shape
    if shape in ("ids", "urls", "excerpts"):
        return {"items": [bare_of(collection, record["key"], base) for record in records]}
    objects = [object_of(collection, record, base, is_listed=True) for record in records]
    if shape == "list":
        return {"items": objects} | beside(collection, records, base)
    if shape == "edges":
        return {"data": {"list": {"edges": [{"node": value} for value in objects]}}}
    if shape == "map":
        names = [str(record["key"][0]) if collection.keys == "member" else f"n.{position}"
                 for position, record in enumerate(records)]
        return {"items": dict(zip(names, objects))}
    if shape == "groups":
        groups = {}
        for record, value in zip(records, objects):
            value.pop("group", None)
            groups.setdefault(record.get("group", "z"), []).append(value)
        return {"groups": groups}
    names = columns_of(collection)
    if shape == "cols":
        return {"series": {name: [value.get(name) for value in objects] for name in names}}
    rows = [[value.get(name) for name in names] for value in objects]
    for row, value in zip(rows, objects):
        if "count" not in value:
            row.pop()
    if shape == "arrays":
        return {"items": rows}
    if collection.names == "columns":
        return {"columns": names, "rows": rows}
    if collection.names == "meta":
        return {"fields": [{"name": name, "kind": "any"} for name in names], "rows": rows}
    return {"rows": [names, *rows] if collection.names == "first" else rows}


def beside(collection, records, base):
    """The owners of the records of a page."""
    if not collection.side:
        return {}
    keys = sorted({record["owner"] for record in records if record.get("owner") and not record.get("deleted")})
    return {"included": [object_of(collection.owners, collection.owners.records[key], base) for key in keys]}


def bare_of(collection, key, base):
    """A record of which a list has only the key or the URL."""
    url = f"{base}/{collection.list}/one/{collection.path(key)}"
    if collection.shape == "ids":
        return key[0]
    return url if collection.shape == "urls" else key_object(collection, key) | {"url": url}


def lines_of(collection):
    """The lines of the endpoint that name the records."""
    shape = collection.shape
    records = {"edges": "data.list.edges.*.node", "rows": "rows", "cols": "series", "map": "items.*",
               "groups": "groups.*"}.get(shape, "items")
    lines = [f"    records: '{records}'", f"    entity: {collection.entity}"]
    if collection.side:
        lines = [f"    records: {{ items: {collection.entity}, "
                 f"included: {{ entity: {collection.owners.entity}, optional: true }} }}"]
    if shape == "cols":
        lines.append("    columns: '@memberName'")
    elif shape == "rows":
        names = {"columns": "columns", "meta": "'fields.*.name'", "first": "'rows[0]'",
                 "given": f"[{', '.join(columns_of(collection))}]"}
        lines.append(f"    columns: {names[collection.names]}")
    if shape in BARE:
        lines += ["    children:", f"      {collection.list}-details:",
                  f"        path: '/{collection.list}/one/{collection.variables()}'", "        paginate: single_page"]
    return lines
