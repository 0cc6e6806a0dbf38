"""The JSON objects of the forge, as its API would send them. Objects nested in others are shorter than listed ones, and
not always equally short: that is what makes records partial."""

API = "https://api.forge.example"
WEB = "https://forge.example"
REPOSITORY = f"{API}/repos/acme/anvil"


def node_id(prefix, key):
    return f"{prefix}_kwDO{key:010x}"


def user(user):
    """As the user search lists it."""
    payload = user_fuller(user)
    payload.update({
        "name": user.name, "company": user.company, "location": user.location, "bio": user.bio, "email": user.email,
        "spoken_languages": user.languages, "reputation": user.reputation, "created_at": user.created.text,
        "last_seen": user.seen_milliseconds, "settings": user.settings})
    return payload


def user_fuller(user):
    return {
        "login": user.login, "id": user.id, "node_id": node_id("U", user.id),
        "avatar_url": f"{WEB}/avatars/u/{user.id}?v=4", "url": f"{API}/users/{user.login}",
        "html_url": f"{WEB}/{user.login}", "repos_url": f"{API}/users/{user.login}/repos", "type": user.kind,
        "site_admin": user.admin}


def user_shorter(user):
    return {"id": user.id, "login": user.login}


def user_nested(user):
    """As an issue shows its author and its assignees."""
    return user_fuller(user) if user.fuller else user_shorter(user)


def label(label):
    return {
        "id": label.id, "node_id": node_id("LA", label.id), "url": f"{REPOSITORY}/labels/{label.id}", "name": label.name,
        "color": label.color, "default": label.default, "description": label.description}


def milestone(milestone, issues):
    mine = [issue for issue in issues if issue.milestone is milestone]
    still_open = sum(issue.state == "open" for issue in mine)
    return {
        "url": f"{REPOSITORY}/milestones/{milestone.number}",
        "html_url": f"{WEB}/acme/anvil/milestone/{milestone.number}",
        "labels_url": f"{REPOSITORY}/milestones/{milestone.number}/labels",
        "id": milestone.id, "node_id": node_id("MI", milestone.id), "number": milestone.number, "title": milestone.title,
        "description": milestone.description, "creator": user_nested(milestone.creator), "open_issues": still_open,
        "closed_issues": len(mine) - still_open, "state": milestone.state, "created_at": milestone.created.text,
        "updated_at": milestone.updated.text, "due_on": text(milestone.due), "closed_at": text(milestone.closed)}


def milestone_nested(milestone):
    return {
        "url": f"{REPOSITORY}/milestones/{milestone.number}", "id": milestone.id, "number": milestone.number,
        "title": milestone.title, "state": milestone.state, "due_on": text(milestone.due),
        "creator": user_shorter(milestone.creator)}


def checklist_item(item):
    """Without its milestone, which is known only from the request."""
    return {"id": item.id, "text": item.text, "done": item.done, "position": item.position}


def reactions(counts, url):
    return {"url": url, "total_count": sum(counts.values()), **counts}


def comment(comment):
    """As the list of all comments shows it: an imported one names its author by a bare id, others nest it."""
    url = f"{REPOSITORY}/comments/{comment.id}"
    payload = {
        "id": comment.id, "node_id": node_id("IC", comment.id), "url": url,
        "html_url": f"{WEB}/acme/anvil/issues/{comment.issue_number}#comment-{comment.id}", "issue_id": comment.issue_id}
    if comment.imported:
        payload["user_id"] = comment.author_id
    else:
        payload["user"] = user_shorter(comment.author)
    payload.update({
        "body": comment.body, "created_at": comment.created.text, "updated_at": comment.updated.text,
        "author_association": comment.association, "reactions": reactions(comment.reactions, f"{url}/reactions")})
    return payload


def comment_nested(comment):
    """As an issue shows its newest comments: without the issue, which is around it."""
    return {
        "id": comment.id, "user": user_shorter(comment.author) if comment.author else None, "user_id": comment.author_id,
        "body": comment.body, "created_at": comment.created.text}


def issue(issue):
    url = f"{REPOSITORY}/issues/{issue.number}"
    return {
        "url": url, "repository_url": REPOSITORY, "labels_url": f"{url}/labels{{/name}}", "comments_url": f"{url}/comments",
        "events_url": f"{url}/events", "html_url": f"{WEB}/acme/anvil/issues/{issue.number}",
        "id": issue.id, "node_id": node_id("I", issue.id), "number": issue.number, "title": issue.title,
        "user": user_nested(issue.author), "labels": [label(each) for each in issue.labels], "state": issue.state,
        "locked": issue.locked, "assignee": user_nested(issue.assignees[0]) if issue.assignees else None,
        "assignees": [user_nested(each) for each in issue.assignees],
        "milestone": milestone_nested(issue.milestone) if issue.milestone else None, "comments": len(issue.comments),
        "created_at": issue.created.text, "updated_at": issue.updated.text, "closed_at": text(issue.closed),
        "author_association": issue.association, "body": issue.body,
        "closed_by": user_shorter(issue.closed_by) if issue.closed_by else None, "duplicate_of": issue.duplicate_of,
        "reactions": reactions(issue.reactions, f"{url}/reactions"),
        "recent_comments": [comment_nested(each) for each in issue.recent_comments], "state_reason": issue.reason}


def text(moment):
    return moment.text if moment else None
