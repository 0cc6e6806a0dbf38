import ArgumentParser
import Foundation
import Tarn
import TarnInspect

/// The command `tarn store readers`.
struct ReadersCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "readers",
        abstract: "Show the processes that read a store, and how far their snapshots lag behind.",
        discussion: """
            While a snapshot is held, pages that were freed since then cannot be reused, and the file grows. The \
            reader slots of killed processes are freed when any process opens the store, and by --clear.

            Examples:
              tarn store readers forge.tarn
              tarn store readers forge.tarn --clear
            """)

    @Argument(help: "Store directory.") var store: String
    @Flag(help: "Free the reader slots of dead processes.") var clear = false
    @OptionGroup var format: ReportFormatOption

    func run() throws {
        let slots = try Store.readers(ofStoreAt: store, clearing: clear)
        var table = Table(["process", "name", "state", "transaction", "behind"], rightAligned: [0, 3, 4])
        for slot in slots {
            let state = slot.isStale ? (clear ? "cleared" : "stale") : slot.transaction == nil ? "idle" : "reading"
            switch format.format {
            case .table:
                table.add([
                    "\(slot.processID)", slot.processName ?? "", state, slot.transaction.map(String.init) ?? "",
                    slot.lag.map(String.init) ?? "",
                ])
            case .json:
                let values: [String: Any?] = [
                    "process": slot.processID, "name": slot.processName, "state": state,
                    "transaction": slot.transaction, "behind": slot.lag,
                ]
                try Output.json(values)
            }
        }
        guard format.format == .table else { return }
        if !slots.isEmpty { table.lines(width: Output.width).forEach(Output.line) }
        Output.note(
            "\(countText(slots.count, "reader")), \(slots.count { $0.isStale }) \(clear ? "cleared" : "stale")"
        )
    }
}
