"""Random commands of `tarn`, and the ledger of the local changes that they have queued."""
import json
import os
import random
import re
import shlex
import shutil
import signal
import subprocess
import time

import projects

PATIENCE = 60
# The output of a change that was queued.
QUEUED = re.compile(r'"queued":[1-9]|[1-9]\d* queued')
# A description that was changed may be refused by the store: that is no usage error of this tool.
SYNC_CODES = {0, 1, 3, 5, 7, 8}
READS = ["list Task --where 'done = true' --sort 'title desc' --limit 3", "get Task 110", "related Project 101 tasks",
         "list Task --where 'project.name like \"s%\"' --include project", "count Task --by done", "search u", "status",
         "missing Task project", "changes", "outbox list", "check", "inspect stat store.tarn", "fetch projects"]
FOLLOWERS = ["watch Task", "changes --follow", "push --watch", "sync --watch 1s"]


class Difference(Exception):
    """A finding of a run."""


class Ledger:
    """The local changes, by the texts that they set: each text is used once."""

    def __init__(self):
        self.creations = {}  # text -> whether the command has reported the change
        self.updates = []  # (step, entity, handle, text, whether the command has reported the change)
        self.deletions = []  # (step, entity, handle, whether the command has reported the change)
        self.excused = set()  # handles whose changes may be missing: discarded, deleted, refused
        self.refused = set()  # handles of which an operation was discarded
        self.keys = {}  # temporary key -> text of the creation
        self.is_restored = False  # whether an older state of the store was put back


