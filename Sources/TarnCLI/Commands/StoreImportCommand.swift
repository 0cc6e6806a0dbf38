// `tarn store import`: the records of a dump, back in a store.

import ArgumentParser
import Foundation
import Tarn
import TarnInspect

struct StoreImportCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "import",
        abstract: "Import the lines of `tarn inspect dump` into a new store, or into an existing one.",
        discussion: """
            A new store has the schema of another store (--schema-of) or of the description, and appears when every \
            record is in it: records keep their versions, and its dump equals the file. Responses, the change log, \
            the outbox and the progress of scans are not in a dump. With --merge, the fields of the file are set in \
            an existing store, in transactions of at most 2,000 records, and logged as changes with new versions; \
            all lines are checked first. Lines with problems are reported with their number, and nothing is imported \
            (exit code 1); with --skip-bad, all others are imported (exit code 3). Of two lines of a record, the \
            second one is a problem. If the store refuses a line of --merge, such as a value that must be unique, \
            the transactions before it stay (exit code 3). So they do if the file changes meanwhile, or if the store \
            itself fails, such as on a full disk (exit code 6).

            Examples:
              tarn inspect dump forge.tarn > forge.ndjson
              tarn store import copy.tarn forge.ndjson --schema-of forge.tarn
              tarn store import new.tarn forge.ndjson --file tarn.yaml
              zstdcat forge.ndjson.zst | tarn store import copy.tarn - --schema-of forge.tarn
              tarn store import forge.tarn labels.ndjson --merge
            """)

    @Argument(help: "Store directory: a new one, or with --merge an existing one.") var store: String
    @Argument(help: ArgumentHelp("The lines; - for standard input.", valueName: "file.ndjson")) var lines: String
    @Option(help: ArgumentHelp("Store with the schema of the new one (default: the description).", valueName: "store"))
    var schemaOf: String?
    @OptionGroup var description: DescriptionOption
    @Flag(help: "Set the fields of the file in an existing store.") var merge = false
    @Flag(help: "Import the other lines if some have problems.") var skipBad = false

    func validate() throws {
        if merge, schemaOf != nil {
            throw ValidationError("--merge keeps the schema of the store: leave out --schema-of")
        }
        if merge, lines == "-" || StoreImportCommand.isStream(lines) {
            throw ValidationError("--merge reads the file twice: it needs a file, not a pipe")
        }
    }

    /// Whether a path leads to a pipe or the like, of which a second reading finds nothing.
    private static func isStream(_ path: String) -> Bool {
        var status = stat()
        guard stat(path, &status) == 0 else { return false }
        return ![S_IFREG, S_IFDIR].contains(status.st_mode & S_IFMT)
    }

    func run() throws {
        let report = try merge ? mergeLines() : createStore()
        for problem in report.problems {
            Output.error("\(lines):" + (problem.line.map { "\($0):" } ?? "") + " \(problem.reason)")
        }
        if report.problemCount > report.problems.count {
            Output.error("\(lines): \(countText(report.problemCount - report.problems.count, "more problem"))")
        }
        if report.isStored {
            let stored = report.records.filter { $0.count > 0 }
            Output.line(
                "\(store): \(countText(stored.reduce(0) { $0 + $1.count }, "record"))"
                    + (stored.isEmpty ? "" : ": " + stored.map { "\($0.count) \($0.entity)" }.joined(separator: ", ")))
        }
        if let failure = report.failure {
            if let line = report.stoppedAt { Output.error("\(lines):\(line): not imported from here on") }
            guard failure is LineFile.Changed else { throw failure }
            throw Failure(.partly, "\(lines): changed while it was read: repeat the import")
        }
        guard report.problemCount > 0 else { return }
        let problems = countText(report.problemCount, "line") + " with a problem"
        if report.isStored, let line = report.stoppedAt {
            throw Failure(
                .partly,
                "\(problems); line \(line) and all after it were not imported"
                    + (skipBad ? "" : " (--skip-bad imports all but the bad ones)"))
        }
        throw report.isStored
            ? Failure(.partly, "\(problems); the other records were imported")
            : Failure(
                .failed, "\(problems); nothing was imported" + (skipBad ? "" : " (--skip-bad imports the others)"))
    }

    private func createStore() throws -> RecordLineImport.Report {
        if FileManager.default.fileExists(atPath: store) {
            throw Failure(.failed, "\(store) exists: use --merge to set the fields of the file in it")
        }
        return try Failure.ofLocking {
            let catalog =
                try schemaOf.map { try StoreInspector(at: $0).storedCatalog() }
                ?? Catalog(of: try description.load().schema)
            return try RecordLineImport.create(store, catalog, from: try lineFile(), skippingProblems: skipBad)
        }
    }

    private func mergeLines() throws -> RecordLineImport.Report {
        let path = store
        let store = try Failure.ofLocking { try Store.open(at: path) }
        do {
            return try RecordLineImport.merge(try lineFile(), into: store, skippingProblems: skipBad)
        } catch is LineFile.Changed {
            throw Failure(.failed, "\(lines): changed while it was read; nothing was imported: repeat the import")
        }
    }

    private func lineFile() throws -> LineFile {
        if lines == "-" {
            try StandardInput.require()
            return LineFile(FileHandle.standardInput)
        }
        var isDirectory: ObjCBool = false
        if FileManager.default.fileExists(atPath: lines, isDirectory: &isDirectory), isDirectory.boolValue {
            throw Failure(.failed, "\(lines): cannot be read: it is a directory")
        }
        do {
            return try LineFile(path: lines)
        } catch {
            throw Failure(.failed, "\(lines): cannot be read: \(Failure.reason(error))")
        }
    }
}
