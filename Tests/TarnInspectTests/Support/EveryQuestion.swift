// Every question of the inspector, asked of a file of unknown health.

import Foundation
import TarnStore

@testable import TarnInspect

/// The questions whose answers may be anything, but must come. A new question is added here.
enum EveryQuestion {
    /// Asks all questions about a file; each may throw.
    ///
    /// - Parameters:
    ///   - sound: A sound store with the same content, to compare with.
    ///   - key: The entity and the key of a record of the store.
    /// - Returns: The number of questions that had an answer.
    @discardableResult
    static func ask(_ path: String, sound: String, key: (String, RecordKey)) -> Int {
        let inspector = StoreInspector(at: path), other = StoreInspector(at: sound)
        var answers = 0
        func ask(_ question: () throws -> Void) {
            if (try? question()) != nil { answers += 1 }
        }
        ask { _ = try inspector.differences(from: other, difference: { _ = $0.json }, damaged: { _, _ in }) }
        ask { _ = try other.differences(from: inspector, difference: { _ = $0.lines }, damaged: { _, _ in }) }
        ask {
            let record = try inspector.record(key.0, key.1)
            _ = (record.lines(bytes: true), record.json(bytes: true))
        }
        for isReversed in [false, true] {
            ask {
                try inspector.keys(
                    of: key.0, KeySelection(isReversed: isReversed), damaged: { _ in }, visit: { _ = $0.description })
            }
        }
        ask {
            let schema = try inspector.schema()
            _ = (schema.yaml, try schema.json)
        }
        ask { _ = try inspector.extremes(damaged: { _ in }) }
        for text in ["e", "1", "Long"] {
            var options = SearchOptions()
            options.ignoresCase = text == "Long"
            ask { try searchEveryWay(inspector, text, options) }
        }
        ask { _ = try inspector.changes(damaged: { _ in }, change: { _ = $0.fields }) }
        ask { _ = try inspector.latestChanges(limit: 100) }
        ask { _ = try inspector.recordPage(of: key.0, targets: 3).targets }
        for filter in [nil] + OutboxFilter.allCases.map(Optional.some) {
            ask { _ = try inspector.outboxPage(in: filter, limit: 3, waits: 10) }
        }
        ask { _ = try inspector.outboxOperation(1).operation }
        ask { for endpoint in try inspector.progress(lists: 2).endpoints { _ = try inspector.lists(of: endpoint.id) } }
        ask { _ = try inspector.syncNotes() }
        ask { _ = try inspector.exportSQL(line: { _ in }, damaged: { _ in }) }
        ask { _ = try inspector.exportCSV(text: { _, _ in }, damaged: { _ in }) }
        for form in [TableDumpForm.hex, .text, .json] {
            for tables in [DumpedTables.all, .main, .named("r/2")] {
                ask { try inspector.dumpTables(tables, as: form, line: { _ in }, damaged: { _ in }) }
            }
        }
        for relationship in ["author", "labels", "parts", "children"] {
            ask {
                _ = try inspector.related(
                    key.0, relationship, key: { _ in key.1 }, damaged: { _ in }, visit: { _ = $0.key })
            }
        }
        for isReversed in [false, true] {
            ask {
                try inspector.selectRecords(
                    of: nil, renewal: 0,
                    { _ in
                        var selection = RecordSelection()
                        selection.isReversed = isReversed
                        return selection
                    }, record: { _ = $0.fields }, damaged: { _ in })
            }
        }
        ask { _ = try inspector.statistics().json }
        ask { _ = try inspector.pageUse(largest: 3).json }
        ask {
            _ = try inspector.isForeign
            _ = try inspector.searchEntries(for: "1", SearchOptions(), damaged: { _ in }) { _ = ($0.key, $0.value, $2) }
        }
        ask { try inspector.responses({ _ = ($0, $1.listing) }, damaged: { _ in }) }
        ask { _ = try inspector.verification(onTwoThreadsFrom: .max) }
        ask { _ = try inspector.verification(onTwoThreadsFrom: 0) }
        ask { try inspector.holdingState { _ = try ($0.storedCatalog(), $0.commitsBehind) } }
        ask {
            let new = path + ".salvaged"
            _ = try inspector.salvage(to: new)
            try? FileManager.default.removeItem(atPath: new)
        }
        return answers
    }
}
