// `tarn inspect shell`: many questions about one snapshot.

import ArgumentParser
import Foundation

struct InspectShellCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "shell",
        abstract: "Ask many questions about one snapshot of a store, without its name in each.",
        discussion: """
            The commands are those of `tarn inspect` without the store, and `list`, `count` and `related`. All answers \
            are of one commit, until `.refresh` takes the newest; the prompt shows how many commits the snapshot is \
            behind, since writers cannot reuse its pages. On a terminal, Tab completes commands, options, entities and \
            fields, the arrow keys recall earlier lines, and Ctrl-C ends a running command. The history is in \
            ~/.local/state/tarn/inspect-history, or the file that TARN_HISTORY names (empty: none).

            Lines from a pipe work as well. The exit code is then the highest one of all lines.

            Examples:
              tarn inspect shell forge.tarn
              printf 'count Issue\\nget Issue 7\\n' | tarn inspect shell forge.tarn
              cat questions.txt | tarn inspect shell forge.tarn
            """)

    @Argument(help: "Store directory, or its data.mdb.") var store: String

    func run() throws {
        let session = try ShellSession(store)
        try session.run()
        Output.finish()
        // The commands have reported their errors.
        guard !session.isInteractive, let code = Failure.Code(rawValue: session.worst) else { return }
        throw Failure(code, "")
    }
}
