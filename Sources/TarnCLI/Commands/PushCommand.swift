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
        let outbox = try sending.outbox(), isJSON = json
        guard watch else { return try await outbox.sendAndReport(isJSON: isJSON) }
        try await FollowedTask.run {
            do {
                try await outbox.run { report in
                    // A pass without an attempt, a stop or a warning is not shown.
                    let attempts = report.sent + report.failed + report.dead + report.withdrawn
                    guard attempts > 0 || report.stop != nil || !report.warnings.isEmpty else { return }
                    report.show(isJSON: isJSON)
                    if let stop = report.stop { Output.note(stop.message) }
                }
            } catch is CancellationError {}
        }
    }
}
