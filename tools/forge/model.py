"""The forge's data before it becomes JSON: the accounts and their relationships. `payloads` writes
it, `expected` counts it, independently of each other."""

from dataclasses import dataclass, field

from . import words, writing
from .dice import Dice
from .moment import Moment

ISSUE_COUNT = 330
DAY = 86_400
OPENED = Moment.seconds_of(2023, 2, 6, 8)
TODAY = Moment.seconds_of(2025, 6, 2, 8)

# The issue with the most details in expected.json has several labels, assignees and comments.
LOOKED_AT = 17

REACTIONS = ["+1", "-1", "laugh", "hooray", "confused", "heart", "rocket", "eyes"]
ASSOCIATIONS = ["NONE", "CONTRIBUTOR", "NONE", "COLLABORATOR", "MEMBER", "OWNER"]


@dataclass
class User:
    id: int
    login: str
    kind: str
    listed: bool          # by the user search; the others are known only from nested objects
    fuller: bool          # whether nested objects may show more than id and login
    name: str | None = None
    company: str | None = None
    location: str | None = None
    languages: list[str] = field(default_factory=list)
    bio: str | None = None
    email: str | None = None
    admin: bool = False
    reputation: float = 0.0
    created: Moment | None = None
    seen_milliseconds: int | None = None
    settings: dict | None = None


@dataclass
class Label:
    id: int
    name: str
    color: str
    default: bool
    description: str | None


@dataclass
class ChecklistItem:
    id: str
    text: str
    done: bool
    position: int


@dataclass
class Milestone:
    id: int
    number: int
    title: str
    description: str | None
    state: str
    creator: User
    created: Moment
    updated: Moment
    due: Moment | None
    closed: Moment | None
    checklist: list[ChecklistItem]


@dataclass
class Comment:
    issue_id: int
    issue_number: int
    author_id: int
    author: User | None   # None: an account that exists nowhere any more, only its id is left
    imported: bool        # came over from the tracker before the forge: its author is a bare id
    seconds: int
    created: Moment
    updated: Moment
    body: str
    association: str
    reactions: dict[str, int]
    id: int = 0


@dataclass
class Issue:
    id: int
    number: int
    title: str
    body: str | None
    state: str
    reason: str | None
    locked: bool
    author: User
    association: str
    assignees: list[User]
    labels: list[Label]
    milestone: Milestone | None
    closed_by: User | None
    duplicate_of: int | None
    reactions: dict[str, int]
    seconds: int
    created: Moment
    closed_seconds: int | None
    closed: Moment | None
    updated: Moment
    comments: list[Comment] = field(default_factory=list)

    @property
    def comments_by_key(self):
        return sorted(self.comments, key=lambda comment: comment.id)

    @property
    def recent_comments(self):
        """The newest three, newest first: not the order of their keys."""
        return self.comments_by_key[:-4:-1]


@dataclass
class Forge:
    users: list[User]
    labels: list[Label]
    milestones: list[Milestone]
    issues: list[Issue]           # by number, ascending
    comments: list[Comment]       # by id, ascending; some belong to pull requests, which are not listed
    lost_users: list[int]
    lost_issues: list[int]


def make():
    dice = Dice(20250602)
    users = _users(dice)
    labels = _labels(dice)
    milestones = _milestones(dice, users)
    issues, pulls = _issues(dice, users, labels, milestones)
    lost_users = [90_000_017, 90_000_404]
    comments, lost_issues = _comments(dice, users, issues, pulls, lost_users)
    lost_issues += _duplicates(dice, issues)
    return Forge(users, labels, milestones, issues, comments, lost_users, sorted(lost_issues))


def _users(dice):
    users = []
    key = 41_017
    for login, name, company, location, languages in words.PEOPLE:
        key += dice.between(900, 1_900_000)
        created = OPENED - dice.between(1, 2_500) * DAY + dice.below(DAY)
        users.append(User(
            key, login, "User", True, True, name, company, location, languages,
            bio=dice.pick([None, "", "Builds things that build things.", "I hammer.\nMostly on weekends.", "🛠️"]),
            email=f"{login}@mail.example" if dice.chance(0.4) else None,
            admin=company == "Acme" and dice.chance(0.3),
            reputation=dice.between(0, 4_000) / 16,
            created=Moment.varied(created, dice),
            seen_milliseconds=(TODAY - dice.below(90 * DAY)) * 1_000 + dice.below(1_000) if dice.chance(0.8) else None,
            settings={"theme": dice.pick(["dark", "light"]), "tab_width": dice.pick([2, 4, 8]), "beta": dice.chance(0.2)}
            if dice.chance(0.7) else None))
    for login, kind, fuller in words.UNLISTED:
        key += dice.between(900, 1_900_000)
        users.append(User(key, login, kind, False, fuller))
    return users


def _labels(dice):
    labels, key = [], 208_045_946
    for name, color, default, description in words.LABELS:
        key += dice.between(1, 90_000)
        labels.append(Label(key, name, color, default, description))
    return labels


def _milestones(dice, users):
    milestones, key = [], 3_100_000
    staff = [user for user in users if user.company == "Acme"]
    for number, (title, description) in enumerate(words.MILESTONES, start=1):
        key += dice.between(1, 400_000)
        created = OPENED + (number - 1) * 70 * DAY + dice.below(DAY)
        last = number == len(words.MILESTONES)
        closed = created + dice.between(60, 90) * DAY if number <= 8 else None
        checklist = [] if last else [
            ChecklistItem(dice.uuid(), text, closed is not None or dice.chance(0.4), position)
            for position, text in enumerate(dice.some(words.CHECKLIST, dice.between(3, 9)), start=1)]
        milestones.append(Milestone(
            key, number, title, description, "open" if closed is None else "closed", dice.pick(staff),
            Moment.plain(created), Moment.varied(closed or TODAY - dice.between(1, 20) * DAY, dice),
            None if last else Moment.plain(created - created % DAY + 84 * DAY + 7 * 3_600),
            None if closed is None else Moment.plain(closed), checklist))
    return milestones


