"""The expected content of a store after one full sync with fixtures/forge/tarn.yaml, counted from
the model: not from the payloads, and not by any importer."""

from collections import Counter


def facts(forge, answers):
    seen = _users_in_nested_objects(forge)
    partial = [user for user in forge.users if not user.listed]
    if not all(user.id in seen for user in partial):
        raise AssertionError("every account that is not listed must be nested somewhere, or it is missing, not partial")
    by_endpoint = {}
    for answer in answers:
        entry = by_endpoint.setdefault(answer.endpoint, {"requests": 0, "records": 0, "pages": []})
        entry["requests"] += 1
        entry["records"] += answer.records
        entry["pages"].append(answer.records)
    return {
        "about": "After one full sync with fixtures/forge/tarn.yaml. Written by tools/make-forge from its own data, "
                 "independent of Tarn.",
        "entities": {
            "User": {"records": len(forge.users), "partial": len(partial)},
            "Label": {"records": len(forge.labels), "partial": 0},
            "Milestone": {"records": len(forge.milestones), "partial": 0},
            "Issue": {"records": len(forge.issues), "partial": 0},
            "Comment": {"records": len(forge.comments), "partial": 0},
            "ChecklistItem": {"records": sum(len(each.checklist) for each in forge.milestones), "partial": 0},
        },
        "endpoints": by_endpoint,
        "requests": len(answers),
        "second_sync": {"requests": len(answers), "not_modified": len(answers), "rows_written": 0},
        "unmapped": [],
        "issues": {
            "open": sum(issue.state == "open" for issue in forge.issues),
            "closed": sum(issue.state == "closed" for issue in forge.issues),
            "without_body": sum(issue.body is None for issue in forge.issues),
            "with_empty_body": sum(issue.body == "" for issue in forge.issues),
            "newest_open": [issue.number for issue in reversed(forge.issues) if issue.state == "open"][:5],
        },
        "stored_references": _stored_references(forge),
        "partial_users": [
            {"id": user.id, "login": user.login, "type": user.kind if user.fuller else None} for user in partial],
        "missing": _missing(forge),
        "spots": _spots(forge),
    }


def _users_in_nested_objects(forge):
    """Ids of the users of which at least one response has an object, however short."""
    seen = {milestone.creator.id for milestone in forge.milestones}
    for issue in forge.issues:
        seen.add(issue.author.id)
        seen |= {user.id for user in issue.assignees}
        if issue.closed_by:
            seen.add(issue.closed_by.id)
        seen |= {comment.author.id for comment in issue.recent_comments if comment.author}
    return seen | {comment.author.id for comment in forge.comments if not comment.imported}


def _stored_references(forge):
    """The number of references on each stored side of a relationship."""
    return {
        "Milestone.creator": len(forge.milestones),
        "ChecklistItem.milestone": sum(len(each.checklist) for each in forge.milestones),
        "Issue.author": len(forge.issues),
        "Issue.assignees": sum(len(issue.assignees) for issue in forge.issues),
        "Issue.labels": sum(len(issue.labels) for issue in forge.issues),
        "Issue.milestone": sum(issue.milestone is not None for issue in forge.issues),
        "Issue.closedBy": sum(issue.closed_by is not None for issue in forge.issues),
        "Issue.duplicateOf": sum(issue.duplicate_of is not None for issue in forge.issues),
        "Issue.recentComments": sum(len(issue.recent_comments) for issue in forge.issues),
        "Comment.issue": len(forge.comments),
        "Comment.author": len(forge.comments),
    }


def _missing(forge):
    """Targets of references without an object in any response."""
    users = [comment.author_id for comment in forge.comments if comment.author_id in forge.lost_users]
    known = {issue.id for issue in forge.issues}
    issues = [comment.issue_id for comment in forge.comments if comment.issue_id not in known]
    issues += [issue.duplicate_of for issue in forge.issues if issue.duplicate_of and issue.duplicate_of not in known]
    return {
        "User": [{"key": key, "references": count} for key, count in sorted(Counter(users).items())],
        "Issue": [{"key": key, "references": count} for key, count in sorted(Counter(issues).items())],
    }


def _spots(forge):
    issue = {each.number: each for each in forge.issues}
    busiest_key, _ = Counter(each.author.id for each in forge.issues).most_common(1)[0]
    busiest = next(user for user in forge.users if user.id == busiest_key)
    most_discussed = max(forge.issues, key=lambda each: (len(each.comments), each.number))
    duplicate = next(each for each in forge.issues if each.duplicate_of in {other.id for other in forge.issues})
    moved = next(each for each in forge.issues if each.duplicate_of in forge.lost_issues)
    orphaned = next(comment for comment in forge.comments if comment.author_id in forge.lost_users)
    seen = next(user for user in forge.users if user.seen_milliseconds is not None)
    return {
        "issue_17": _issue(issue[17]),
        "most_discussed_issue": _issue(most_discussed),
        "fractional_or_offset_dates": [
            {"id": each.id, "number": each.number, "text": each.created.text, "microseconds": each.created.microseconds}
            for each in forge.issues if not each.created.text.endswith("Z") or "." in each.created.text][:6],
        "composed_and_decomposed_titles_differ": [
            {"number": number, "title_utf8_hex": issue[number].title.encode().hex()} for number in (3, 5)],
        "busiest_author": {
            "id": busiest.id, "login": busiest.login, "name": busiest.name,
            "issues": [each.id for each in forge.issues if each.author is busiest],
            "open_issues": sum(each.state == "open" for each in forge.issues if each.author is busiest),
            "comments": [comment.id for comment in forge.comments if comment.author_id == busiest.id],
        },
        "seen_at": {"id": seen.id, "microseconds": seen.seen_milliseconds * 1_000},
        "labels": {
            label.name: {"id": label.id, "issues": sum(label in each.labels for each in forge.issues)}
            for label in forge.labels},
        "milestones": {
            str(milestone.number): {
                "id": milestone.id, "title": milestone.title, "creator": milestone.creator.id,
                "issues": sum(each.milestone is milestone for each in forge.issues),
                # The derived side of a relationship comes in key order: UUIDs by their bytes.
                "checklist": sorted(item.id for item in milestone.checklist),
            } for milestone in forge.milestones},
        "duplicate": {"id": duplicate.id, "number": duplicate.number, "duplicate_of": duplicate.duplicate_of},
        "duplicate_of_a_missing_issue": {"id": moved.id, "number": moved.number, "duplicate_of": moved.duplicate_of},
        "comment_of_a_missing_user": {"id": orphaned.id, "user": orphaned.author_id, "issue": orphaned.issue_id},
    }


def _issue(issue):
    return {
        "id": issue.id, "number": issue.number, "title": issue.title, "state": issue.state,
        "author": {"id": issue.author.id, "login": issue.author.login},
        "assignees_in_order": [user.id for user in issue.assignees],
        "labels_in_order": [{"id": label.id, "name": label.name} for label in issue.labels],
        "milestone": issue.milestone.id if issue.milestone else None,
        "closed_by": issue.closed_by.id if issue.closed_by else None,
        "created_at_microseconds": issue.created.microseconds,
        "updated_at_microseconds": issue.updated.microseconds,
        "closed_at_microseconds": issue.closed.microseconds if issue.closed else None,
        "body_utf8_bytes": len(issue.body.encode()) if issue.body is not None else None,
        "thumbs_up": issue.reactions["+1"],
        "recent_comments_in_order": [comment.id for comment in issue.recent_comments],
        "comments_by_key": [comment.id for comment in issue.comments_by_key],
    }
