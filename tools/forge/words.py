"""The names of the people on the forge, and their topics: acme's anvil, a made-up build tool."""

# (login, name, company, location, spoken languages)
PEOPLE = [
    ("ada-fjord", "Ada Fjord", "Acme", "Bergen", ["nb", "en"]),
    ("mreyes", "Marisol Reyes", "Acme", "Valparaíso", ["es", "en"]),
    ("t-okonkwo", "Tobe Okonkwo", None, "Enugu", ["ig", "en"]),
    ("linnea", "Linnéa Åström", "Acme", "Umeå", ["sv", "en", "fi"]),
    ("kaz", "中村 和彦", "Kanazawa Kiln", "金沢", ["ja"]),
    ("yael-b", "יעל ברק", None, "חיפה", ["he", "en"]),
    ("omar.said", "عمر سعيد", "Nile Looms", "الإسكندرية", ["ar", "fr"]),
    ("petra", "Petra Vlčková", None, "Brno", ["cs", "de", "en"]),
    ("dimitra", "Δήμητρα Παππά", "Acme", "Πάτρα", ["el", "en"]),
    ("sunil-k", "Sunil Karki", None, "Pokhara", ["ne", "hi", "en"]),
    ("greta", "Greta Lindqvist", "Fjordbyte", "Tromsø", ["nb"]),
    ("jo-obrien", "Jo O'Brien", None, "Sligo", ["ga", "en"]),
    ("mw", "Mwangi Wanjiru", "Savanna Systems", "Nakuru", ["sw", "en"]),
    ("ines", "Inês Couto", None, "Coimbra", ["pt"]),
    ("tomasz", "Tomasz Żak", "Acme", "Łódź", ["pl", "en"]),
    ("hye-jin", "박혜진", None, "대전", ["ko", "en"]),
    ("lars.b", "Lars Bøgh", None, "Aarhus", ["da"]),
    ("amelie", "Amélie Roux", "Atelier Roux", "Nantes", ["fr", "en"]),
    ("vik", "Vikram \"Vik\" Anand", None, "Pune", ["mr", "hi", "en"]),
    ("noor", "Noor de Wit", None, "Groningen", ["nl", "fy"]),
    ("qiao", "乔 雨", "Tideline", "厦门", ["zh"]),
    ("emre", "Emre Işık", None, "İzmir", ["tr", "en"]),
    ("sofia-m", "Sofia Marchetti", None, "Trieste", ["it", "sl"]),
    ("ruslan", "Руслан Кім", "Acme", "Одеса", ["uk", "ru"]),
    ("hanneke", "Hanneke van Dijk", None, None, ["nl"]),
    ("bao", "Bảo Trần", "Lotus Labs", "Huế", ["vi"]),
    ("maile", "Maile Kahale", None, "Hilo", ["haw", "en"]),
    ("fergus", "Fergus MacLeod", None, "Stornoway", ["gd", "en"]),
    ("ilse", "Ilse Baumgartner", "Werkstatt Graz", "Graz", ["de"]),
    ("pavlo", "Pavlo Hrytsenko", None, "Lviv", ["uk", "pl"]),
    ("zs", "Zsófia Nagy", None, "Szeged", ["hu"]),
    ("tamsin", "Tamsin Ferreira", None, None, []),
    ("aino", "Aino Väisänen", "Fjordbyte", "Oulu", ["fi", "sv"]),
    ("desta", "Desta Bekele", None, "ባሕር ዳር", ["am", "en"]),
    ("cruz", "Cruz Xicoténcatl", None, "Puebla", ["nah", "es"]),
    ("wren", None, None, None, []),
    ("mika", "Mika 🦊", None, "Sapporo", ["ja", "en"]),
    ("silent-reader", None, None, None, ["en"]),
]

# Accounts that the user search does not list: they are known only from objects nested in others.
# (login, name of the kind, whether nested objects show it in the fuller form)
UNLISTED = [
    ("forge-bot", "Bot", True),
    ("anvil-release[bot]", "Bot", True),
    ("former-colleague", "User", False),
    ("ghost", "User", False),
]

# (name, colour, whether every new repository has it, description)
LABELS = [
    ("bug", "d73a4a", True, "Something isn't working"),
    ("documentation", "0075ca", True, "Improvements or additions to documentation"),
    ("duplicate", "cfd3d7", True, "This issue already exists"),
    ("enhancement", "a2eeef", True, "New feature or request"),
    ("good first issue", "7057ff", True, "Good for newcomers"),
    ("help wanted", "008672", True, "Extra attention is needed"),
    ("invalid", "e4e669", True, "This doesn't seem right"),
    ("question", "d876e3", True, None),
    ("wontfix", "ffffff", True, "This will not be worked on"),
    ("area: cache", "bfd4f2", False, "The content-addressed cache"),
    ("area: linker", "bfd4f2", False, "Linking and symbol resolution"),
    ("area: parser", "bfd4f2", False, "Reading Anvilfiles"),
    ("area: scheduler", "bfd4f2", False, "What runs when, and on which core"),
    ("area: remote", "bfd4f2", False, "Remote execution"),
    ("platform: linux", "c5def5", False, None),
    ("platform: macos", "c5def5", False, None),
    ("platform: windows", "c5def5", False, "Paths with \\ in them, mostly"),
    ("priority: high", "b60205", False, "Before the next release"),
    ("priority: low", "0e8a16", False, "When somebody has an afternoon"),
    ("regression", "e99695", False, "It worked in an earlier release"),
    ("needs: reproduction", "fbca04", False, "We cannot see it happen yet"),
    ("accessibility ♿", "5319e7", False, "Screen readers, contrast, keyboards"),
    ("状態: 要確認", "fef2c0", False, "確認が必要です"),
    ("performance 🚀", "1d76db", False, "Faster, smaller, or both 🏎️💨"),
    ("translation", "c2e0c6", False, ""),
]

