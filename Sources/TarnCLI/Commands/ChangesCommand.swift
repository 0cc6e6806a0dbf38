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
            token for --since: as JSON on standard output after JSON lines, else on standard error.

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
        var printer = ChangePrinter(format.style, left: limit ?? .max, token: start, isFollowing: follow)
        guard follow else {
            format.beginOutput()
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
    let style: OutputStyle
    var left: Int
    var token: ChangeToken
    /// Whether further changes may come much later: each page is then a table of its own.
    let isFollowing: Bool
    private var rows: RowWriter?

    init(_ style: OutputStyle, left: Int, token: ChangeToken, isFollowing: Bool) {
        self.style = style
        self.left = left
        self.token = token
        self.isFollowing = isFollowing
    }

    mutating func show(_ store: Store, _ entities: [String]?) throws {
        var hasMore = true
        while hasMore, left > 0 {
            let page = try store.read { try $0.changes(since: token, of: entities, limit: min(left, 1000)) }
            var rows = rows ?? RowWriter(Change.columns, style)
            for change in page.changes { rows.add(members: change.members(style), cells: change.cells(style)) }
            if isFollowing, style.format == .table {
                if !page.changes.isEmpty { rows.end() }
            } else {
                self.rows = rows
            }
            token = page.token
            left -= page.changes.count
            hasMore = page.hasMore
        }
    }

    mutating func end() {
        if var rows, rows.count > 0 || style.format != .table { rows.end() }
        switch style.format {
        case .ndjson: Output.json("{\"token\":\"\(token)\"}")
        default: Output.note("token: \(token)")
        }
    }
}
