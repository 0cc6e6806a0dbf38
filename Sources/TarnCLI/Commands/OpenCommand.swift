// `tarn open`: the web page of a record, in a browser.

import ArgumentParser
import Foundation
import Tarn

struct OpenCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "open",
        abstract: "Open the web page of a record in a browser.",
        discussion: """
            The page is the `open:` template of the entity in the description, else the first attribute with a URL: \
            htmlUrl, webUrl, permalink, url and others. Only http and https URLs are opened, with xdg-open.

            Examples:
              tarn open Issue 2262018391
              tarn open Issue 2262018391 --print
            """)

    @Argument(help: "Name of the entity in the description.") var entity: String
    @Argument(help: "Key of the record.") var key: String
    @Flag(name: .customLong("print"), help: "Print the URL, and open nothing.") var isPrinted = false
    @OptionGroup var store: StoreOptions

    func run() throws {
        let store = try store.open(), catalog = store.catalog
        let entity = try catalog.requireEntity(entity), key = try RecordKey(argument: key, of: entity)
        // A store that is named by its path needs no description.
        let description = self.store.description.isThere ? try self.store.description.load() : nil
        let url = try store.read { reader -> HTTPURL in
            guard let record = try reader.record(entity.name, key) else {
                throw Failure(.failed, "\(entity.name) \(key) is not in the store")
            }
            let concrete = catalog.entity(record.entity) ?? entity
            let template = description?.pages[record.entity] ?? description?.pages[entity.name]
            do {
                let base = description?.api(ofEntity: record.entity).base ?? ""
                return try RecordWebPage.url(template: template, base: base) { name in
                    if let value = record[name] { return value == .null ? nil : value.plainText }
                    guard template != nil else { return nil }
                    let printer = try RecordPrinter(concrete, catalog, OutputStyle(.ndjson), fields: name)
                    guard let column = printer.columns.first else { return nil }
                    let value = try column.value(of: record, printer, reader)
                    if case .value(.null) = value { return nil }
                    return value.isAbsent ? nil : value.cell(OutputStyle(.ndjson))
                }
            } catch let problem as RecordWebPage.Problem {
                throw Failure(.failed, "\(entity.name) \(key): \(problem)")
            }
        }
        if isPrinted { return Output.line("\(url)", limit: .max) }
        try OpenCommand.browse(url)
        Output.note("opened \(url)")
    }

    /// Starts xdg-open with the URL as its only argument. No shell is involved.
    private static func browse(_ url: HTTPURL) throws {
        guard let processID = ChildProcess.start(["xdg-open", "\(url)"], isQuiet: true) else {
            throw Failure(.failed, "xdg-open is not installed; the page is \(url)")
        }
        guard ChildProcess.wait(processID) else { throw Failure(.failed, "xdg-open could not open \(url)") }
    }
}
