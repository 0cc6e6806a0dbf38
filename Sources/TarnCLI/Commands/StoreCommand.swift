// `tarn store`: operates a store. Unlike `tarn inspect`, these commands change or create stores.

import ArgumentParser
import Foundation

struct StoreCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "store",
        abstract: "Back up, import, compact, rewrite and repair a store; show its readers and its quota.",
        discussion: """
            Examples:
              tarn store backup forge.tarn backups/2026-11-22.tarn
              tarn store compact forge.tarn
              tarn store readers forge.tarn
            """,
        subcommands: [
            BackupCommand.self, StoreImportCommand.self, CompactCommand.self, RewriteCommand.self,
            RepairCommand.self, ReadersCommand.self, QuotaCommand.self,
        ])
}

/// Formats a size with a binary unit, for people.
func byteText(_ bytes: Int) -> String {
    var value = Double(bytes), unit = 0
    let units = ["B", "KiB", "MiB", "GiB", "TiB"]
    while value >= 1024, unit < units.count - 1 {
        value /= 1024
        unit += 1
    }
    return unit == 0 ? "\(bytes) B" : "\((value * 10).rounded() / 10) \(units[unit])"
}
