"""The HTTP side of a model server: faults, conditions, keys of repeated requests, and the log of requests.

Faults and the changes between two pages follow from the seed, the number of the step, the request and
how often it was repeated in the step: not from the order in which requests arrive.
"""
import datetime
import hashlib
import http.server
import json
import random
import threading
import time
import traceback
import urllib.parse

GONE = 404, {}, b"{}"
START = datetime.datetime(2026, 1, 1, tzinfo=datetime.timezone.utc)


def text_of(time):
    """The text of a time: seconds since the start."""
    return (START + datetime.timedelta(seconds=time)).strftime("%Y-%m-%dT%H:%M:%SZ")


class Lost(Exception):
    """A connection that is closed without an answer."""


class Host:
    """A model server without a model: a subclass has `mutate`, `read` and `write`."""

    # Faults beside those that every request may have.
    read_faults, write_faults = ["html"], ["lost"]

    def __init__(self, world):
        self.world, self.lock = world, threading.RLock()
        self.step, self.quiet, self.seen = 0, True, {}
        self.countdown, self.trap = 0, None  # After this number of requests, the trap is called.
        self.clock, self.next_id = 0, 100
        self.answers = {}  # by idempotency key
        self.created = []  # (token, idempotency key) of each creation by a client
        self.notes = {}  # by record: the notes that it has had, oldest first
        self.touched = set()  # records whose note was changed here, and records that were deleted here
        self.log, self.errors = [], []

    def open(self):
        dice = random.Random(f"server {self.world.seed}")
        for _ in range(dice.randint(5, 60)):
            self.mutate(dice)
        handler = type("Handler", (Handler,), {"model": self})
        self.http = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self.http.daemon_threads = True
        threading.Thread(target=self.http.serve_forever, args=(0.05,), daemon=True).start()
        self.base = f"http://127.0.0.1:{self.http.server_port}"

    def close(self):
        self.http.shutdown()
        self.http.server_close()

    def begin(self, step, quiet=False):
        """Begins a step; a quiet one has neither faults nor changes between pages."""
        with self.lock:
            self.step, self.quiet, self.seen, self.countdown = step, quiet, {}, 0

    def is_read(self, method, path):
        return method == "GET"

    def key_of(self, fields, body):
        """The idempotency key of a request."""
        return fields.get("idempotency-key")

    def chance(self, *of):
        """Returns dice for a request that are the same whenever the run is repeated."""
        count = self.seen[of] = self.seen.get(of, 0) + 1
        return random.Random(f"{self.world.seed} {self.step} {of} {count}")

    def answer(self, method, target, fields, body):
        """Returns status, header fields and body, and whether the body is to be cut."""
        url = urllib.parse.urlsplit(target.removeprefix("/people"))
        query = dict(urllib.parse.parse_qsl(url.query, keep_blank_values=True))
        is_read = self.is_read(method, url.path)
        with self.lock:
            self.countdown -= 1
            if self.countdown == 0:
                self.trap()
            dice = self.chance(method, target, body)
            fault = None
            # Writes are fewer than pages.
            if not self.quiet and dice.random() < self.world.faults * (1 if is_read else 3):
                fault = dice.choice(["500", "503", "429", "cut", "closed", "slow", "lost",
                                     *(self.read_faults if is_read else self.write_faults)])
            if not self.quiet and is_read and dice.random() < self.world.unrest:
                for _ in range(dice.randint(1, 3)):
                    self.mutate(dice)
            conditions = [f"{name} {fields[name]}" for name in ("idempotency-key", "if-match") if name in fields]
            self.log.append(f"{self.step}: {method} {target} {body} {conditions} {fault or ''}")
            if fault == "closed":
                raise Lost
            if fault in ("500", "503", "429"):
                return int(fault), {"Retry-After": dice.choice(["0", "1"])} if fault == "429" else {}, b"{}", False
            if fault == "html":
                return 200, {"Content-Type": "text/html"}, b"<html>maintenance</html>", False
            if fault == "refused":
                return 200, {}, b'{"ok": false, "error": "busy", "errors": [{"message": "busy"}]}', False
            if fault == "null":
                return 200, {}, self.nothing(), False
            key = self.key_of(fields, body) if self.world.honours_keys and not is_read else None
            if key in self.answers:
                answer = self.answers[key]
            else:
                answer = (self.read(url.path, query, fields, body) if is_read
                          else self.write(method, url.path, fields, body))
                if key and answer[0] < 400:
                    self.answers[key] = answer
            self.log[-1] += f" -> {answer[0]}"
        if fault == "lost":
            raise Lost
        if fault == "slow":
            time.sleep(0.3)
        return *answer, fault == "cut"

    def valid(self, document, header, fields, has_tag):
        """Returns an answer with a document, or 304."""
        body = json.dumps(document).encode()
        if not has_tag:
            return 200, header, body
        tag = '"' + hashlib.md5(body + repr(header).encode()).hexdigest()[:12] + '"'
        if fields.get("if-none-match") == tag:
            return 304, {"ETag": tag} | (header if self.world.link_with_304 else {}), b""
        return 200, header | {"ETag": tag}, body


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    model = None

    def handle_any(self):
        length = int(self.headers.get("Content-Length", 0))
        body = self.rfile.read(length).decode()
        fields = {name.lower(): value for name, value in self.headers.items()}
        try:
            status, header, content, is_cut = self.model.answer(self.command, self.path, fields, body)
        except Exception as error:
            if not isinstance(error, Lost):
                self.model.errors.append(f"{self.command} {self.path}: {traceback.format_exc()}")
            self.close_connection = True
            return
        self.send_response(status)
        for name, value in ({"Content-Type": "application/json", "Cache-Control": "no-cache"} | header).items():
            self.send_header(name, value)
        if status not in (204, 304):
            self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content[:len(content) // 2] if is_cut else content)
        if is_cut and content:
            self.close_connection = True

    do_GET = do_POST = do_PATCH = do_PUT = do_DELETE = handle_any

    def handle(self):
        try:
            super().handle()
        except OSError:
            pass  # The client was killed.

    def log_message(self, *arguments):
        pass
