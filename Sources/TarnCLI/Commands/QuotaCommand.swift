import ArgumentParser
import Foundation
import Tarn

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
        let open = try Failure.ofLocking {
            try Store.open(at: store, options: Store.Options(isReadOnly: set == nil && !none))
        }
        do {
            if set != nil || none { try open.setQuota(set?.bytes) }
        } catch let error as StoreOpenError {
            guard case .quotaOutOfRange = error else { throw error }
            throw Failure(.usage, "--set: \(error)")
        }
        let size = (try? FileManager.default.attributesOfItem(atPath: open.path + "/data.mdb")[.size] as? Int) ?? 0
        Output.line(
            "\(open.path): \(byteText(size)) "
                + (try open.quota.map { "of \(byteText($0)) (\($0) bytes)" } ?? "used, no quota"))
    }
}
