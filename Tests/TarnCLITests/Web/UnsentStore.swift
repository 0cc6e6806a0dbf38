// A store with an operation in each state of the outbox.

import Foundation
import TarnStore
import TestSupport

/// A store with unsent changes of every kind, in every state, with values of others' choice.
struct UnsentStore {
    /// The text of the refusal; no other table has it.
    static let refusal = "a quaint refusal"
    static let markup = "<img src=x onerror=\"document.title='run'\"><script>document.title='run'</script>"
    static let hostile = markup + "\u{1B}[31m\u{202E}\u{AD}"

    let folder: TemporaryFolder
    let path: String
    let store: Store

    private static let schema = Schema([
        EntityDefinition(
            "User", key: ["id"], attributes: [.init("id", .int), .init("name", .string, optional: true)]),
        EntityDefinition("Label", key: ["name"], attributes: [.init("name", .string)]),
        EntityDefinition(
            "Issue", key: ["id"],
            attributes: [
                .init("id", .int), .init("title", .string, optional: true), .init("state", .string, optional: true),
            ],
            relationships: [
                .init("author", to: "User", inverse: "issues"),
                .init("labels", to: "Label", many: true, ordered: true, inverse: "issues"),
            ]),
    ])

    /// Queues nine operations:
    ///
    /// 1. an update that has failed, and is sent again in an hour;
    /// 2. an update that is being sent;
    /// 3. an update that the server has refused;
    /// 4. a creation whose title is the text `null`, and whose author the store does not have;
    /// 5. a creation of a user;
    /// 6. an update that refers to that user, so that it waits for 5;
    /// 7. a deletion;
    /// 8. the addition of a label that the store does not have;
    /// 9. an update of the record of 1, so that it waits for 1.
    init() throws {
        folder = try TemporaryFolder()
        path = folder("unsent.tarn")
        store = try Store.open(at: path, schema: Self.schema, options: .init(durability: .relaxed))
        try store.write { writer in
            try writer.put("User", RecordKey(1), [.init("name", .string("ada"))])
            try writer.put("Label", RecordKey("bug"), [])
            for number: Int64 in 1...8 {
                try writer.put(
                    "Issue", RecordKey(number),
                    [
                        .init("title", .string("title \(number)")), .init("author", .reference(RecordKey(1))),
                        .init("labels", .references([RecordKey("bug")])),
                    ])
            }
        }
        try store.write { try UnsentStore.queue(&$0) }
    }

    private static func queue(_ writer: inout StoreWriter) throws {
        try writer.enqueueUpdate("Issue", RecordKey(1), [.init("title", .string(hostile))])
        try writer.enqueueUpdate("Issue", RecordKey(2), [.init("state", .string("closed"))])
        try writer.enqueueUpdate("Issue", RecordKey(3), [.init("title", .null)])
        _ = try writer.claimOperations([1, 2, 3])
        try writer.retryOperationLater(
            1, notBefore: Timestamp(clampingSeconds: Int(Date().timeIntervalSince1970) + 3600),
            OutboxFailure(kind: "status", status: 503, message: hostile, excerpt: "{\"error\":\"later\"}"))
        try writer.buryOperation(3, OutboxFailure(kind: "refused", status: 422, message: refusal))
        try writer.enqueueCreate(
            "Issue", .temporary, [.init("title", .string("null")), .init("author", .reference(RecordKey(9)))])
        let user = try writer.enqueueCreate("User", .temporary, [.init("name", .string("new"))])
        try writer.enqueueUpdate("Issue", RecordKey(5), [.init("author", .reference(user.key))])
        try writer.enqueueDelete("Issue", RecordKey(6))
        try writer.enqueueAdd([RecordKey("gone")], to: "labels", of: "Issue", RecordKey(7))
        try writer.enqueueUpdate("Issue", RecordKey(1), [.init("state", .string("open"))])
    }

    /// The place of a record in addresses.
    static func place(_ key: RecordKey) -> String {
        key.storageKey.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }
}