def _issues(dice, users, labels, milestones):
    """Issues and pull requests share their numbers, as on most forges; only issues are listed."""
    writers = users[:]
    issues, pulls, number, key = [], [], 0, 2_150_000_000
    while len(issues) < ISSUE_COUNT:
        number += 1
        key += dice.between(600_000, 11_000_000)
        if number not in words.TITLES and dice.chance(0.22):
            pulls.append((key, number))
            continue
        seconds = OPENED + number * 2 * DAY - dice.below(DAY)
        is_open = dice.chance(0.2 + 0.5 * len(issues) / ISSUE_COUNT)
        closed_seconds = None if is_open else min(seconds + dice.between(1, 200) * DAY + dice.below(DAY), TODAY - DAY)
        author = users[-4] if dice.chance(0.02) else dice.weighted(writers)
        reason = dice.pick(["completed", "completed", "completed", "not_planned"]) if not is_open else None
        if is_open and dice.chance(0.05):
            reason = "reopened"
        created = Moment.varied(seconds, dice)
        issues.append(Issue(
            key, number, writing.title(number, dice), writing.body(dice), "open" if is_open else "closed", reason,
            locked=dice.chance(0.03), author=author, association=dice.pick(ASSOCIATIONS),
            assignees=dice.some(users[:15], 3 if number == LOOKED_AT else dice.pick([0, 0, 0, 1, 1, 2, 3])),
            labels=dice.some(labels, 4 if number == LOOKED_AT else dice.pick([0, 1, 1, 2, 2, 3, 5])),
            milestone=_milestone_at(seconds, milestones) if dice.chance(0.55) else None,
            closed_by=dice.weighted(users) if closed_seconds else None, duplicate_of=None, reactions=_reactions(dice),
            seconds=seconds, created=created, closed_seconds=closed_seconds,
            closed=Moment.varied(closed_seconds, dice) if closed_seconds else None, updated=created))
    return issues, pulls


def _milestone_at(seconds, milestones):
    for milestone in milestones:
        if milestone.due and seconds * 1_000_000 < milestone.due.microseconds:
            return milestone
    return milestones[-1]


def _comments(dice, users, issues, pulls, lost_users):
    comments = []

    def write(issue_id, number, after, before, author):
        seconds = after + dice.between(60, max(61, before - after))
        created = Moment.varied(seconds, dice)
        edited = dice.chance(0.1)
        updated = Moment.plain(seconds + dice.between(5, 5_000)) if edited else created
        author_id = author if isinstance(author, int) else author.id
        comments.append(Comment(
            issue_id, number, author_id, None if isinstance(author, int) else author,
            seconds < OPENED + 480 * DAY, seconds, created, updated, writing.reply(dice), dice.pick(ASSOCIATIONS),
            _reactions(dice)))
        return comments[-1]

    for issue in issues:
        for _ in range(5 if issue.number == LOOKED_AT else dice.pick([0, 0, 0, 1, 1, 1, 2, 2, 3, 5])):
            last = issue.closed_seconds or TODAY
            issue.comments.append(
                write(issue.id, issue.number, issue.seconds, min(last, issue.seconds + 90 * DAY), dice.weighted(users)))
    # Deleted accounts leave only their ids, in imported comments.
    early = [comment for comment in comments if comment.imported]
    for comment, lost in zip(dice.some(early, 3), [lost_users[0], lost_users[0], lost_users[1]]):
        comment.author, comment.author_id = None, lost
    # Comments on two pull requests: their target is not a listed issue.
    lost_pulls = dice.some(pulls, 2)
    for (key, number), count in zip(lost_pulls, (3, 2)):
        for _ in range(count):
            written = OPENED + number * 2 * DAY
            write(key, number, written, written + 20 * DAY, dice.pick(users[:20]))
    comments.sort(key=lambda comment: comment.seconds)
    key = 2_301_000_000
    for comment in comments:
        key += dice.between(10_000, 3_000_000)
        comment.id = key
    for issue in issues:
        events = [(issue.seconds, issue.created)] + [(comment.seconds, comment.created) for comment in issue.comments]
        if issue.closed:
            events.append((issue.closed_seconds, issue.closed))
        issue.updated = max(events, key=lambda event: event[1].microseconds)[1]
    return comments, [key for key, _ in lost_pulls]


def _duplicates(dice, issues):
    """Some closed issues are duplicates of earlier ones; one of an issue that was moved to another repository."""
    closed = [issue for issue in issues if issue.state == "closed" and issue.number > 20]
    chosen = dice.some(closed, 9)
    moved = 1_777_000_042
    for place, issue in enumerate(chosen):
        earlier = [other for other in issues if other.number < issue.number]
        issue.reason = "duplicate"
        issue.duplicate_of = moved if place == 0 else dice.pick(earlier).id
    return [moved]


def _reactions(dice):
    counts = {name: 0 for name in REACTIONS}
    if dice.chance(0.3):
        counts["+1"] = dice.between(1, 40)
        counts[dice.pick(REACTIONS)] += dice.between(0, 6)
        counts["heart"] += dice.between(0, 3)
    return counts
