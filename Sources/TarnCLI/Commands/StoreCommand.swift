// `tarn store`: what operating a store needs. Unlike `tarn inspect`, these commands change it, or make another one.

import ArgumentParser
import Foundation
import Tarn
import TarnInspect

struct StoreCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "store",
        abstract: "Back up, compact, rewrite and repair a store, and see who reads it.",
        discussion: """
            Examples:
              tarn store backup forge.tarn backups/2026-11-22.tarn
              tarn store compact forge.tarn
              tarn store readers forge.tarn
            """,
        subcommands: [
            BackupCommand.self, CompactCommand.self, RewriteCommand.self, RepairCommand.self, ReadersCommand.self, QuotaCommand.self,
        ])
}

struct BackupCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "backup",
        abstract: "Write a copy of a store that may be in use.",
        discussion: """
            The copy is as of one commit, complete when it gets its name, and a store of its own: to restore it, put it where
            the store was. It leaves free pages out, unless --as-it-is is given.

            Examples:
              tarn store backup forge.tarn backups/forge.tarn
              tarn store backup forge.tarn backups/forge.tarn --verify
            """)

    @Argument(help: "The store's directory.") var store: String
    @Argument(help: "The copy's directory, which must not exist.") var copy: String
    @Flag(help: "Copy the file as it is, with its free pages.") var asItIs = false
    @Flag(help: "Look at everything in the copy afterwards.") var verify = false
    @OptionGroup var immutable: ImmutableOption

    func run() throws {
        let options = Store.Options(isReadOnly: true, isImmutable: immutable.immutable)
        let report = try Store.open(at: store, options: options).backup(to: copy, isCompacted: !asItIs)
        Output.line("\(copy): commit \(report.sequence), \(byteText(report.bytes)), incarnation \(report.incarnation)")
        guard verify else { return }
        let found = try StoreVerification(ofStoreAt: copy)
        guard found.isSound else {
            throw Failure(.store, "\(copy): the copy is not sound (\(found.total) findings), since the store is not: tarn inspect verify \(store)")
        }
        Output.line("\(copy): sound")
    }
}

struct CompactCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "compact",
        abstract: "Make the file of a store as small as what it holds. Needs the store alone.",
        discussion: """
            Whoever has the store open is named, and nothing is done. There must be room for a second file beside the first.
            `rewrite` before it fills pages that are half empty.

            Example:
              tarn store compact forge.tarn
            """)

    @Argument(help: "The store's directory.") var store: String

    func run() throws {
        let report = try Store.compact(at: store)
        Output.line("\(store): \(byteText(report.bytesBefore)) before, \(byteText(report.bytesAfter)) now")
    }
}

struct RewriteCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "rewrite",
        abstract: "Store all rows again: newly compressed, and in pages that are full.",
        discussion: """
            Records stay what they are. Others may read and write meanwhile. If it is interrupted, it goes on from there when it
            is run again.

            Examples:
              tarn store rewrite forge.tarn
              tarn store rewrite forge.tarn --entity Issue
            """)

    @Argument(help: "The store's directory.") var store: String
    @Option(help: "Only this entity, and those that share its table.") var entity: String?
    @Flag(help: "Show how far it is, on standard error; by default if that is a terminal.") var progress = false

    func run() throws {
        let meter = ProgressMeter(isShown: progress || Output.errorIsTerminal)
        let report = try Store.open(at: store).rewrite(entity, progress: { meter.show($0.rows, of: $0.total, "rows") })
        meter.clear()
        Output.line(
            "\(report.rows) rows, \(report.rewritten) written anew: \(byteText(report.bytesBefore)) before, \(byteText(report.bytesAfter)) now"
                + (report.dictionariesDropped > 0 ? "; \(report.dictionariesDropped) dictionaries dropped" : ""))
    }
}

struct ReadersCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "readers",
        abstract: "Show the processes that read a store, and how far their snapshots lie back.",
        discussion: """
            As long as a snapshot is held, no page that was freed since is used again, and the file grows. Places of processes
            that were killed are freed by every process that opens the store, and by --clear.

            Examples:
              tarn store readers forge.tarn
              tarn store readers forge.tarn --clear
            """)

    @Argument(help: "The store's directory.") var store: String
    @Flag(help: "Free the places of processes that are no more.") var clear = false
    @OptionGroup var format: FormatOption

    func run() throws {
        let slots = try Store.readers(ofStoreAt: store, clearing: clear)
        var table = Table(["process", "name", "state", "transaction", "behind"], rightAligned: [0, 3, 4])
        for slot in slots {
            let state = slot.isStale ? (clear ? "cleared" : "stale") : slot.transaction == nil ? "idle" : "reading"
            switch format.format {
            case .table:
                table.add(["\(slot.processID)", slot.processName ?? "", state, slot.transaction.map(String.init) ?? "", slot.lag.map(String.init) ?? ""])
            case .json:
                let values: [String: Any?] = [
                    "process": slot.processID, "name": slot.processName, "state": state, "transaction": slot.transaction, "behind": slot.lag,
                ]
                try Output.json(values)
            }
        }
        guard format.format == .table else { return }
        if !slots.isEmpty { table.lines(width: Output.width).forEach(Output.line) }
        Output.note("\(slots.count) \(slots.count == 1 ? "reader" : "readers"), \(slots.count { $0.isStale }) \(clear ? "cleared" : "stale")")
    }
}

struct QuotaCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "quota",
        abstract: "Show or change how large the file of a store may get.",
        discussion: """
            Writes that would make the file larger fail with "the store is full"; deletes still work.

            Examples:
              tarn store quota forge.tarn
              tarn store quota forge.tarn --set 2GiB
              tarn store quota forge.tarn --none
            """)

    @Argument(help: "The store's directory.") var store: String
    @Option(help: ArgumentHelp("The new quota: bytes, or with KiB, MiB, GiB, TiB behind it.", valueName: "size")) var set: ByteSize?
    @Flag(help: "Have no quota.") var none = false

    func validate() throws {
        if set != nil, none { throw ValidationError("--set and --none exclude each other") }
    }

    func run() throws {
        let store = try Store.open(at: store, options: Store.Options(isReadOnly: set == nil && !none))
        if set != nil || none { try store.setQuota(set?.bytes) }
        let size = (try? FileManager.default.attributesOfItem(atPath: store.path + "/data.mdb")[.size] as? Int) ?? 0
        Output.line("\(store.path): \(byteText(size)) " + (try store.quota.map { "of \(byteText($0)) (\($0) bytes)" } ?? "used, no quota"))
    }
}

/// A number of bytes as it is typed: `1048576`, `64MiB`, `1.5 GiB`.
struct ByteSize: ExpressibleByArgument {
    var bytes: Int

    init?(argument: String) {
        let text = argument.lowercased().filter { $0 != " " }
        let units = [("tib", 1 << 40), ("gib", 1 << 30), ("mib", 1 << 20), ("kib", 1 << 10), ("b", 1), ("", 1)]
        guard let (unit, size) = units.first(where: { text.hasSuffix($0.0) }), let number = Double(text.dropLast(unit.utf8.count)),
            number > 0, number * Double(size) < Double(1 << 50)
        else { return nil }
        bytes = Int(number * Double(size))
    }
}

/// A size for people.
func byteText(_ bytes: Int) -> String {
    var value = Double(bytes), unit = 0
    let units = ["B", "KiB", "MiB", "GiB", "TiB"]
    while value >= 1024, unit < units.count - 1 {
        value /= 1024
        unit += 1
    }
    return unit == 0 ? "\(bytes) B" : "\((value * 10).rounded() / 10) \(units[unit])"
}
