"""The pagination of a list: the keys of the description, and the part of a list that a request names."""
import base64
import json
import urllib.parse


def lines_of(collection):
    """The lines of the endpoint for the pagination."""
    size, style = collection.size, collection.style
    if style == "single":
        return ["    paginate: single_page"]
    place = (lambda name: f"body: page.{name}") if collection.is_post else (lambda name: f"param: {name}")
    sized = f"per_page: {{ {'page.' if collection.is_post else ''}n: {size} }}"
    flag = {None: "", "more": ", has_more: meta.more", "last": ", is_last: meta.last"}[collection.flag]
    count = "" if collection.flag else {"total": ", total: meta.total", "none": "",
                                        "pages": ", total_pages: meta.pages" * (style == "page")}[collection.count]
    forms = {
        "offset": f"{{ offset: {{ {place('offset')}, {sized}{flag}{count} }} }}",
        "page": f"{{ page_number: {{ {place('page')}, start: 1, {sized}{flag}{count} }} }}",
        "cursor": f"{{ cursor: {{ path: meta.next, {place('after')}{flag} }} }}",
        "json_link": f"{{ json_link: {{ path: meta.next{flag} }} }}", "header_link": "header_link",
        "header_cursor": f"{{ header_cursor: {{ field: X-Next-Cursor, {place('after')} }} }}",
        "since_id": f"{{ since_id: {{ {place('after')}, {sized}, id: id }} }}",
        "max_id": f"{{ max_id: {{ {place('after')}, {sized}, id: id, includes_named: true }} }}"}
    if collection.changes == "same":
        forms["cursor"] = f"{{ cursor: {{ path: meta.token, {place('token')}, has_more: meta.pending }} }}"
    return [f"    paginate: {forms[style]}"]


def sends_size(collection):
    return collection.style not in ("offset", "page", "since_id", "max_id", "single")


def packed(order):
    return base64.urlsafe_b64encode(json.dumps(order).encode()).decode()


def unpacked(text):
    if isinstance(text, list):
        return text
    return json.loads(base64.urlsafe_b64decode(text))


def as_order(value):
    """A position as lists of lists, which can be compared and written as JSON."""
    return [as_order(part) for part in value] if isinstance(value, (tuple, list)) else value


def page_of(collection, records, order, query, url):
    """Returns the records of a page, and what the response tells beside them: members of `meta`, header fields."""
    size, style, meta, header = int(query.get("n", 3)), collection.style, {}, {}
    records = sorted(records, key=lambda record: as_order(order(record)))
    if style == "single":
        return records, meta, header
    start = 0
    if style == "offset":
        start = int(query.get("offset") or 0)
    elif style == "page":
        start = (int(query.get("page") or 1) - 1) * size
    elif style == "since_id":
        after = int(query.get("after") or 0)
        start = sum(record["key"][0] <= after for record in records)
    elif style == "max_id":
        records.reverse()
        if query.get("after") is not None:
            start = sum(record["key"][0] > int(query["after"]) for record in records)
    elif collection.changes != "same" and query.get("after"):
        after = unpacked(query["after"])
        start = sum(as_order(order(record)) <= after for record in records)
    page, has_more = records[start:start + size], start + size < len(records)
    if collection.flag:
        meta[collection.flag] = has_more if collection.flag == "more" else not has_more
    elif style in ("offset", "page") and collection.count != "none":
        meta["total"], meta["pages"] = len(records), -(-len(records) // size)
    # With a flag, a server may name a cursor on the last page, too.
    if collection.changes == "same":
        meta["pending"] = len(records) - len(page)
    elif style in ("cursor", "json_link", "header_link", "header_cursor"):
        follow(collection, page, has_more, order, url, meta, header)
    return page, meta, header


def follow(collection, page, has_more, order, url, meta, header):
    """Names the next page."""
    names_last = page and collection.flag and collection.style == "cursor" and collection.order % 2
    if not has_more and not names_last:
        return
    after = as_order(order(page[-1]))
    if collection.style == "cursor":
        meta["next"] = after if collection.object_cursor else packed(after)
    elif collection.style == "header_cursor":
        header["X-Next-Cursor"] = packed(after)
    else:
        path, query = url
        link = f"{path}?{urllib.parse.urlencode(query | {'after': packed(after)})}"
        if collection.style == "json_link":
            meta["next"] = link
        else:
            header["Link"] = f'<{link}>; rel="next", <{path}>; rel="first"'
