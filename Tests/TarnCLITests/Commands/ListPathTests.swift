// Paths to lists: their values in `--fields`, in `--by`, and null in `--set`.

import Foundation
import TarnStore
import TestSupport
import Testing

@Suite("Command line: paths that lead to lists")
struct ListPathTests {
    private let folder: TemporaryFolder
    private let store: Store

    init() throws {
        (folder, store) = try makeStore([
            EntityDefinition(
                "Person", key: ["id"],
                attributes: [.init("id", .int), .init("name", .string), .init("note", .string, optional: true)],
                relationships: [
                    .init("friends", to: "Person", many: true, inverse: "fans"), .init("best", to: "Person"),
                ])
        ])
    }

    private func fill() async throws {
        try await store.write { writer in
            for (id, friends) in [(1, [2, 3]), (2, [3]), (3, [1])] as [(Int64, [Int64])] {
                try writer.put(
                    "Person", RecordKey(id),
                    [
                        .init("name", .string("n")), .init("friends", .references(friends.map { RecordKey($0) })),
                        .init("best", .reference(RecordKey(1))),
                    ])
            }
        }
    }

    @Test("through two to-many relationships the values are one list, wherever the lists are stored")
    func oneList() async throws {
        try await fill()
        for (path, expected) in [
            ("friends.friends", "[3,1]"), ("friends.fans", "[1,1,2]"), ("fans.fans", "[1,2]"), ("fans.friends", "[1]"),
            ("best.friends", "[2,3]"), ("friends.friends.id", "[3,1]"),
        ] {
            let result = try await tarn(
                "list", "Person", "--where", "id = 1", "--fields", path, "--format", "ndjson", "--store", store.path)
            #expect(result.lines == [#"{"\#(path)":\#(expected)}"#], "\(path): \(result)")
        }
    }

    @Test("count --by names what to do for a list at the end of a path, as for a list of its own")
    func countByList() async throws {
        try await fill()
        for path in ["fans", "best.fans", "best.friends"] {
            let result = try await tarn("count", "Person", "--by", path, "--store", store.path)
            #expect(
                result.status == 2
                    && result.error.contains(
                        "--by \(path): expected a field with a single value, found a list of keys"),
                "\(result.error)")
        }
    }

    @Test("--set null of a required attribute is an error of the argument, and of an optional one it is not")
    func requiredNull() async throws {
        try await fill()
        let arguments = ["update", "Person", "--where", "id = 1", "--store", store.path]
        let refused = try await tarn(arguments + ["--set", "name=null"])
        #expect(
            refused.status == 2 && refused.error.contains("name of Person is required and cannot be null"),
            "\(refused)")
        #expect(try await tarn(arguments + ["--set", "name=null", "--dry-run"]).status == 2)
        expectSuccess(try await tarn(arguments + ["--set", "note=null", "--set", "best=null"]))
    }
}
