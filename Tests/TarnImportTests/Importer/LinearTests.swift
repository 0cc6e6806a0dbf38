// Lists of a hundred thousand: ten times as many take about ten times as long, and not a hundred times.

import Glibc
import TarnStore
import Testing

@testable import TarnImport

@Suite("Import: work that grows with the input only")
struct LinearTests {
    /// The factor by which ten times as many take longer, in time of the processor for this thread.
    private func growth(
        _ count: Int, records: JSONPath = JSONPath(keys: []), _ document: (Int) -> String
    ) throws -> Double {
        func time(_ count: Int) throws -> Double {
            let bed = try Forge.store()
            let text = document(count), start = threadTime()
            try bed.add(text, "Issue", records: records)
            return threadTime() - start
        }
        _ = try time(count / 10)
        return try time(count) / time(count / 10)
    }

    private func threadTime() -> Double {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }

    // Quadratic work would make it a hundred times as long: the bound leaves room for a busy machine on both sides.
    private static let bound = 40.0

    @Test("a hundred thousand records with a list of bare keys each are drafted in linear time")
    func derivedLists() throws {
        #expect(
            try growth(100_000) { count in
                "[" + (0..<count).map { #"{"id":\#($0),"comments":[\#($0)]}"# }.joined(separator: ",") + "]"
            } < LinearTests.bound)
    }

    @Test("a hundred thousand nested objects with a list of bare keys each are drafted in linear time")
    func nestedDerivedLists() throws {
        #expect(
            try growth(100_000) { count in
                #"[{"id":1,"assignees":["#
                    + (0..<count).map { #"{"id":\#($0),"login":"u","issues":[\#($0)]}"# }.joined(separator: ",") + "]}]"
            } < LinearTests.bound)
    }

    @Test(
        "a hundred thousand members of one list, as keys and as objects, are drafted in linear time",
        arguments: ["comments", "labels"])
    func members(_ relationship: String) throws {
        #expect(
            try growth(100_000) { count in
                #"[{"id":1,"\#(relationship)":["#
                    + (0..<count).map { $0 % 2 == 0 ? "\($0)" : #"{"id":\#($0)}"# }.joined(separator: ",")
                    + "]}]"
            } < LinearTests.bound)
    }

    @Test("a hundred thousand lists of one document are drafted in linear time")
    func lists() throws {
        #expect(
            try growth(100_000, records: "groups.*.items") { count in
                #"{"groups":["#
                    + (0..<count).map { #"{"n":1,"items":[{"id":\#($0),"title":"t"}]}"# }.joined(separator: ",") + "]}"
            } < LinearTests.bound)
    }

