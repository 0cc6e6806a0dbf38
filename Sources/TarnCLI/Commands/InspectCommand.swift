// `tarn inspect`: reads a store file without its description and without changing it.

import ArgumentParser
import Foundation

struct InspectCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "inspect",
        abstract: "Inspect a store, without its description file and without changing it.",
        discussion: """
            Examples:
              tarn inspect stat forge.tarn
              tarn inspect dump forge.tarn | head -3
              tarn inspect get forge.tarn Issue 7
              tarn inspect keys forge.tarn Issue --limit 10
              tarn inspect grep forge.tarn 'rate limit'
              tarn inspect diff backup.tarn forge.tarn
              tarn inspect export forge.tarn --sqlite forge.db
              tarn inspect verify forge.tarn
              tarn inspect shell forge.tarn
              tarn inspect web forge.tarn
            """,
        subcommands: [
            StatCommand.self, DumpCommand.self, InspectGetCommand.self, InspectKeysCommand.self,
            InspectSchemaCommand.self, InspectCacheCommand.self, InspectChangesCommand.self, InspectReadersCommand.self,
            InspectTopCommand.self, InspectGrepCommand.self, InspectWatchCommand.self, InspectPagesCommand.self,
            DiffCommand.self, ExportCommand.self, VerifyCommand.self, SalvageCommand.self, InspectShellCommand.self,
            WebCommand.self,
        ])
}

/// Reports on standard error that a file was read without locks, and the reason.
///
/// A commit during the read is an error of its own.
func noteWithoutLocks(_ store: String, _ reason: String?) {
    if let reason { Output.error("\(store): read without locks: \(reason)") }
}
