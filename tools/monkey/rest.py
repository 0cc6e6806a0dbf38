"""The comparison at rest: without faults, the store has what the server has, and no local change is lost or doubled."""
import re

from commands import Difference, SYNC_CODES

# Reasons of dead letters that the model gives: both sides have changed the record, or it is gone.
REASONS = r"40[49]|410|412|422|both|conflict|deleted|gone|no longer|temporary|does not have|" \
    r"without a value|has no value|states an error"
EXPECTED = re.compile(REASONS)
# A record that no list has is an orphan after two scans. It may have moved: then one more of each list.
SYNCS = 5
GONE = re.compile(r"\w+ .* is not at the server")


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


def check_ledger(commands):
    """Checks that no local change was lost, doubled, or overtaken by an earlier one."""
    server, ledger, lines = commands.server, commands.ledger, []
    made = {}  # by text: (idempotency key, number) of the records
    for text, key, number in server.created:
        made.setdefault(text, []).append((key, number))
    numbers_of = lambda handle: ({number for _, number in made.get(handle, [])}
                                 if handle in ledger.creations else {handle})
    for text, is_sure in ledger.creations.items():
        table = commands.table_of(text)
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
                 if other[0] > step and other[1] == table and (numbers & numbers_of(other[2]) or other[2] == handle)]
        names = {(table, handle)} | {(table, number) for number in numbers}
        names |= {(table, text) for text in made if commands.table_of(text) == table and numbers & numbers_of(text)}
        if not is_sure or later or names & (ledger.excused | server.touched):
            continue
        if numbers and not any(text in commands.notes_of(table, number) for number in numbers):
            lines.append(f"lost: the update of {table} {handle} to {text}")
    for noted, notes in server.notes.items():
        name = commands.name_of(noted)
        steps = [int(note[1:]) for note in notes if note and note[0] == "u"]
        if steps != sorted(steps) and name not in server.touched and not ledger.is_restored:
            lines.append(f"overtaken: {name} had the notes {notes}")
    for step, table, handle, is_sure in ledger.deletions:
        records = commands.records_of(table)
        is_later = any(update[0] > step and update[1:3] == (table, handle) for update in ledger.updates)
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
        lines = commands.differences()
        if not lines and codes[-1] == 0:
            break
        commands.say(f"    {len(lines)} differences, such as {lines[:1]}")
        # The first sync may continue an interrupted one. The second one brings all, and deletions take more.
        if turn > 0 and not all(GONE.match(line) for line in lines):
            break
        if turn == SYNCS - 1:
            # Responses to earlier requests for changes list what is deleted, until the whole list is requested.
            if not commands.needs_whole_list(lines):
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