    @Test("a record that is in ten thousand lists of a unit gets its own list in linear time")
    func memberOfLists() throws {
        func time(_ count: Int) throws -> Double {
            let bed = try TestStore(
                Schema([
                    EntityDefinition(
                        "Post", key: ["id"], attributes: [AttributeDefinition("id", .int)],
                        relationships: [RelationshipDefinition("tags", to: "Tag", many: true, inverse: "posts")]),
                    EntityDefinition(
                        "Tag", key: ["id"], attributes: [AttributeDefinition("id", .int)],
                        relationships: [RelationshipDefinition("posts", to: "Post", many: true, inverse: "tags")]),
                ]), Mapping(entities: ["Tag": EntityMapping(declared: ["posts"])]))
            try bed.take(#"[{"id":1}]"#, "Post")
            let tags = (0..<count).map { #"{"id":\#($0),"posts":[1]}"# }
            try bed.add("[" + tags.joined(separator: ",") + "]", "Tag")
            let duration = try bed.store.write { writer in
                let start = threadTime()
                _ = try bed.importer.commit(into: &writer)
                return threadTime() - start
            }
            #expect(try bed.related("Post", 1, "tags") == (0..<count).map { "\($0)" })
            return duration
        }
        _ = try time(1000)
        #expect(try time(10_000) / time(1000) < LinearTests.bound)
    }

    @Test("a large record that comes again and again with other values, or with some of them, is kept once")
    func repeatedRecord() throws {
        let bed = try Forge.store(), large = String(repeating: "x", count: 100_000)
        let again = (0..<2000).flatMap { number in
            [#"{"id":1,"title":"\#(String(repeating: "t", count: number % 300))"}"#, #"{"id":1}"#]
        }
        try bed.add("[" + ([#"{"id":1,"body":"\#(large)"}"#] + again).joined(separator: ",") + "]", "Issue")
        #expect(bed.importer.byteCount < 2_000_000, "\(bed.importer.byteCount) bytes")
        let report = try bed.commit()
        #expect(report.conflicts == 1999)
        #expect(try bed.value("Issue", 1, "body") == .string(large))
        #expect(try bed.value("Issue", 1, "title") == .string(String(repeating: "t", count: 1999 % 300)))
        // Each repetition copies the record: too many of them are refused.
        bed.importer.limits.draftSize = 1 << 20
        let document = "[" + ([#"{"id":1,"body":"\#(large)"}"#] + again).joined(separator: ",") + "]"
        #expect(throws: ImportError.tooLarge(.drafts, limit: 1 << 20 + 64 * document.utf8.count)) {
            try bed.add(document, "Issue")
        }
    }

    @Test("records that each take a large value from outside of them are refused before they fill the memory")
    func largeSurroundings() throws {
        let bed = try TestStore(
            Schema([
                EntityDefinition(
                    "Thing", key: ["id"],
                    attributes: [AttributeDefinition("id", .int), AttributeDefinition("note", .string, optional: true)])
            ]), Mapping(entities: ["Thing": EntityMapping(paths: ["note": ["@root.note"]])]))
        func document(_ count: Int) -> String {
            let note = String(repeating: "n", count: 10_000), items = (0..<count).map { #"{"id":\#($0)}"# }
            return #"{"note":"\#(note)","items":["# + items.joined(separator: ",") + "]}"
        }
        bed.importer.limits.draftSize = 100_000
        let large = document(500), limit = 100_000 + 64 * large.utf8.count
        #expect(throws: ImportError.tooLarge(.drafts, limit: limit)) {
            try bed.add(large, "Thing", records: "items")
        }
        #expect(bed.importer.hasFailed && bed.importer.byteCount < limit + 20_000)
        #expect(throws: ImportError.self) { try bed.commit() }
        bed.importer.discard()
        #expect(try bed.take(document(50), "Thing", records: "items").created == 50)
        #expect(try bed.count("Thing") == 50)
    }

    @Test("the path of a list in a diagnostic leads to it, also in the last record")
    func path() throws {
        let schema = Schema([
            EntityDefinition(
                "Owner", key: ["id"], attributes: [AttributeDefinition("id", .int)],
                relationships: [RelationshipDefinition("items", to: "Item", many: true, inverse: "owner")]),
            EntityDefinition(
                "Item", key: ["id"], attributes: [AttributeDefinition("id", .int)],
                relationships: [RelationshipDefinition("owner", to: "Owner", inverse: "items")]),
        ])
        let other = try TestStore(schema, Mapping(entities: ["Owner": EntityMapping(declared: ["items"])]))
        let report = try other.take(#"{"a":[{"id":1},{"id":2,"items":[7]}]}"#, "Owner", records: "a")
        #expect(report.diagnostics.map(\.path) == ["$.a[1].items"])
        let several = try other.take(
            #"{"a":[{"b":{"c":[{"id":1}]}},{"b":{"c":[{"id":3},{"id":2,"items":[7]}]}},{"b":{}}]}"#, "Owner",
            records: "a.*.b.c")
        #expect(several.diagnostics.map(\.path) == ["$.a[1].b.c[1].items"])
        let single = try other.take(#"{"a":{"id":2,"items":[7]}}"#, "Owner", records: "a")
        #expect(single.diagnostics.map(\.path) == ["$.a.items"])
    }
}
