"""Requests and responses: the pages, their header fields, and the file of each exchange."""

import hashlib
import json

from . import payloads
from .model import TODAY
from .moment import http_date

ISSUES_PER_PAGE = 50
COMMENTS_PER_PAGE = 100
USERS_PER_PAGE = 20
# The same API under the forge's web address. The links between pages of comments use it.
ALIAS = f"{payloads.WEB}/api/v1"


class Exchange:
    """A request target, the JSON of its response, and the other header fields."""

    def __init__(self, endpoint, name, target, value, records, link=None, weak=True, ascii_only=False):
        self.endpoint = endpoint
        self.name = name
        self.target = target
        self.records = records
        self.link = link
        self.weak = weak
        # Some servers write everything beyond ASCII as \uXXXX, with surrogate pairs beyond U+FFFF (RFC 8259 §7).
        self.body = json.dumps(value, ensure_ascii=ascii_only, separators=(",", ":")).encode()


def exchanges(forge):
    """All exchanges, in the order of a client's requests."""
    repository = "/repos/acme/anvil"
    answers = [
        Exchange("labels", "labels", f"{repository}/labels?per_page=100", [payloads.label(each) for each in forge.labels],
                 len(forge.labels), weak=False, ascii_only=True),
        Exchange("milestones", "milestones", f"{repository}/milestones?state=all&per_page=100",
                 [payloads.milestone(each, forge.issues) for each in forge.milestones], len(forge.milestones)),
    ]
    for milestone in forge.milestones:
        answers.append(Exchange(
            "checklist", f"checklist.{milestone.number}", f"{repository}/milestones/{milestone.number}/checklist",
            [payloads.checklist_item(item) for item in milestone.checklist], len(milestone.checklist), weak=False,
            ascii_only=True))
    listed = [user for user in forge.users if user.listed]
    for number, page in _pages(listed, USERS_PER_PAGE):
        answers.append(Exchange(
            "users", f"users.{number}", f"/users/search?page={number}&limit={USERS_PER_PAGE}",
            {"ok": True, "total_count": len(listed), "data": [payloads.user(user) for user in page]}, len(page)))
    newest_first = sorted(forge.issues, key=lambda issue: issue.number, reverse=True)
    answers += _linked("issues", f"{repository}/issues?per_page={ISSUES_PER_PAGE}&state=all",
                       [payloads.issue(issue) for issue in newest_first], ISSUES_PER_PAGE)
    answers += _linked("comments", f"{repository}/comments?per_page={COMMENTS_PER_PAGE}",
                       [payloads.comment(comment) for comment in forge.comments], COMMENTS_PER_PAGE, base=ALIAS)
    return answers


def _linked(endpoint, target, values, size, base=payloads.API):
    """Pages that name each other in a `Link` field; the first page is requested without a page number."""
    pages = list(_pages(values, size))
    for number, page in pages:
        links = []
        if number > 1:
            links.append(("prev", number - 1))
        if number < len(pages):
            links += [("next", number + 1), ("last", len(pages))]
        if number > 1:
            links.append(("first", 1))
        link = ", ".join(f'<{base}{target}&page={other}>; rel="{relation}"' for relation, other in links)
        yield Exchange(endpoint, f"{endpoint}.{number}", target if number == 1 else f"{target}&page={number}", page,
                       len(page), link=link)


def _pages(values, size):
    for start in range(0, len(values), size):
        yield start // size + 1, values[start:start + size]


def recording(exchange, ordinal):
    """The bytes of the file of one exchange; `ordinal` is its position among the requests of the recorded scan."""
    digest = hashlib.sha256(exchange.body).hexdigest()
    request = hashlib.sha256(exchange.target.encode()).hexdigest().upper()
    fields = [
        ("Server", "forge.example"),
        ("Date", http_date(TODAY + ordinal)),
        ("Content-Type", "application/json; charset=utf-8"),
        ("Content-Length", str(len(exchange.body))),
        ("Cache-Control", "private, max-age=60, s-maxage=60"),
        ("Vary", "Accept, Authorization, Cookie, X-Forge-OTP"),
        ("ETag", f'W/"{digest}"' if exchange.weak else f'"{digest}"'),
        ("X-Forge-Media-Type", "forge.v1; format=json"),
        ("Link", exchange.link),
        ("X-RateLimit-Limit", "5000"),
        ("X-RateLimit-Remaining", str(5000 - 1 - ordinal)),
        ("X-RateLimit-Reset", str(TODAY + 3_600)),
        ("X-RateLimit-Used", str(1 + ordinal)),
        ("X-RateLimit-Resource", "core"),
        ("Access-Control-Expose-Headers", "ETag, Link, Location, Retry-After, X-RateLimit-Limit, X-RateLimit-Remaining, "
                                          "X-RateLimit-Used, X-RateLimit-Resource, X-RateLimit-Reset, X-Request-Id"),
        ("Access-Control-Allow-Origin", "*"),
        ("Strict-Transport-Security", "max-age=31536000; includeSubdomains; preload"),
        ("X-Frame-Options", "deny"),
        ("X-Content-Type-Options", "nosniff"),
        ("Referrer-Policy", "origin-when-cross-origin, strict-origin-when-cross-origin"),
        ("Content-Security-Policy", "default-src 'none'"),
        ("Vary", "Accept-Encoding, Accept, X-Requested-With"),
        ("X-Request-Id", f"{request[:4]}:{request[4:8]}:{request[8:15]}:{request[15:22]}:{TODAY + ordinal:X}"),
    ]
    head = [f"GET {exchange.target}", "HTTP/1.1 200 OK"]
    head += [f"{name}: {value}" for name, value in fields if value is not None]
    return "\n".join(head).encode() + b"\n\n" + exchange.body
