"""A made server of a tracker: lists of items, people, groups and notes, with ETags, pages and filters."""
import hashlib
import http.server
import json
import threading
import urllib.parse


def items():
    found = []
    for number in range(1, 13):
        item = {"id": number, "uid": f"u{number}", "name": f"Item {number}", "title": f"Title {number}",
                "count": number * 10, "size": str(number), "price": f"{number}.50", "ratio": number / 4,
                "state": ["open", "closed", "held"][number % 3], "type": ["bug", "task"][number % 2],
                "flag": number % 2 == 0, "created_at": f"2025-01-{number:02}T10:00:00Z", "day": f"2025-02-{number:02}",
                "stamp": 1_700_000_000 + number, "tags": [f"t{number % 3}", f"t{number % 4}"], "rev": number,
                "nested": {"text": f"deep {number}"}, "createdAt": f"2024-01-{number:02}T10:00:00Z",
                "owner": {"id": number % 4 + 1, "login": f"user{number % 4 + 1}"}, "creator": number % 3 + 1,
                "owner_id": number % 5 + 1, "labels": [{"name": f"l{number % 3}"}, {"name": f"l{number % 5}"}],
                "marks": [{"name": f"m{number % 2}"}], "lines": [{"text": f"line {n}"} for n in range(number % 3)],
                "watchers": [number % 4 + 1, number % 3 + 1], "severity": number % 5, "effort": number % 7}
        # Members that some records lack, or have as null.
        if number % 4 in (1, 2):
            item["note"], item["other"] = f"Note {number}", None
            item["reviewers"] = [{"id": 1, "login": "user1"}, {"id": number % 4 + 1, "login": f"user{number % 4 + 1}"}]
        else:
            item["other"] = f"Other {number}"
        if number % 3:
            item["closed_at"], item["parent"] = f"2025-03-{number:02}T10:00:00Z", number % 4 + 1
        if number % 4 == 0:
            item["gone"], item["state"] = True, "open"
        found.append(item)
    return found


ITEMS = items()
PEOPLE = [{"id": n, "login": f"user{n}", "email": f"u{n}@a.example" if n % 2 else None, "age": 20 + n,
           "nick": f"n{n}"} | ({"city": f"City {n % 2}"} if n % 3 else {}) for n in range(1, 6)]
GROUPS = [{"id": n, "name": f"Group {n}", "members": [{"id": n, "login": f"user{n}"}], "rank": n % 2}
          for n in range(1, 4)]


class Server:
    def __init__(self):
        handler = type("Handler", (Handler,), {"hits": []})
        self.http = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self.http.daemon_threads = True
        threading.Thread(target=self.http.serve_forever, args=(0.05,), daemon=True).start()
        self.base = f"http://127.0.0.1:{self.http.server_port}"

    def close(self):
        self.http.shutdown()
        self.http.server_close()


def answer(path, query):
    """The document at a path; nothing if there is none."""
    parts = path.strip("/").split("/")
    if parts[0] in ("items", "issues"):
        if len(parts) == 1:
            records = ITEMS[::-1] if parts[0] == "issues" else ITEMS
            for name in ("state", "type", "rev"):
                if name in query:
                    records = [each for each in records if str(each[name]) == query[name]]
            if "since" in query:
                records = [each for each in records if each["created_at"] >= query["since"]]
            return records
        record = next((each for each in ITEMS if str(each["id"]) == parts[1]), None)
        if record is None or len(parts) == 2:
            return record
        if parts[2] == "notes":
            return [{"id": record["id"] * 10 + n, "text": f"note {n} of {record['id']}", "by": n + 1,
                     "item_id": record["id"]} for n in range(record["id"] % 3)]
        return None
    records = {"people": PEOPLE, "groups": GROUPS}.get(parts[0])
    if records is None or len(parts) == 1:
        return records
    record = next((each for each in records if str(each["id"]) == parts[1]), None)
    if record is None or len(parts) == 2:
        return record
    # Another list below a record.
    return [{"id": 1000 + record["id"], "text": f"note of {parts[0]} {record['id']}", "by": 1, "item_id": record["id"]}]


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def do_GET(self):
        url = urllib.parse.urlsplit(self.path)
        query = dict(urllib.parse.parse_qsl(url.query))
        document = answer(url.path, query)
        if document is None:
            return self.send(404, b"{}", None)
        if isinstance(document, list):
            size, page = int(query.get("size", 1000)), int(query.get("page", 1))
            document = document[(page - 1) * size:page * size]
            if "wrapped" in query:
                document = {"data": document, "more": []}
        body = json.dumps(document).encode()
        etag = '"' + hashlib.sha256(body + self.path.encode()).hexdigest()[:12] + '"'
        if self.headers.get("If-None-Match") == etag:
            return self.send(304, b"", etag)
        self.send(200, body, etag)

    def send(self, status, body, etag):
        self.send_response(status)
        if etag:
            self.send_header("ETag", etag)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
