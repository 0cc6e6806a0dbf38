// The questions of `tarn inspect` about LMDB files of other programs: where a store has entities
// and records, such a file has tables and entries.

import Foundation
import Tarn
import TarnInspect

/// The questions about the tables of one file.
struct TableQuestions {
    let store: String
    let inspector: StoreInspector

    /// The questions about a file; nil for a store, whose entities are asked about.
    ///
    /// - Parameter unfit: the options of the command that only a store has, and whether they are
    ///   used.
    init?(_ store: String, _ inspector: StoreInspector, unfit: [(option: String, isUsed: Bool)]) throws {
        guard try inspector.isForeign else { return nil }
        for (option, isUsed) in unfit where isUsed {
            throw Failure(.usage, "\(store): \(option) is for stores of Tarn; this is \(TableQuestions.kind)")
        }
        (self.store, self.inspector) = (store, inspector)
    }

    private static let kind = "an LMDB file of another program"

    /// Refuses a question about a part that only stores have.
    ///
    /// - Parameter part: The part: `no change log`.
    static func refuse(_ store: String, _ inspector: StoreInspector, has part: String, instead: String) throws {
        guard try inspector.isForeign else { return }
        throw Failure(.usage, "\(store): \(kind) has \(part); \(instead)")
    }

    /// Refuses a question about records.
    static func refuseRecords(_ store: String, _ inspector: StoreInspector) throws {
        try refuse(
            store, inspector, has: "no records",
            instead: "`schema` lists its tables, and `keys`, `get`, `grep` and `top` answer questions about them")
    }

    private func named<Result>(_ body: () throws -> Result) throws -> Result {
        do { return try body() } catch let error as RecordSelectionError {
            throw Failure(.usage, "\(store): \(error.description)")
        }
    }

    /// Lists the keys of a table. Each of several values of a key is an entry.
    func keys(of table: String, limit: Int, countOnly: Bool) throws {
        let damage = DamageReport(store)
        var found = 0
        let reason = try named {
            try inspector.entries(ofTable: table, damaged: damage.add) { entry in
                guard found < limit else { return false }
                found += 1
                if !countOnly { Output.json(entry.key) }
                return true
            }
        }
        noteWithoutLocks(store, reason)
        if countOnly { Output.line("\(found)") }
        try damage.end("read")
    }

    /// Shows the values of a key: a text, a number of a table of integers, or `0x` and hexadecimal
    /// digits.
    func get(_ key: String, of table: String, limit: Int, json: Bool) throws {
        let damage = DamageReport(store)
        var count = 0, stored = "null", values: [String] = []
        let reason = try named {
            try inspector.entries(ofTable: table, damaged: damage.add) { entry in
                guard entry.hasKey(key) else { return true }
                if count == 0 { stored = entry.key }
                count += 1
                if values.count < limit {
                    values.append(json ? entry.value : "\(entry.valueText)  (\(countText(entry.valueSize, "byte")))")
                }
                return true
            }
        }
        noteWithoutLocks(store, reason)
        if json {
            var text = "{\"table\":"
            text.appendJSONString(table)
            text += ",\"key\":\(stored),\"count\":\(count)"
            Output.json(text + ",\"values\":[\(values.joined(separator: ","))]}")
        } else {
            Output.line("\(table) \(key)" + (count > 0 ? "" : " (not stored)"))
            for value in values { Output.line("  " + value) }
            if count > values.count { Output.line("  and \(count - values.count) more") }
        }
        try damage.end("read")
        guard count > 0 else { throw Failure(.failed, "\(table) \(key) is not in \(store)") }
    }

    /// Shows the keys and values that have a text.
    func grep(_ text: String, _ options: SearchOptions, _ style: OutputStyle?) throws {
        let damage = DamageReport(store)
        var rows = style.map { RowWriter(["table", "key", "part", "text"], $0) }
        let result = try named {
            try inspector.searchEntries(for: text, options, damaged: damage.add) { entry, part, excerpt in
                let table = entry.table.map(OutputValue.text) ?? .absent
                rows?.add(
                    members: [
                        ("table", table), ("key", .json(entry.key)), ("part", .text(part)), ("text", .text(excerpt)),
                    ], cells: [table, .text(entry.keyText), .text(part), .text(excerpt)])
            }
        }
        if result.fields > 0 || style?.format.isForPeople == false { rows?.end() }
        noteWithoutLocks(store, result.aloneBecause)
        if rows == nil { Output.line("\(result.records)") }
        try damage.end("read")
        guard result.records > 0 else { throw Failure(.failed, "") }
    }