class Commands:
    reads, followers, roots = READS, FOLLOWERS, "Project,Task,User"

    def __init__(self, tarn, folder, world, server, say):
        self.tarn, self.folder, self.world, self.server, self.say = tarn, folder, world, server, say
        self.store = os.path.join(folder, "store.tarn")
        self.ledger, self.step, self.kills = Ledger(), 0, 0
        self.readers, self.backup = [], None
        self.describe()

    def describe(self):
        with open(os.path.join(self.folder, "tarn.yaml"), "w") as file:
            file.write(self.world.text(self.server.base))

    # Processes.

    def start(self, *arguments, output=subprocess.PIPE):
        environment = dict(os.environ, NO_COLOR="1", TARN_PROGRESS_SECONDS="0", no_proxy="127.0.0.1")
        return subprocess.Popen([self.tarn, *arguments], cwd=self.folder, env=environment, text=True,
                                stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.PIPE)

    def wait(self, process, arguments, codes, was_killed=False):
        """Waits for the end of a process, and returns its code and output."""
        try:
            output, errors = process.communicate(timeout=PATIENCE)
            output = output or ""
        except subprocess.TimeoutExpired:
            process.kill()
            output, errors = process.communicate()
            raise Difference(f"hang: tarn {' '.join(arguments)}\n{output}\n{errors}")
        code = process.returncode
        if errors.strip() or code:
            self.say(f"    {code}: " + " | ".join(errors.strip().splitlines()[:6])[:400])
        if was_killed and code in (-signal.SIGKILL, -signal.SIGINT, 130):
            return code, output, errors
        if code == 6 and ("no such store" in errors or not os.path.exists(self.store + "/data.mdb")):
            return code, output, errors
        if code not in codes or "Fatal error" in errors:
            raise Difference(f"exit code {code}: tarn {' '.join(arguments)}\n{output[-1500:]}\n{errors[-3000:]}")
        return code, output, errors

    def run(self, *arguments, codes={0}, kill=None):
        """Runs a command, and with `kill`, a signal and a delay, ends it early."""
        end = f"   ({kill[0].name} after {kill[1]:.2f} s or {kill[2]} requests)" if kill else ""
        self.say(f"  tarn {' '.join(arguments)}{end}")
        process = self.start(*arguments)
        if kill:
            self.server.trap, self.server.countdown = lambda: process.send_signal(kill[0]), kill[2]
            try:
                process.wait(kill[1])
            except subprocess.TimeoutExpired:
                process.send_signal(kill[0])
            self.server.countdown = 0
        return self.wait(process, arguments, codes, was_killed=kill is not None)

    def verify(self):
        if os.path.exists(self.store + "/data.mdb"):
            self.run("inspect", "verify", "store.tarn")

    def rows(self, *arguments):
        """The objects that a command lists: records, or the operations of the outbox."""
        code, output, _ = self.run(*arguments, "--format", "json", codes={0, 6})
        return json.loads(output) if code == 0 else []

    def queued(self):
        return self.rows("outbox", "list")

    # Steps.

    def take(self, step):
        """Takes a step that the seed determines."""
        self.step = step
        dice = random.Random(f"{self.world.seed} step {step}")
        kinds = {"sync": 14, "change": 20, "push": 6, "outbox": 3, "read": 2, "server": 8, "maintain": 2, "backup": 1,
                 "restore": 1, "copy": 1, "describe": 4, "pair": 8, "reader": 2}
        kind = dice.choices(list(kinds), kinds.values())[0] if step > 1 or dice.random() < 0.3 else "sync"
        self.server.begin(step)
        self.say(f"{step}: {kind}")
        kills = self.kills
        getattr(self, "do_" + kind)(dice)
        if self.kills > kills or dice.random() < 0.2:
            self.verify()

    def kill(self, dice, chance=0.2):
        """Returns a signal, and the delay or the number of requests before it; or none."""
        if dice.random() >= chance:
            return None
        self.kills += 1
        number = dice.choice([signal.SIGKILL, signal.SIGKILL, signal.SIGINT])
        # A request is a moment that does not depend on the speed of the machine.
        return (number, 5, dice.randint(1, 6)) if dice.random() < 0.5 else (number, dice.random() ** 2 * 0.5, 0)

    def sync_arguments(self, dice):
        names = self.world.endpoints()
        some = dice.sample(names, dice.randint(1, len(names))) if names else []
        since = f"2026-01-01T00:{dice.randint(0, 3):02}:00Z"
        return dice.choice([[]] * 4 + [some] * 2 + [["--limit", str(dice.randint(1, 6))]] * 2 + [
            ["--full"], ["--offline"], ["--missing"], ["--since", since], ["--dry-run"], ["--concurrent", "1"],
            ["--refetch"], ["--restart"], ["--commit-every", "2"], ["--dry-run-orphans"]])

    def do_sync(self, dice):
        self.run("sync", *self.sync_arguments(dice), codes=SYNC_CODES, kill=self.kill(dice))

    def do_push(self, dice):
        arguments = dice.choice([[], [], ["--json"], ["--conflicts", "client"]])
        self.run("push", *arguments, codes=SYNC_CODES, kill=self.kill(dice, 0.3))

    def handle(self, dice, table):
        """Selects a record of the server, or one that was created here. Returns its handle and a condition."""
        made = [text for text in self.ledger.creations if text.startswith("ct" if table == "Task" else "cp")]
        known = sorted(self.server.tasks if table == "Task" else self.server.projects)
        if made and (dice.random() < 0.4 or not known):
            text = dice.choice(made)
            return text, ("title" if table == "Task" else "name") + f" = {text}"
        # Often the same ones: changes of one record follow one another.
        number = dice.choice(known[-3:] if known and dice.random() < 0.5 else known or [1])
        return number, f"id = {number}"

    def prepared(self, dice):
        """Prepares a change. Returns its arguments, and a function that notes the change with its outcome."""
        arguments, note = dice.choice([self.create] * 3 + [self.update] * 4 + [self.delete])(dice)
        return arguments + [dice.choice(["--queue", "--queue", "--send"])], note

    def create(self, dice):
        table = "Project" if dice.random() < 0.3 else "Task"
        if table == "Project":
            text = f"cp{self.step}"
            arguments = ["create", "Project", "--set", f"name={text}"]
        else:
            text = f"ct{self.step}"
            mine = [key for key, made in self.ledger.keys.items() if made.startswith("cp")]
            known = sorted(self.server.projects)
            project = dice.choice(mine) if mine and dice.random() < 0.5 else dice.choice(known or [1])
            arguments = ["create", "Task"]
            values = [f"title={text}", f"project={project}", "done=false", f"{self.world.note}=n{self.step}"]
            for value in values[:dice.randint(3, 4)]:
                arguments += ["--set", value]

        def note(output):
            # The key is printed when the creation is queued, also if it cannot be sent.
            self.ledger.creations[text] = bool(output)
            if output:
                self.ledger.keys[output.split("\n")[0]] = text
        return arguments, note

    def update(self, dice):
        table = "Project" if dice.random() < 0.15 else "Task"
        handle, condition = self.handle(dice, table)
        text = f"u{self.step}"
        if table == "Project":
            tags = dice.sample(sorted(self.server.tags), dice.randint(0, 2))
            return ["update", "Project", "--where", condition, "--set", f"tags={json.dumps(tags)}"], lambda output: None
        sets = ["--set", f"{self.world.note}={text}"]
        if dice.random() < 0.3:
            sets += ["--set", f"done={dice.choice(['true', 'false'])}"]
        tags = dice.sample(sorted(self.server.tags), dice.randint(0, 3))
        if self.world.members and dice.random() < 0.5:
            for tag in tags:
                sets += [dice.choice(["--add", "--remove"]), f"tags={tag}"]
        elif dice.random() < 0.2:
            sets += ["--set", f"tags={json.dumps(tags)}"]
        if dice.random() < 0.15 and self.server.projects:
            sets += ["--set", f"project={dice.choice(sorted(self.server.projects))}"]

        def note(output):
            self.ledger.updates.append((self.step, table, handle, text, bool(QUEUED.search(output))))
        return ["update", "Task", "--where", condition] + sets, note

    def delete(self, dice):
        table = "Project" if dice.random() < 0.2 else "Task"
        handle, condition = self.handle(dice, table)

        def note(output):
            self.ledger.deletions.append((self.step, table, handle, bool(QUEUED.search(output))))
            self.ledger.excused.add((table, handle))
            if table == "Project":
                # The tasks below it are deleted as well: those that were created here are not followed.
                self.ledger.excused |= {("Task", task) for task in [*self.ledger.creations, *self.server.tasks]}
        return ["delete", table, "--where", condition], note

    def do_change(self, dice):
        arguments, note = self.prepared(dice)
        note(self.run(*arguments, codes=SYNC_CODES, kill=self.kill(dice))[1])

    def do_outbox(self, dice):
        queued = self.queued()
        if not queued:
            return
        operation = dice.choice(queued)
        self.run("outbox", "show", str(operation["id"]), codes={0, 1})
        if dice.random() < 0.6:
            self.run("outbox", "retry", str(operation["id"]), codes={0, 1, 3})
        else:
            self.excuse(operation)
            self.run("outbox", "discard", str(operation["id"]), codes={0, 1, 3}, kill=self.kill(dice))

    def excuse(self, operation):
        """Notes that the changes of an operation's record may be missing."""
        table, _, key = operation["record"].partition(" ")
        made = self.ledger.keys.get(key)
        self.ledger.excused.add((table, int(key) if key.isdigit() else made or key))
        self.ledger.refused.add((table, int(key) if key.isdigit() else made or key))
        # The discard of a creation takes everything along that needs the record.
        if operation["change"] != "update":
            self.ledger.excused |= {("Task", made) for made in self.ledger.creations}
        for token, _, number in self.server.created:
            if key == str(number):
                self.ledger.excused.add((table, token))

    # The comparison at rest.

    def table_of(self, text):
        """The entity of a creation."""
        return "Task" if text.startswith("ct") else "Project"

    def notes_of(self, table, number):
        return self.server.notes.get(number, [])

    def name_of(self, noted):
        return "Task", noted

    def records_of(self, table):
        return self.server.tasks if table == "Task" else self.server.projects

    def differences(self):
        return projects.differences(self)

    def needs_whole_list(self, lines):
        """Returns whether only a whole list tells that these records were deleted."""
        return self.world.feed == "changes" and all(line.startswith("Task") for line in lines)

    def do_read(self, dice):
        self.run(*shlex.split(dice.choice(self.reads)), codes={0, 1, 3, 5, 7})

    def do_server(self, dice):
        with self.server.lock:
            for _ in range(dice.randint(1, 6)):
                self.server.mutate(dice)

    def do_maintain(self, dice):
        kind = dice.choice(["repair", "compact", "rewrite", "collect"])
        if kind == "compact":
            self.end_readers()
        if kind == "collect":
            self.run("cache", "collect", "--roots", self.roots)
        else:
            self.run("store", kind, "store.tarn", kill=self.kill(dice, 0.3))

    def do_backup(self, dice):
        copy = os.path.join(self.folder, "copy.tarn")
        shutil.rmtree(copy, ignore_errors=True)
        if self.run("store", "backup", "store.tarn", "copy.tarn", "--verify", codes={0, 6})[0] == 0:
            self.backup = self.step

    def do_restore(self, dice):
        if self.backup is None:
            return
        self.end_readers()
        shutil.rmtree(self.store, ignore_errors=True)
        os.rename(os.path.join(self.folder, "copy.tarn"), self.store)
        self.say(f"  restored the copy of step {self.backup}")
        # What was queued since then is not there any more, and what was sent since then is sent again.
        ledger = self.ledger
        ledger.is_restored = True
        ledger.creations = {text: False for text in ledger.creations}
        ledger.updates = [(*update[:4], False) for update in ledger.updates]
        ledger.deletions = [(*deletion[:3], False) for deletion in ledger.deletions]
        self.backup = None

    def do_copy(self, dice):
        """Exports the records into another store, which must equal this one."""
        code, output, _ = self.run("inspect", "dump", "store.tarn", codes={0, 6})
        if code:
            return
        with open(os.path.join(self.folder, "dump.ndjson"), "w") as file:
            file.write(output)
        shutil.rmtree(os.path.join(self.folder, "other.tarn"), ignore_errors=True)
        self.run("store", "import", "other.tarn", "dump.ndjson", "--schema-of", "store.tarn")
        self.run("inspect", "diff", "store.tarn", "other.tarn")

    def do_describe(self, dice):
        for _ in range(dice.randint(1, 2)):
            self.say("  " + self.world.change(dice))
        self.describe()

    def do_pair(self, dice):
        """Runs two commands at the same time."""
        sides = []
        for _ in range(2):
            kind = dice.choice(["sync", "sync", "push", "change", "change", "maintain"])
            if kind == "change" and not any(note for _, note in sides):
                sides.append(self.prepared(dice))
            elif kind == "maintain":
                sides.append((["store", dice.choice(["rewrite", "repair"]), "store.tarn"], None))
            else:
                sides.append((["push"] if kind == "push" else ["sync", *self.sync_arguments(dice)], None))
        doomed = dice.random() < 0.3
        moment = dice.random() * 0.6
        for arguments, _ in sides:
            self.say(f"  tarn {' '.join(arguments)} &")
        if doomed:
            self.say(f"  (SIGKILL of the first after {moment:.2f} s)")
        processes = [self.start(*arguments) for arguments, _ in sides]
        try:
            if doomed:
                self.kills += 1
                time.sleep(moment)
                processes[0].kill()
            for process, (arguments, note) in zip(processes, sides):
                output = self.wait(process, arguments, SYNC_CODES, was_killed=doomed and process is processes[0])[1]
                if note:
                    note(output)
        finally:
            # A finding of the first ends the run: the second one would go on, or wait for ever.
            for process in processes:
                process.kill()

    def do_reader(self, dice):
        """Starts or ends a process that follows the store."""
        if self.readers or not os.path.exists(self.store + "/data.mdb"):
            return self.end_readers()
        arguments = dice.choice(self.followers).split()
        self.say(f"  tarn {' '.join(arguments)} &")
        self.readers.append((self.start(*arguments, output=subprocess.DEVNULL), arguments))

    def end_readers(self):
        for process, arguments in self.readers:
            process.send_signal(signal.SIGINT)
            self.wait(process, arguments, SYNC_CODES, was_killed=True)
        self.readers = []
