import ArgumentParser
import Foundation
import TarnInspect

/// A command that asks about one store file. The shell runs it on the snapshot that it holds.
protocol InspectingCommand: ParsableCommand {
    /// The path of the file.
    var store: String { get }

    func run(on inspector: StoreInspector) throws
}

extension InspectingCommand {
    func run() throws { try run(on: StoreInspector(reportingLagAt: store)) }
}

extension StoreInspector {
    /// Creates an inspector that notes on standard error when its snapshot holds up writers.
    ///
    /// `TARN_SNAPSHOT_SECONDS` is the age from which it does; 0 for never.
    init(reportingLagAt store: String) {
        self.init(at: store)
        let text = ProcessInfo.processInfo.environment["TARN_SNAPSHOT_SECONDS"]
        let seconds = text.flatMap { Double($0) } ?? 5
        guard seconds > 0, seconds < 1e9 else { return }
        reportLag(after: .seconds(seconds)) { lag in
            Output.note(
                "\(store): the snapshot is \(lag.seconds) s old, and writers cannot reuse its pages: "
                    + "\(countText(Int(clamping: lag.commits), "commit")) since, the file has grown by "
                    + byteText(Int(clamping: lag.grownBytes)))
        }
    }
}
