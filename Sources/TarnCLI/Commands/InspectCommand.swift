// `tarn inspect`: looks into a store file without the description it was made with, and without changing it.

import ArgumentParser
import Foundation
import Tarn
import TarnInspect

struct InspectCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "inspect",
        abstract: "Look into a store, without its description file and without changing it.",
        discussion: """
            Examples:
              tarn inspect stat forge.tarn
              tarn inspect dump forge.tarn | head -3
              tarn inspect verify forge.tarn
            """,
        subcommands: [StatCommand.self, DumpCommand.self, VerifyCommand.self, SalvageCommand.self])
}

/// Says on standard error that a file was read without locks, and why. A commit that came in between is an error by itself.
func noteWithoutLocks(_ store: String, _ reason: String?) {
    if let reason { Output.error("\(store): read without locks: \(reason)") }
}
