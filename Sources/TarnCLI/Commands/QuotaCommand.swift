import ArgumentParser
import Foundation
import Tarn
import TarnInspect

/// The command `tarn store quota`.
struct QuotaCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "quota",
        abstract: "Show or change the maximum size of a store's file.",
        discussion: """
            A write that would exceed the quota fails with "the store is full"; deletes still work.

            Examples:
              tarn store quota forge.tarn
              tarn store quota forge.tarn --set 2GiB
              tarn store quota forge.tarn --none
            """)

    @Argument(help: "Store directory.") var store: String
    @Option(help: ArgumentHelp("New quota in bytes, or with a unit: KiB, MiB, GiB or TiB.", valueName: "size"))
    var set: ByteSize?
    @Flag(help: "Remove the quota.") var none = false

    func validate() throws {
        if set != nil, none { throw ValidationError("--set and --none exclude each other") }
    }

    func run() throws {
        let store = try Store.open(at: store, options: Store.Options(isReadOnly: set == nil && !none))
        if set != nil || none { try store.setQuota(set?.bytes) }
        let size = (try? FileManager.default.attributesOfItem(atPath: store.path + "/data.mdb")[.size] as? Int) ?? 0
        Output.line(
            "\(store.path): \(byteText(size)) "
                + (try store.quota.map { "of \(byteText($0)) (\($0) bytes)" } ?? "used, no quota"))
    }
}
