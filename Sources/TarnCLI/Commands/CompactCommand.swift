import ArgumentParser
import Foundation
import Tarn
import TarnInspect

/// The command `tarn store compact`.
struct CompactCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "compact",
        abstract: "Shrink the file of a store to its content. Needs exclusive access.",
        discussion: """
            If another process has the store open, the command names it and does nothing. The disk needs room for a \
            second file beside the first. Pages that were half empty are full afterwards, those of indexes as well: \
            after a first sync a store often becomes a fifth smaller. `tarn store rewrite` beforehand compresses all \
            rows with the newest dictionary.

            Damaged rows are copied as they are; the exit code is then 6.

            Example:
              tarn store compact forge.tarn
            """)

    @Argument(help: "Store directory.") var store: String

    func run() throws {
        // The new file has meta pages of its own, which would hide that commits are missing.
        if let finding = (try? StoreInspector(at: store).metaPageFindings())?.first {
            throw Failure(damagedPages: finding, of: store)
        }
        let report: CompactionReport
        do { report = try Store.compact(at: store) } catch StoreError.lmdb(let reason) where reason.kind == .corrupted {
            throw Failure(
                .store,
                "\(store): pages of the file are damaged or lost; nothing was changed. `tarn inspect verify \(store)` "
                    + "names them, `tarn inspect salvage \(store) NEW` brings the readable records into a new store")
        }
        Output.line("\(store): \(byteText(report.bytesBefore)) before, \(byteText(report.bytesAfter)) now")
        guard report.damagedRows > 0 else { return }
        throw Failure(
            .store,
            "\(store): compacted, with \(countText(report.damagedRows, "damaged row")) as before: "
                + "`tarn inspect verify \(store)` shows where, `tarn store repair` repairs")
    }
}
