// The readers of a store, for `tarn inspect readers` and `tarn store readers`.

import Foundation
import Tarn

enum ReaderReport {
    /// Shows the reader slots of other processes.
    ///
    /// - Parameter clear: Whether the slots of dead processes are freed.
    static func show(_ store: String, clear: Bool, _ format: ReportFormat) throws {
        var isDirectory: ObjCBool = false
        if clear, FileManager.default.fileExists(atPath: store, isDirectory: &isDirectory), !isDirectory.boolValue,
            URL(fileURLWithPath: store).lastPathComponent != "data.mdb"
        {
            throw Failure(
                .usage,
                "\(store): --clear is for a directory with a data.mdb; the program of this file can free the slots")
        }
        let slots = try Failure.ofLocking { try Store.readers(ofStoreAt: store, clearing: clear) }
        var table = Table(
            ["process", "name", "state", "transaction", "behind", "running"], rightAligned: [0, 3, 4, 5])
        for slot in slots {
            let state = slot.isStale ? (clear ? "cleared" : "stale") : slot.transaction == nil ? "idle" : "reading"
            switch format {
            case .table:
                table.add([
                    "\(slot.processID)", slot.processName ?? "", state, slot.transaction.map(String.init) ?? "",
                    slot.lag.map(String.init) ?? "", slot.processAge.map { "\($0) s" } ?? "",
                ])
            case .json:
                let values: [String: Any?] = [
                    "process": slot.processID, "name": slot.processName, "state": state,
                    "transaction": slot.transaction, "behind": slot.lag, "seconds": slot.processAge,
                ]
                try Output.json(values)
            }
        }
        guard format == .table else { return }
        if !slots.isEmpty { table.lines(width: Output.width).forEach(Output.line) }
        Output.note(
            "\(countText(slots.count, "reader")), \(slots.count { $0.isStale }) \(clear ? "cleared" : "stale")"
        )
    }
}
