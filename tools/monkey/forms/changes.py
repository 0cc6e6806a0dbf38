"""Lists of changes: by the time or the number of a change, and by tokens of a feed."""
import datetime
import json
import urllib.parse

from host import START

TEXT = 'rank > 0 and updated >= "{value}" order by updated'
EXPIRED = 410, {}, b'{"error": "token expired"}'


def lines_of(collection):
    """The lines of the endpoint for lists of changes, or for orphans."""
    orphans = f"    orphans: {{ scope: {collection.scope}, after: {collection.after}, allow_empty: true }}"
    place = "body: filter.since" if collection.is_post else "param: since"
    if collection.changes == "whole":
        return [orphans]
    if collection.changes == "field":
        more = "".join(f", {name}: {value}" for name, value in (
            ("lag", collection.lag), ("granularity", collection.step)) if value)
        more += f", format: '{collection.format}'" if collection.format else ""
        if collection.text:
            more += f", initial: {initial(collection)}, text: '{TEXT}'"
        return [f"    since: {{ {place}, field: updated_at, range: {collection.range}{more} }}"]
    if collection.changes == "number":
        return [f"    since: {{ {place}, field: rev, range: {collection.range} }}"]
    token = place.replace("since", "token")
    return {"token": [f"    since: {{ cursor: meta.token, {token}, expired: 410 }}"],
            "same": ["    since: { cursor: meta.token, "
                     + ("body: page.token" if collection.is_post else "param: token") + ", expired: 410 }"],
            "header": [f"    since: {{ header: X-Sync-Token, {token}, expired: [409, 410] }}"],
            "link": ["    since: { link: meta.delta, expired: 410 }"]}[collection.changes]


def initial(collection):
    return {"yyyy-MM-dd HH:mm": "1970-01-01 00:00", "seconds": "0", None: "1970-01-01T00:00:00Z"}[collection.format]


def time_of(collection, text):
    """The time of a text in the format of the requests, in seconds since the start."""
    if collection.format == "seconds":
        return float(text) - START.timestamp()
    form = "%Y-%m-%d %H:%M" if collection.format else "%Y-%m-%dT%H:%M:%SZ"
    if not collection.format and "T" not in text:
        form = "%Y-%m-%d"
    return (datetime.datetime.strptime(text, form).replace(tzinfo=datetime.timezone.utc) - START).total_seconds()


def order_of(collection):
    """The order of a list: by key, or by changes."""
    return {"whole": lambda record: record["key"], "field": lambda record: (record["at"], record["key"])}.get(
        collection.changes, lambda record: (record["rev"],))


def selected(collection, records, query):
    """The records that a request for changes selects, or nothing if its token has expired."""
    if collection.changes == "whole":
        return records
    if collection.changes == "field":
        text = query.get("since")
        if text is None:
            return records
        if collection.text:
            text = text.removeprefix(TEXT.split("{")[0]).removesuffix(TEXT.split("}")[1])
        since = time_of(collection, str(text))
        is_open = collection.range == "open"
        return [record for record in records if record["at"] > since or record["at"] == since and not is_open]
    if collection.changes == "number":
        since = int(query.get("since") or 0)
        return [record for record in records if record["rev"] >= since + (collection.range == "open")]
    token = query.get("token")
    if token is None:
        return records
    # A token of an earlier epoch is forgotten.
    epoch, _, rev = str(token).partition(".")
    if epoch != f"t{collection.epoch}":
        return None
    return [record for record in records if record["rev"] > int(rev)]


def tell(collection, page, has_more, query, url, meta, header):
    """Names the token of the next list of changes."""
    token = f"t{collection.epoch}.{page[-1]['rev']}" if page else query.get("token") or f"t{collection.epoch}.0"
    if collection.changes in ("token", "same"):
        # Only the last page has it, or every page.
        if collection.changes == "same" or not has_more or collection.order % 2:
            meta["token"] = token
    elif collection.changes == "header" and not has_more:
        header["X-Sync-Token"] = token
    elif collection.changes == "link" and not has_more:
        path, query = url
        query = {name: value for name, value in query.items() if name != "after"}
        meta["delta"] = f"{path}?{urllib.parse.urlencode(query | {'token': token})}"


def flattened(body):
    """The parameters of a body: those of the page and of the filter."""
    body = json.loads(body or "{}")
    return body.get("page", {}) | body.get("filter", {})