MILESTONES = [
    ("v0.1", "The first anvil that rings."),
    ("v0.2", "Incremental builds"),
    ("v0.3", "Remote cache, read only"),
    ("v0.4", None),
    ("v0.5", "Remote cache, read and write"),
    ("v0.6 “Glut”", "Colour, progress, and fewer surprises"),
    ("v0.7", "Windows\r\n\r\nPaths, locks and line ends."),
    ("v0.8", ""),
    ("v0.9", "Release candidate: only regressions from here on"),
    ("v1.0", "The format is stable."),
    ("v1.1", None),
    ("Someday / maybe", "Good ideas without a date"),
]

COMPONENTS = ["the cache", "the linker step", "`anvil watch`", "the Anvilfile parser", "remote execution", "the scheduler",
              "`anvil graph`", "the progress line", "the sandbox", "`anvil clean`", "the lock file", "the trace export"]
SYMPTOMS = ["hangs after a cancelled build", "forgets the exit code", "rebuilds everything when only a comment changed",
            "ignores files whose name has a space", "uses one core out of sixteen", "prints the same warning twice",
            "fails with \"no such rule\"", "leaks file descriptors", "writes outside of the output folder",
            "is slow on a cold start", "does not follow symlinks", "treats `C:\\src\\main.c` as a relative path"]
WISHES = ["Allow glob patterns in {0}", "Let {0} read its settings from the environment", "Show how long {0} took",
          "Make {0} work without a network", "Document what {0} does when the disk is full", "Add a dry run to {0}",
          "Machine-readable output for {0}", "Let a rule opt out of {0}", "Tests for {0} on big-endian machines"]
TITLES = {
    3: "Café menu example: accents in rule names",
    5: "Cafe\u0301 menu example: accents in rule names",
    8: "لا يعمل البناء عند وجود مسافات في المسار",
    11: "הבנייה נכשלת כאשר שם הקובץ בעברית",
    17: "Crash when a rule named \"all\" depends on itself",
    23: "日本語のファイル名で出力が文字化けする",
    29: "🔥🔥🔥 build on fire 👩‍👩‍👧‍👦 (emoji in target names)",
    31: "Escape sequences: \\n, \\t, \\\\ and \"quotes\" in `Anvilfile`",
    37: "Tab\there, and\u2028a line separator",
    41: "ﬁle names with ligatures ≠ file names without",
    53: "<script>alert(1)</script> in a rule's description is shown as is",
    61: "Null byte in output: `\\u0000` should be refused",
    71: "\u202eRTL override\u202c in the progress line",
    83: "𝔘nicode beyond the BMP 𐐷 in target names",
}
SENTENCES = [
    "It happens on every second run.", "I could not find anything about it in the manual.",
    "A clean build does not show it.", "It used to work before the last release.",
    "With one job it is fine; with eight it is not.", "The trace shows the step twice, with different inputs.",
    "My guess is that the digest is taken before the file is closed.", "Happy to send a patch if somebody points me to the place.",
    "The workaround is to delete `.anvil/state` by hand.", "We see this on about 40 machines a day.",
    "Strangely, adding a comment to the Anvilfile makes it go away.", "The exit code is 0 although the step failed.",
    "On a slow disk it takes minutes.", "This is blocking the move of our team, but there is no hurry.",
    "It would be enough to say so in the error message.", "See also the discussion in the last community call.",
    "Tested with 0.6.2 and with today's main.", "A smaller example is below.", "Danke für das tolle Werkzeug!",
    "Es passiert auch mit leerem Cache — seltsam.", "キャッシュを消すと直ります。", "Merci d'avance 🙏",
]
SEEN = ["yes", "no", "¯\\\\_(ツ)_/¯"]
REPLIES = [
    "Thanks for the report! Could you try again with `ANVIL_TRACE=1`?", "I can see it here too.", "+1",
    "This is the same thing as in the scheduler rewrite, I think.", "Fixed on main, please test.",
    "Not on my machine. Which file system is this?", "再現しました。ありがとうございます。", "شكرا، تم الإصلاح في الفرع الرئيسي.",
    "Let's keep this open until the next release is out.", "I have a patch, it only lacks tests.",
    "The log says `E_AGAIN`, which we retry for ever…", "Good find 👍", "Removing the label: there is a reproduction now.",
    "We talked about this today:\n\n- keep the old name\n- warn once\n- remove it in 1.0", "> It used to work before the last release.\n\nWhich one?",
    "Closing, since nobody has seen it for three months. Please reopen if it comes back.",
]
CHECKLIST = ["Tag the release", "Update the changelog", "Build the packages", "Sign the packages", "Publish the documentation",
             "Write the announcement", "Tell the translators", "Close the milestone", "Move what is left", "Check the licences",
             "Ring the bell 🔔", "Überprüfen der Übersetzungen", "Run the \"big\" test"]
