// `tarn get` and `related` where keys hold a parent's key, and where a relationship is joined by
// attributes.

import Foundation
import TarnStore
import TestSupport
import Testing

@Suite("Command line: owned keys and joins")
struct OwnedKeyCommandTests {
    private let folder: TemporaryFolder
    private let store: String

    init() throws {
        folder = try TemporaryFolder()
        store = folder.path + "/s.tarn"
        let schema = Schema([
            EntityDefinition(
                "Post", key: ["id"],
                attributes: [.init("id", .int), .init("by", .string, optional: true, indexed: true)],
                relationships: [
                    .init("replies", to: "Reply", many: true, inverse: "post"),
                    .init("author", to: "User", inverse: "posts", joinedBy: .init("by", equals: "login")),
                ]),
            EntityDefinition(
                "Reply", key: ["post", "number"],
                attributes: [.init("number", .int), .init("text", .string, optional: true)],
                relationships: [.init("post", to: "Post", inverse: "replies")]),
            EntityDefinition("User", key: ["login"], attributes: [.init("login", .string)]),
        ])
        let store = try Store.open(at: store, schema: schema)
        try store.write { writer in
            try writer.put("User", RecordKey("ada"), [])
            try writer.put("Post", RecordKey(17), [.init("by", .string("ada"))])
            for number: Int64 in 1...2 {
                try writer.put(
                    "Reply", RecordKey([.int(17), .int(number)]), [.init("text", .string("reply \(number)"))])
            }
        }
    }

    private func run(_ arguments: String...) async throws -> TarnProcess.Result {
        try await tarn(arguments + ["--store", store])
    }

    @Test("a record is got by its whole key, as a JSON array, and a shorter key is an error with the form")
    func get() async throws {
        #expect(try await run("get", "Reply", "[17, 2]").lines == [#"{"number":2,"text":"reply 2","post":17}"#])
        let wrong = try await run("get", "Reply", "17")
        #expect(wrong.status != 0 && wrong.error.contains("[int, int]"), "\(wrong.error)")
    }

    @Test("related follows a key's reference both ways, and a join both ways, and says if a limit leaves records out")
    func related() async throws {
        #expect(
            try await run("related", "Post", "17", "replies", "--fields", "number").lines == [
                #"{"number":1}"#, #"{"number":2}"#,
            ])
        for (limit, hasMore) in [("0", true), ("1", true), ("2", false)] {
            let part = try await run("related", "Post", "17", "replies", "--limit", limit, "--format", "table")
            #expect(
                part.error.contains("replies of Post 17") && part.error.contains("more") == hasMore, "\(part.error)")
        }
        #expect(try await run("related", "Reply", "[17, 1]", "post", "--fields", "id").lines == [#"{"id":17}"#])
        #expect(try await run("related", "Post", "17", "author").lines == [#"{"login":"ada"}"#])
        #expect(try await run("related", "User", "ada", "posts", "--fields", "id").lines == [#"{"id":17}"#])
    }
}
