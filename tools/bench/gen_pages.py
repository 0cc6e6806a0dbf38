#!/usr/bin/env python3
"""Makes the workload: pages of issues as a forge's API lists them, all made up.

usage: gen_pages.py RECORDS OUT_DIR [PER_PAGE=100]
       gen_pages.py RECORDS - [PER_PAGE=100]

Each page is one JSON file, a list of PER_PAGE issues in descending id order. Issues nest their author, labels,
assignees and milestone (which nests its creator): RECORDS/20 distinct users (at least 50), 60 labels, 40 milestones;
about 4.4 KB an issue, 440 MB per 100,000. The same arguments always give the same bytes.

What a complete import must find is written beside the pages, to OUT_DIR.counts.json. With `-` everything goes to standard output, a page a
line, and in the last line what a complete import must find.
"""
import json
import os
import random
import sys

API = "https://api.example.org"
SITE = "https://example.org"
# As long as the names that real repositories of machines get: eight URLs of every issue repeat it.
REPOSITORY = "harbour-instruments/tide-gauge-firmware-and-field-calibration-tool-suite"
WORDS = ("the quick brown fox jumps over lazy dog error null pointer crash when saving file "
         'with "quotes" and \n newlines in body text').split(" ")


def make_user(i):
    login = f"user-{i}"
    url = f"{API}/users/{login}"
    return {
        "login": login,
        "id": 1_000_000 + i,
        "node_id": f"USR_{i:016d}",
        "avatar_url": f"https://avatars.static.example.org/u/{1_000_000 + i}?v=4",
        "gravatar_id": "",
        "url": url,
        "html_url": f"{SITE}/{login}",
        "followers_url": f"{url}/followers",
        "following_url": url + "/following{/other_user}",
        "gists_url": url + "/gists{/gist_id}",
        "starred_url": url + "/starred{/owner}{/repo}",
        "subscriptions_url": f"{url}/subscriptions",
        "organizations_url": f"{url}/orgs",
        "repos_url": f"{url}/repos",
        "events_url": url + "/events{/privacy}",
        "received_events_url": f"{url}/received_events",
        "type": "User",
        "site_admin": False,
    }


def make_label(rnd, i):
    return {
        "id": 5000 + i,
        "node_id": f"LA_{i:08d}",
        "url": f"{API}/repos/o/r/labels/l{i}",
        "name": f"label-{i}",
        "color": "%06x" % rnd.randrange(1 << 24),
        "default": False,
        "description": f"Description of label {i} with “unicode” é",
    }


def make_milestone(users, i):
    return {
        "url": f"{API}/repos/o/r/milestones/{i}",
        "id": 9000 + i,
        "number": i,
        "title": f"v{i}.0",
        "state": "open",
        "created_at": "2020-01-01T00:00:00Z",
        "due_on": None,
        "creator": users[i % 50],
    }


def make_issue(rnd, number, users, labels, milestones):
    # Every draw keeps its place in the sequence: another order would be another workload.
    assignees = rnd.sample(users, rnd.choice([0, 0, 1, 2]))
    title = "Issue %d: %s" % (number, " ".join(rnd.choices(WORDS, k=6)))
    user = rnd.choice(users)
    issue_labels = rnd.sample(labels, rnd.choice([0, 1, 1, 2, 3]))
    milestone = rnd.choice(milestones) if rnd.random() < .3 else None
    comments = rnd.randrange(50)
    state = rnd.choice(["open", "closed"])
    created_at = "20%02d-%02d-%02dT%02d:%02d:%02dZ" % (
        rnd.randrange(10, 25), rnd.randrange(1, 13), rnd.randrange(1, 29),
        rnd.randrange(24), rnd.randrange(60), rnd.randrange(60))
    body = " ".join(rnd.choices(WORDS, k=rnd.randrange(5, 120)))
    thumbs_up = rnd.randrange(9)
    repository = f"{API}/repos/{REPOSITORY}"
    url = f"{repository}/issues/{number}"
    return {
        "url": url,
        "repository_url": repository,
        "labels_url": url + "/labels{/name}",
        "comments_url": f"{url}/comments",
        "events_url": f"{url}/events",
        "html_url": f"{SITE}/{REPOSITORY}/issues/{number}",
        "id": 1_300_000_000 + number,
        "node_id": f"I_{number:012d}",
        "number": number,
        "title": title,
        "user": user,
        "labels": issue_labels,
        "state": state,
        "locked": False,
        "assignee": assignees[0] if assignees else None,
        "assignees": assignees,
        "milestone": milestone,
        "comments": comments,
        "created_at": created_at,
        "updated_at": "2024-12-31T23:59:59Z",
        "closed_at": None,
        "author_association": "MEMBER",
        "active_lock_reason": None,
        "body": body,
        "reactions": {
            "url": f"{url}/reactions",
            "total_count": thumbs_up,
            "+1": thumbs_up,
            "-1": 0,
            "laugh": 0,
            "hooray": 0,
            "confused": 0,
            "heart": 0,
            "rocket": 0,
            "eyes": 0,
        },
        "timeline_url": f"{url}/timeline",
        "performed_via_app": None,
        "state_reason": None,
    }


class Counts:
    """What the pages hold, every record once."""

    def __init__(self):
        self.issues, self.users, self.labels, self.milestones = 0, set(), set(), set()
        self.issue_labels = self.issue_assignees = self.issue_milestones = 0

    def add(self, issue):
        self.issues += 1
        self.users.update(user["id"] for user in [issue["user"], *issue["assignees"]])
        self.labels.update(label["id"] for label in issue["labels"])
        self.issue_labels += len(issue["labels"])
        self.issue_assignees += len(issue["assignees"])
        if milestone := issue["milestone"]:
            self.milestones.add(milestone["id"])
            self.users.add(milestone["creator"]["id"])
            self.issue_milestones += 1

    def json(self):
        return {name: len(value) if isinstance(value, set) else value for name, value in vars(self).items()}


def pages(records, per_page, counts):
    rnd = random.Random(7)
    users = [make_user(i) for i in range(max(50, records // 20))]
    labels = [make_label(rnd, i) for i in range(60)]
    milestones = [make_milestone(users, i) for i in range(40)]
    page = []
    for number in range(records, 0, -1):
        issue = make_issue(rnd, number, users, labels, milestones)
        counts.add(issue)
        page.append(issue)
        if len(page) == per_page or number == 1:
            yield json.dumps(page, ensure_ascii=False, separators=(",", ":"))
            page = []


def main():
    if len(sys.argv) not in (3, 4):
        sys.exit("usage: gen_pages.py RECORDS OUT_DIR|- [PER_PAGE=100]")
    records, out = int(sys.argv[1]), sys.argv[2]
    counts = Counts()
    made = pages(records, int(sys.argv[3]) if len(sys.argv) > 3 else 100, counts)
    if out == "-":
        sys.stdout.reconfigure(encoding="utf-8")
        for page in made:
            print(page)
        print(json.dumps(counts.json()))
        return
    out = out.rstrip("/")
    os.makedirs(out, exist_ok=True)
    for number, page in enumerate(made):
        with open(os.path.join(out, f"{number:06d}.json"), "w", encoding="utf-8") as f:
            f.write(page)
    with open(f"{out}.counts.json", "w", encoding="utf-8") as f:
        json.dump(counts.json(), f)


main()
