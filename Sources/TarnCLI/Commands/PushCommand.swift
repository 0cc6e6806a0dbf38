import ArgumentParser
import Tarn

/// The command `tarn push`.
struct PushCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "push",
        abstract: "Send the queued local changes to the server.",
        discussion: """
            Changes of one record are sent in their order, and after the creation of records that they refer to. After \
            a failure that may pass, a change waits for a delay that doubles with each attempt: a push before its end \
            leaves the change, and `tarn outbox retry` ends the delay. A refusal becomes a dead letter, which `tarn \
            outbox` shows. Interrupting it loses nothing.

            With --watch, the description is read again when it has changed: before the next changes are sent, at the \
            latest a minute later.

            Examples:
              tarn push
              tarn push --watch                  send changes as they are queued, until interrupted
              tarn push --conflicts client       send local values over the server's
              tarn push --base http://127.0.0.1:8080 --json
            """)

    @Flag(help: "Keep running, and send changes as they are queued by any process.") var watch = false
    @Flag(help: "Print the result as JSON.") var json = false
    @OptionGroup var sending: SendingOptions

    func run() async throws {
        guard watch else { return try await sending.outbox().sendAndReport(isJSON: json) }
        let sending = sending, isJSON = json
        let known = DescriptionCache { try sending.description.load() }
        try await FollowedTask.run {
            while true {
                // The description is read first: a change while the store is opened counts.
                let description = try known.description(anew: true)
                do {
                    try await PushCommand.send(by: sending, isJSON) {
                        PushCommand.isChanged(description, known, anew: $0)
                    }
                } catch is CancellationError { return } catch {
                    // Another process may have changed the schema as the new description declares.
                    guard PushCommand.isChanged(description, known, anew: true) else { throw error }
                }
            }
        }
    }

    /// Opens the outbox, and sends changes as they are queued, until the description has changed.
    ///
    /// The store is closed at the end: a schema that is no longer declared must not stay in use.
    ///
    /// - Parameter isChanged: returns whether the description has changed. Its argument is whether
    ///   the schema of the store has, as the commands that queue changes do it.
    private static func send(
        by sending: SendingOptions, _ isJSON: Bool, until isChanged: (_ schema: Bool) -> Bool
    ) async throws {
        let outbox = try sending.outbox(), store = outbox.store
        var catalog = store.catalog
        func isOutdated() -> Bool {
            let current = store.catalog, hasOther = current != catalog
            catalog = current
            return isChanged(hasOther)
        }
        try await outbox.run(isOutdated: isOutdated) { report in
            // A pass without an attempt, a stop or a warning is not shown.
            let attempts = report.sent + report.failed + report.dead + report.withdrawn
            guard attempts > 0 || report.stop != nil || !report.warnings.isEmpty else { return }
            report.show(isJSON: isJSON)
            if let stop = report.stop, !report.hasShown(stop) { Output.note(stop.message) }
        }
    }

    /// Whether a description was changed.
    ///
    /// While it is edited, the file may be invalid: changes are sent as before until it is valid.
    private static func isChanged(_ description: Description, _ known: DescriptionCache, anew: Bool) -> Bool {
        (try? known.description(anew: anew)).map { $0 != description } ?? false
    }
}
