// Local changes that are queued, sent and discarded: every step follows from its number and the
// store, so that a store that was killed can be compared with one that was not.

import Foundation
import TarnStore

enum OutboxWorkload {
    static let schema = Schema([
        EntityDefinition(
            "Progress", key: ["id"], attributes: [AttributeDefinition("id", .int), AttributeDefinition("step", .int)]),
        EntityDefinition(
            "Issue", key: ["id"],
            attributes: [AttributeDefinition("id", .int), AttributeDefinition("title", .string, optional: true)],
            relationships: [
                RelationshipDefinition("parent", to: "Issue", inverse: "children"),
                RelationshipDefinition("labels", to: "Label", many: true, ordered: true, inverse: "issues"),
            ]),
        EntityDefinition("Label", key: ["name"], attributes: [AttributeDefinition("name", .string)]),
        EntityDefinition(
            "Comment", key: ["issue", "number"],
            attributes: [AttributeDefinition("number", .int), AttributeDefinition("text", .string, optional: true)],
            relationships: [RelationshipDefinition("issue", to: "Issue", inverse: "comments")]),
    ])

    private static func progress(_ store: Store) throws -> Int64 {
        try store.read { reader in
            if case .int(let step)? = try reader.record("Progress", RecordKey(1))?["step"] { step } else { 0 }
        }
    }

    static func run(_ path: String, _ done: (Int64) -> Void) throws {
        let store = try Store.open(at: path, schema: schema)
        var number = try progress(store)
        while true {
            number += 1
            try step(number, store)
            done(number)
        }
    }

    /// Runs a step in one transaction.
    static func step(_ number: Int64, _ store: Store) throws {
        let issues = try store.read { reader in
            var keys: [RecordKey] = []
            try reader.forEach("Issue") { record in
                keys.append(record.key)
                return true
            }
            return keys
        }
        try store.write { writer in
            let issue = issues.isEmpty ? nil : issues[Int(number * 7) % issues.count]
            try change(number, issue, &writer)
            try writer.put("Progress", RecordKey(1), [Record.Field("step", .int(number))])
        }
    }

    private static func change(_ number: Int64, _ issue: RecordKey?, _ writer: inout StoreWriter) throws {
        let title = Record.Field("title", .string("title \(number)"))
        switch (number % 8, issue) {
        case (_, nil), (0, _):
            var values = [title]
            if let issue { values.append(Record.Field("parent", .reference(issue))) }
            try writer.enqueueCreate("Issue", .temporary, values)
        case (1, let issue?):
            try writer.enqueueCreate("Comment", .temporary, [Record.Field("issue", .reference(issue))])
        case (2, let issue?): try writer.enqueueUpdate("Issue", issue, [title])
        case (3, let issue?):
            try writer.enqueueAdd([RecordKey("label \(number % 5)")], to: "labels", of: "Issue", issue)
        case (4, let issue?) where number % 64 == 4: try writer.enqueueDelete("Issue", issue)
        case (5, _) where number % 40 == 5:
            if let id = try writer.outbox.window(limit: 40).last(where: { $0.operation.state == .pending })?.operation
                .id
            {
                try writer.discardOperation(id)
            }
        default: try send(number, &writer)
        }
    }

    /// Sends the first operation: the server assigns the step's number.
    private static func send(_ number: Int64, _ writer: inout StoreWriter) throws {
        guard let entry = try writer.outbox.window(limit: 40).first(where: \.isReady) else { return }
        let operation = entry.operation
        _ = try writer.claimOperations([operation.id])
        guard operation.kind == .create else {
            _ = try writer.completeOperation(operation.id)
            return
        }
        let key = RecordKey(operation.key.components.dropLast() + [.int(number)])
        _ = try writer.completeOperation(operation.id, adopting: key)
    }

    /// Compares a store with a new one that has run the same number of steps.
    static func check(_ path: String) throws -> String {
        let store = try Store.open(at: path, schema: schema)
        let number = try progress(store), other = path + "-expected"
        defer { try? FileManager.default.removeItem(atPath: other) }
        let expected = try Store.open(at: other, schema: schema, options: Store.Options(durability: .volatile))
        for step in 0..<number { try self.step(step + 1, expected) }
        let report = try store.repair([.dryRun])
        guard report.isEmpty else { return "repair would change \(report)" }
        let found = try contents(store), wanted = try contents(expected)
        for (a, b) in zip(found, wanted) where a != b { return "found \(a), expected \(b)" }
        return found.count == wanted.count ? "sound \(number)" : "\(found.count) lines, expected \(wanted.count)"
    }

    /// The records, marks and operations of a store, without times and random keys.
    private static func contents(_ store: Store) throws -> [String] {
        try store.read { reader in
            var lines: [String] = []
            for entity in ["Issue", "Label", "Comment"] {
                try reader.forEach(entity) { record in
                    lines.append("\(record.entity) \(record.key) \(record.fields)")
                    return true
                }
            }
            try reader.forEachLocalChange { change in
                lines.append("\(change.operation) \(change.entity) \(change.key) \(change.fields) \(change.server)")
                return true
            }
            try reader.outbox.forEach { operation in
                lines.append(
                    "\(operation.id) \(operation.kind) \(operation.record) \(operation.state) \(operation.attempts) \(operation.changes) \(operation.members)"
                )
                return true
            }
            lines.append("\(try reader.outbox.counts)")
            return lines
        }
    }
}
