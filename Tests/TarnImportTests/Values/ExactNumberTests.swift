// Numbers that a double cannot hold come from the text of the document.

import Foundation
import TarnStore
import Testing

@testable import TarnImport

@Suite("Exact numbers")
struct ExactNumberTests {
    private func fields(_ json: String, _ attributes: [AttributeDefinition]) throws -> Record {
        let path = FileManager.default.temporaryDirectory.appending(path: "tarn-exact-\(UUID().uuidString)").path
        defer { try? FileManager.default.removeItem(atPath: path) }
        let schema = Schema([
            EntityDefinition("A", key: ["id"], attributes: [AttributeDefinition("id", .int)] + attributes)
        ])
        let store = try Store.open(at: path, schema: schema)
        let importer = try Importer(Mapping(), store.catalog)
        _ = try importer.add(Array(json.utf8), entity: "A")
        _ = try store.write { try importer.commit(into: &$0) }
        return try #require(try store.read { try $0.record("A", RecordKey(1)) })
    }

    @Test("a decimal attribute keeps every digit, wherever in the document it stands")
    func decimals() throws {
        let json = """
            {"skip": {"a": [], "b": {}, "c": [1.5, "x", {"d": 2.5e0}], "e": null}, "list": [0.10, [1.25], {}], "id": 1,
             "price": 0.1000000000000000055511151231257827, "text": "12.50", "whole": 42, "more": [3.5, 4.5],
             "large": 123456789012345678901234567890.5}
            """
        let optional = ["price", "text", "whole", "large"].map { AttributeDefinition($0, .decimal, optional: true) }
        let record = try fields(json, optional + [AttributeDefinition("more", .array(.decimal), optional: true)])
        #expect(record["price"] == .decimal(try #require(ExactDecimal("0.1000000000000000055511151231257827"))))
        #expect(record["text"] == .decimal(try #require(ExactDecimal("12.5"))))
        #expect(record["whole"] == .decimal(try #require(ExactDecimal("42"))))
        #expect(record["large"] == .decimal(try #require(ExactDecimal("123456789012345678901234567890.5"))))
        #expect(
            record["more"]
                == .array([.decimal(try #require(ExactDecimal("3.5"))), .decimal(try #require(ExactDecimal("4.5")))]))
    }

    @Test("JSON that is kept as it came keeps its numbers as they were written")
    func jsonText() throws {
        let record = try fields(
            #"{"id":1,"raw":{"a":1.10,"b":[0.1000000000000000055511151231257827,-0.0,1e3],"c":"x\ny"}}"#,
            [AttributeDefinition("raw", .json)])
        #expect(record["raw"] == .json(#"{"a":1.10,"b":[0.1000000000000000055511151231257827,-0.0,1e3],"c":"x\ny"}"#))
    }

    @Test("bytes are base64 in either alphabet, with or without padding; anything else keeps the old value")
    func bytes() throws {
        let attributes = ["a", "b", "c", "d"].map { AttributeDefinition($0, .bytes, optional: true) }
        let record = try fields(#"{"id":1,"a":"-_8=","b":"+/8","c":"","d":"not base64!"}"#, attributes)
        #expect(record["a"] == .bytes([0xFB, 0xFF]))
        #expect(record["b"] == .bytes([0xFB, 0xFF]))
        #expect(record["c"] == .bytes([]))
        #expect(record["d"] == nil)
    }
}
