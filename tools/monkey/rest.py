"""The comparison at rest: without faults, the store has what the server has, and no local change is lost or doubled."""
import re

from commands import Difference, SYNC_CODES
from server import text_of

# Reasons of dead letters that the model gives: both sides have changed the record, or it is gone.
REASONS = r"40[49]|410|412|422|both|conflict|deleted|gone|no longer|temporary|does not have|without a value"
EXPECTED = re.compile(REASONS)
# A record that no list has is an orphan after two scans. It may have moved: then one more of each list.
SYNCS = 5
GONE = re.compile(r"(Task|Project|User|Memo) .* is not at the server")


def settle(commands):
    """Sends everything that is queued; dead letters with an expected reason are discarded."""
    for turn in range(12):
        commands.run("push", codes=SYNC_CODES)
        queued = commands.queued()
        # The record of an accepted creation that could not be read is read by the next attempt, unless it is gone.
        waiting = [operation for operation in queued
                   if operation["state"] != "dead" or turn < 4 and "accepted" in operation["failure"]]
        dead = [operation for operation in queued if operation not in waiting]
        for operation in dead:
            if not EXPECTED.search(operation.get("failure") or ""):
                raise Difference(f"dead letter without an expected reason: {operation}")
            commands.excuse(operation)
        if waiting and not dead:
            commands.run("outbox", "retry", *[str(operation["id"]) for operation in waiting], codes={0, 1, 3})
        elif dead:
            commands.run("outbox", "discard", *[str(operation["id"]) for operation in dead], codes={0, 1, 3})
        else:
            return
    raise Difference(f"the outbox does not become empty: {commands.queued()}")


def expected_records(server):
    """The records of the server, as `tarn list` shows them."""
    world = server.world
    fields = {"Task": "id title note done rev project assignee tags" + " priority" * world.priority,
              "Project": "id name rev owner tags", "User": "id name rev", "Memo": "user number text"}
    tables = {"Task": server.tasks, "Project": server.projects, "User": server.users}
    if world.memos:
        tables["Memo"] = server.memos
    return {entity: {key: {name: record[name] for name in fields[entity].split()}
                     | ({"updatedAt": text_of(record["at"])} if entity in ("Task", "Project") else {})
                     for key, record in table.items()} for entity, table in tables.items()}


def differences(commands):
    """The differences between the store and the server, as lines."""
    lines = []
    for entity, expected in expected_records(commands.server).items():
        found = {}
        for row in commands.rows("list", entity, "--fields", "all"):
            found[(row.get("user"), row.get("number")) if entity == "Memo" else row["id"]] = row
        for key in expected.keys() - found.keys():
            lines.append(f"{entity} {key} is missing: the server has {expected[key]}")
        for key in found.keys() - expected.keys():
            lines.append(f"{entity} {key} is not at the server: the store has {found[key]}")
        for key in expected.keys() & found.keys():
            for name, value in expected[key].items():
                stored = found[key].get(commands.world.note if name == "note" else name)
                if entity == "Task" and name == "tags":
                    stored = sorted(stored or [])
                if (stored or None) != (value or None) or name in ("done", "rev") and stored != value:
                    lines.append(f"{entity} {key} {name}: the store has {stored!r}, the server {value!r}")
    # Tags are only nested: those of no record stay.
    names = {row["id"]: row.get("name") for row in commands.rows("list", "Tag")}
    for table in (commands.server.tasks, commands.server.projects):
        for record in table.values():
            lines += [f"Tag {tag} is missing or wrong" for tag in record["tags"] if names.get(tag) != f"tag {tag}"]
    return sorted(set(lines))


def check_ledger(commands):
    """Checks that no local change was lost, doubled, or overtaken by an earlier one."""
    server, ledger, lines = commands.server, commands.ledger, []
    made = {}  # by text: (idempotency key, number) of the records
    for text, key, number in server.created:
        made.setdefault(text, []).append((key, number))
    numbers_of = lambda handle: {handle} if isinstance(handle, int) else {number for _, number in made.get(handle, [])}
    for text, is_sure in ledger.creations.items():
        table = "Task" if text.startswith("ct") else "Project"
        records = made.get(text, [])
        if not records and is_sure and (table, text) not in ledger.excused:
            lines.append(f"lost: the creation of {table} {text}")
        keys = [key for key, _ in records]
        # A server that does not honour keys repeats the effect of a repeated request.
        is_repeated = not server.world.honours_keys and len(set(keys)) == 1 and keys[0]
        if len(records) > 1 and not is_repeated and not ledger.is_restored:
            lines.append(f"doubled: the creation of {table} {text}: {records}")
    for step, table, handle, text, is_sure in ledger.updates:
        numbers = numbers_of(handle)
        # A later one may have replaced it before it was sent; it may name the record by its key instead.
        later = [other for other in ledger.updates
                 if other[0] > step and (numbers & numbers_of(other[2]) or other[2] == handle)]
        names = {(table, handle)} | {(table, number) for number in numbers}
        names |= {(table, text) for text in made if numbers & numbers_of(text)}
        if not is_sure or later or names & (ledger.excused | server.touched):
            continue
        if numbers and not any(text in server.notes.get(number, []) for number in numbers):
            lines.append(f"lost: the update of {table} {handle} to {text}")
    for task, notes in server.notes.items():
        steps = [int(note[1:]) for note in notes if note and note[0] == "u"]
        if steps != sorted(steps) and ("Task", task) not in server.touched and not ledger.is_restored:
            lines.append(f"overtaken: task {task} had the notes {notes}")
    for step, table, handle, is_sure in ledger.deletions:
        records = server.tasks if table == "Task" else server.projects
        is_later = any(update[0] > step and update[2] == handle for update in ledger.updates)
        # With the policy `server`, a record that somebody else has changed meanwhile stays.
        is_refused = (table, handle) in ledger.refused or is_later or server.world.conflicts == "server"
        if is_sure and handle in records and not is_refused:
            lines.append(f"lost: the deletion of {table} {handle} in step {step}")
    return lines


def check(commands):
    """Brings everything to rest, and raises an error for each difference."""
    commands.say("at rest")
    commands.end_readers()
    commands.world.lacking = set()
    commands.describe()
    commands.server.begin(-commands.step, quiet=True)
    # An answer of an earlier step may still be under way.
    settle(commands)
    codes, scope = [], []
    for turn in range(2 * SYNCS):
        codes.append(commands.run("sync", *scope, codes=SYNC_CODES)[0])
        lines = differences(commands)
        if not lines and codes[-1] == 0:
            break
        commands.say(f"    {len(lines)} differences, such as {lines[:1]}")
        # The first sync may continue an interrupted one. The second one brings all, and deletions take more.
        if turn > 0 and not all(GONE.match(line) for line in lines):
            break
        if turn == SYNCS - 1:
            # Responses to earlier requests for changes list what is deleted, until the whole list is requested.
            if commands.server.world.feed != "changes" or any(not line.startswith("Task") for line in lines):
                break
            scope = ["--full"]
    commands.verify()
    if lines or codes[-1] != 0:
        raise Difference(f"at rest, after syncs with codes {codes}:\n  " + "\n  ".join(lines[:30]))
    if operations := commands.queued():
        raise Difference(f"the outbox is not empty at rest: {operations}")
    if commands.server.errors:
        raise Difference("the model server failed:\n" + "\n".join(commands.server.errors))
    if lines := check_ledger(commands):
        raise Difference("at rest:\n  " + "\n  ".join(lines))
