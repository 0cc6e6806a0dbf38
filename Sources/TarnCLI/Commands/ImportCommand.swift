// `tarn import`: the records of responses that other programs have fetched, or received.

import ArgumentParser
import Foundation
import Tarn

struct ImportCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "import",
        abstract: "Import responses from files or standard input: saved ones, or those of other programs.",
        discussion: """
            Each file is the body of a response to an endpoint, or has records of an entity: a list, or one object. It \
            is imported as one change, as if Tarn had requested it, and nothing is sent. So the body of a webhook \
            becomes a record at once, and an API that only another program can reach has a store.

            An import has the last word: import nothing that is older than what the store has, or declare a `version` \
            of the entity. Local changes stay. The bodies answer no later request, and delete no orphans; the next \
            sync reads the lists of changed records again. If records were skipped, or a body states an error beside \
            its records, the exit code is 3.

            Examples:
              tarn import issues page-1.json page-2.json
              gh api repos/acme/anvil/issues | tarn import issues
              tarn import Issue hook.json --records issue           the object in the member `issue` of a webhook
              tarn import comments saved.json --parent 7            an endpoint with for_each
              tarn import issues saved.json --with owner=acme       a parameter that the mapping reads
            """)

    @Argument(help: "Name of an endpoint, or of an entity.") var target: String
    @Argument(help: ArgumentHelp("Files; - for standard input (default: standard input).", valueName: "file"))
    var files: [String] = []
    @Option(
        help: ArgumentHelp(
            "JSON path of the records (default: that of the endpoint; of an entity, the whole body).",
            valueName: "path"))
    var records: String?
    @Option(help: ArgumentHelp("Key of the record for which an endpoint with for_each is requested.", valueName: "key"))
    var parent: String?
    @Option(
        parsing: .singleValue,
        help: ArgumentHelp("Parameter of the endpoint. May be repeated.", valueName: "name=value"))
    var with: [String] = []
    @OptionGroup var description: DescriptionOption
    @Option(help: ArgumentHelp("Store directory (default: from the description).", valueName: "path")) var store:
        String?
    @Flag(name: [.short, .long], help: "Print only failures and what was not imported.") var quiet = false
    @OptionGroup var format: ReportFormatOption

    func run() async throws {
        let names = try checkedFiles()
        var description = try description.load()
        let endpoint = try endpoint(of: description)
        let name = description.apiName(of: endpoint)
        let api = description.apis.first { $0.name == name }?.api ?? description.api
        let limit = api.transport.maximumBodySize
        // Nothing is sent.
        description.keepCredentials(ofEndpoints: [])
        let path = store ?? description.storePath, schema = description.schema
        let store = try Failure.ofLocking { try Store.open(at: path, schema: schema) }
        var options = APIClient.Options()
        options.requiresSecrets = false
        let cache = RecordCache(
            try APIClient(description, store: store, options: options) { CurlTransport($1.transport) })
        let importing = try BodyImport(cache, endpoint, parent: try parentKey(of: endpoint, store))
        let failed = try await FollowedTask.value {
            var sum = Sum()
            for name in names {
                do {
                    let body = try ImportCommand.body(name, limit: limit)
                    sum.add(try await importing.add(body, named: ImportCommand.shown(name)), named: name)
                } catch {
                    // The files before are imported.
                    if sum.files > 0 { show(sum) }
                    throw ImportCommand.failure(error, after: sum.files)
                }
                try Task.checkCancellation()
            }
            show(sum)
            return sum.failure
        }
        if let failed { throw failed }
    }

    /// The files, each of which can be opened.
    private func checkedFiles() throws -> [String] {
        guard !files.isEmpty else {
            guard isatty(STDIN_FILENO) == 0 else {
                throw Failure(.usage, "no file is named, and standard input is a terminal: name files, or -")
            }
            return ["-"]
        }
        guard files.filter({ $0 == "-" }).count <= 1 else {
            throw Failure(.usage, "- is named twice: standard input can be read once")
        }
        // A misspelt name fails before anything is imported.
        for file in files where file != "-" {
            guard access(file, R_OK) == 0 else {
                throw Failure(.failed, "\(file): cannot be read: \(String(cString: strerror(errno)))")
            }
        }
        return files
    }

    /// The endpoint that is named, or one that lists the entity that is named.
    private func endpoint(of description: Description) throws -> Endpoint {
        var endpoint: Endpoint
        if let known = description.endpoints.first(where: { $0.name == target }) {
            endpoint = known
        } else if description.schema.entities.contains(where: { $0.name == target }) {
            endpoint = Endpoint(name: target, path: "/", entity: target)
            endpoint.place = description.file
        } else {
            throw Failure(
                .usage,
                Spelling.unknown(
                    "endpoint or entity", target,
                    among: description.endpoints.map(\.name) + description.schema.entities.map(\.name)))
        }
        if let records {
            guard let path = JSONPath(records) else {
                throw Failure(.usage, "--records \(records): is not a JSON path, such as data.issues")
            }
            (endpoint.records, endpoint.envelope) = (path, [])
        }
        for text in with {
            guard let sign = text.firstIndex(of: "="), sign > text.startIndex else {
                throw Failure(.usage, "--with \(text): expected NAME=VALUE")
            }
            let name = String(text[..<sign])
            endpoint.replaceParameters(by: [.init(name, String(text[text.index(after: sign)...]))])
        }
        return endpoint
    }

    private func parentKey(of endpoint: Endpoint, _ store: Store) throws -> RecordKey? {
        guard let forEach = endpoint.forEach else {
            guard parent == nil else {
                throw Failure(.usage, "--parent \(parent ?? ""): \(target) is not requested for records of an entity")
            }
            return nil
        }
        guard let parent else {
            // Without a relationship to it, the records do not depend on it.
            guard forEach.parent != nil else { return nil }
            throw Failure(
                .usage,
                "\(target) is requested for each \(forEach.entity): name the record whose response it is with --parent")
        }
        return try RecordKey(argument: parent, of: try store.catalog.requireEntity(forEach.entity))
    }

    // MARK: Files

    private static func shown(_ name: String) -> String { name == "-" ? "standard input" : name }

    /// Reads a file, or standard input to its end.
    private static func body(_ name: String, limit: Int) throws -> [UInt8] {
        let data: Data
        do {
            if name == "-" {
                try StandardInput.require()
                data = try FileHandle.standardInput.read(upToCount: limit == .max ? limit : limit + 1) ?? Data()
            } else {
                let handle = try FileHandle(forReadingFrom: URL(fileURLWithPath: name))
                defer { try? handle.close() }
                data = try handle.read(upToCount: limit == .max ? limit : limit + 1) ?? Data()
            }
        } catch let failure as Failure {
            throw failure
        } catch {
            throw Failure(.failed, "\(shown(name)): cannot be read: \(Failure.reason(error))")
        }
        guard data.count <= limit else {
            throw Failure(
                .failed, "\(shown(name)): larger than \(limit) bytes (transport.largest_body in tarn.yaml)")
        }
        return [UInt8](data)
    }

    // MARK: Reports

    /// The reports of the files so far.
    private struct Sum {
        var report = ImportReport()
        var files = 0
        var errors: [String] = []

        mutating func add(_ result: BodyImport.Result, named name: String) {
            files += 1
            report.add(result.report)
            let name = ImportCommand.shown(name)
            if result.isPassedOver {
                errors.append("\(name): nothing imported: a rule of the description says that it has no records")
            }
            if let error = result.statedError { errors.append("\(name): \(error)") }
        }

        /// The failure of an import that is not complete; nil if nothing was left out.
        var failure: Failure? {
            let texts = errors + [report.skippedText, report.unfitText].compactMap(\.self)
            return texts.isEmpty ? nil : Failure(.partly, texts.joined(separator: "; "))
        }
    }

    private static func failure(_ error: any Error, after files: Int) -> any Error {
        guard files > 0 else {
            return (error as? BodyImport.Failure).map { Failure(.failed, $0.description) } ?? error
        }
        let rest = "; \(files == 1 ? "the file" : "the \(files) files") before it \(files == 1 ? "is" : "are") imported"
        switch error {
        case let error as BodyImport.Failure: return Failure(.partly, error.description + rest)
        case let error as Failure where error.code == .failed: return Failure(.partly, error.message + rest)
        default: return error
        }
    }

    private func show(_ sum: Sum) {
        let report = sum.report
        if !quiet {
            switch format.format {
            case .json: Output.line(ImportCommand.json(sum))
            case .table: Output.lines(ImportReport.entityLines(report.entities).joined(separator: "\n"))
            }
        }
        (report.unmappedLines + report.diagnosticLines).forEach { Output.note($0) }
        if report.older > 0 {
            Output.note("\(countText(report.older, "record")) older than the stored version: the stored one was kept")
        }
    }

    private static func json(_ sum: Sum) -> String {
        var text = "{\"files\":\(sum.files),\"listed\":\(sum.report.listed)"
        ImportReport.appendEntities(sum.report.entities, to: &text)
        return text + "}"
    }
}
