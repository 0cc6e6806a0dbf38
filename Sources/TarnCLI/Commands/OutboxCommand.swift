// `tarn outbox`: the local changes that still have to reach the server.

import ArgumentParser

struct OutboxCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "outbox",
        abstract: "List, show, retry and discard queued local changes.",
        discussion: """
            Examples:
              tarn outbox list
              tarn outbox list --state dead
              tarn outbox show 12
              tarn outbox retry 12
              tarn outbox discard 12             roll the local change back
            """,
        subcommands: [
            OutboxListCommand.self, OutboxShowCommand.self, OutboxRetryCommand.self, OutboxDiscardCommand.self,
        ])
}
