// `tarn changes`: the change log of a store.

import ArgumentParser
import Foundation
import Tarn

struct ChangesCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "changes",
        abstract: "Show which records were created, updated and deleted.",
        discussion: """
            A store remembers its changes for 7 days, unless it is configured otherwise. The last line of output is a \
            token for --since: as JSON on standard output, or on standard error below a table.

            Examples:
              tarn changes                                 all remembered changes
              tarn changes --since "$TOKEN" --entity Issue
              tarn changes --follow                        until interrupted: every commit, of any process
            """)

    @Option(help: ArgumentHelp("Only changes after this token.", valueName: "token"))
    var since: String?
    @Option(
        name: .customLong("entity"), parsing: .singleValue,
        help: ArgumentHelp("Only this entity. May be repeated.", valueName: "entity"))
    var entities: [String] = []
    @Option(help: "Number of changes to show (default: all).") var limit: Int?
    @Flag(help: "Keep running, and show further changes as they are committed.") var follow = false
    @OptionGroup var format: FormatOption
    @OptionGroup var store: StoreOptions

    func validate() throws {
        if let limit, limit < 1 { throw ValidationError("--limit must be at least 1") }
        if let since, ChangeToken(since) == nil {
            throw ValidationError("--since \(since): not a token of `tarn changes`")
        }
    }

    func run() async throws {
        let store = try store.open()
        let names = entities.isEmpty ? nil : entities
        let start = try store.read { reader in
            for name in entities { _ = try reader.catalog.requireEntity(name) }
            return try since.flatMap { ChangeToken($0) } ?? reader.oldestChangeToken
        }
        var printer = ChangePrinter(format: format.format, left: limit ?? .max, token: start)
        guard follow else {
            try printer.show(store, names)
            return printer.end()
        }
        // An interrupt stops between two outputs, not inside a line.
        try await FollowedTask.run {
            for try await _ in store.observe({ try $0.sequence }) {
                try printer.show(store, names)
                Output.flush()
                if printer.left == 0 { break }
            }
            printer.end()
        }
    }
}

/// A printer of changes, page by page, with its position in the change log.
private struct ChangePrinter {
    let format: OutputFormat
    var left: Int
    var token: ChangeToken

    mutating func show(_ store: Store, _ entities: [String]?) throws {
        var hasMore = true
        while hasMore, left > 0 {
            let page = try store.read { try $0.changes(since: token, of: entities, limit: min(left, 1000)) }
            var table = Table(["change", "operation", "entity", "key", "fields"])
            for change in page.changes {
                switch format {
                case .json: Output.json(change.json)
                case .table:
                    let fields = change.fields?.map { "\($0.name)=\($0.value.plainText)" }.joined(separator: " ")
                    let place = "\(change.sequence).\(change.ordinal)"
                    table.add([place, change.operation.rawValue, change.entity, change.key.description, fields ?? ""])
                }
            }
            if format == .table, !page.changes.isEmpty { table.lines(width: Output.width).forEach(Output.line) }
            token = page.token
            left -= page.changes.count
            hasMore = page.hasMore
        }
    }

    func end() {
        switch format {
        case .json: Output.json("{\"token\":\"\(token)\"}")
        case .table: Output.note("token: \(token)")
        }
    }
}

extension Change {
    /// The change as one JSON object in one line.
    fileprivate var json: String {
        var text =
            "{\"sequence\":\(sequence),\"ordinal\":\(ordinal),\"operation\":\"\(operation.rawValue)\",\"entity\":"
        text.appendJSONString(entity)
        text += ",\"key\":"
        key.appendJSON(to: &text)
        if let fields {
            if isPartial { text += ",\"partial\":true" }
            text += ",\"fields\":"
            Record(entity: entity, key: key, fields: fields).appendFieldsJSON(to: &text)
        }
        return text + "}"
    }
}