    /// Shows the largest entries and the fullest tables.
    func top(of table: String?, limit: Int, json: Bool) throws {
        let use = try inspector.pageUse(largest: limit, of: table)
        // The table without a name has an entry for each named table.
        let own = use.tables.filter {
            $0.name != "(free)" && ($0.name != StoreInspector.mainTable || $0.entries > use.tables.count - 2)
        }
        if let table, !own.contains(where: { $0.name == table }) {
            throw Failure(.usage, "\(store): " + Spelling.unknown("table", table, among: own.map(\.name)))
        }
        noteWithoutLocks(store, use.aloneBecause)
        let entries = use.largest
        let tables = own.filter { table == nil || $0.name == table }.prefix(limit)
        if json {
            let values: [String: Any?] = [
                "largest": entries.map {
                    ["table": $0.table, "key": $0.key, "keyBytes": $0.keyBytes, "valueBytes": $0.valueBytes]
                        as [String: Any]
                },
                "tables": tables.map {
                    ["table": $0.name, "entries": $0.entries, "bytes": $0.pages * use.pageSize] as [String: Any]
                },
            ]
            try Output.json(values)
        } else {
            var largest = Table(["key", "value", "table", "key in hexadecimal"], rightAligned: [0, 1])
            for entry in entries {
                largest.add([byteText(entry.keyBytes), byteText(entry.valueBytes), entry.table, entry.key])
            }
            Output.line("largest entries")
            largest.lines(width: Output.width - 2).forEach { Output.line("  " + $0) }
            Output.line("")
            Output.line("fullest tables")
            var fullest = Table(["size", "entries", "table"], rightAligned: [0, 1])
            for table in tables {
                fullest.add([byteText(table.pages * use.pageSize), "\(table.entries)", table.name])
            }
            fullest.lines(width: Output.width - 2).forEach { Output.line("  " + $0) }
        }
        try StatCommand.end(store, use.findings)
    }

    /// Shows the tables, with their options and the kinds of keys and values.
    func schema(json: Bool) throws {
        let outline = try inspector.tableOutline()
        noteWithoutLocks(store, outline.aloneBecause)
        if json {
            try Output.json(outline.json)
        } else {
            var table = Table(["table", "options", "entries", "keys", "values", "value bytes"], rightAligned: [2])
            for entry in outline.tables {
                let sizes = Set([entry.smallestValue, entry.largestValue]).sorted().map(String.init)
                table.add([
                    entry.name ?? StoreInspector.mainTable, entry.options.joined(separator: ", "), "\(entry.entries)",
                    entry.keys.joined(separator: ", "), entry.values.joined(separator: ", "),
                    sizes.joined(separator: " to "),
                ])
            }
            table.lines(width: Output.width).forEach { Output.line($0) }
        }
        try StatCommand.end(store, outline.findings)
    }

    /// Writes every entry as a line of JSON.
    func export() throws {
        let damage = DamageReport(store)
        let reason = try inspector.entries(ofTable: nil, damaged: damage.add) { entry in
            Output.json(entry.json)
            return true
        }
        noteWithoutLocks(store, reason)
        try damage.end("written")
    }

    /// Shows the tables that each commit changes, until it is interrupted.
    func watch(_ tables: [String], limit: Int?, _ style: OutputStyle, interval: Duration) async throws {
        nonisolated(unsafe) var left = limit ?? .max
        nonisolated(unsafe) var follower = try TableFollower(inspector, of: tables)
        let store = store
        noteWithoutLocks(store, follower.aloneBecause)
        try await FollowedTask.run {
            while left > 0 {
                var rows = RowWriter(["transaction", "table", "change", "entries", "difference"], style)
                try follower.step(replaced: { Output.note("\(store): the file was replaced by another one") }) {
                    change in
                    guard left > 0 else { return }
                    left -= 1
                    let table = change.table.map(OutputValue.text) ?? .absent
                    let sign = change.difference > 0 ? "+" : ""
                    rows.add(
                        members: [
                            ("transaction", .number(Int(clamping: change.transaction))),
                            ("commits", .number(Int(clamping: change.commits))), ("table", table),
                            ("change", .text(change.kind.rawValue)), ("entries", .number(change.entries)),
                            ("difference", .number(change.difference)),
                        ],
                        cells: [
                            .number(Int(clamping: change.transaction)),
                            change.table == nil ? .text(StoreInspector.mainTable) : table,
                            .text(change.kind.rawValue), .number(change.entries),
                            .text("\(sign)\(change.difference)"),
                        ])
                }
                if rows.count > 0 { rows.end() }
                Output.flush()
                if left > 0 { try? await Task.sleep(for: interval) }
                if Task.isCancelled { break }
            }
        }
    }
}
