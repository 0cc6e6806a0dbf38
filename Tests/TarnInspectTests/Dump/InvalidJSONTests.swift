// JSON values of formats without a checksum of dictionaries.

import Foundation
import TestSupport
import Testing

@testable import TarnInspect
@testable import TarnStore

@Suite("Inspect: invalid JSON")
struct InvalidJSONTests {
    private static func isValid(_ text: String) -> Bool { Array(text.utf8).withUnsafeBytes { JSONForm.isValid($0) } }

    @Test(
        "JSON values of every form are valid",
        arguments: [
            "0", "-0", "-12.5e+3", "1E2", "\"\"", "\"a\\\"\\u00fFé\"", "true", "false", "null", "[]", "{}", " [ ] ",
            "[[],{}]",
            "[1, \"a\",null]", "{\"a\":{\"b\":[{}]},\"c\":1}", "{ \"a\" : [ 1 , { } ] , \"b\" : 2 }\n",
        ])
    func valid(_ text: String) {
        #expect(Self.isValid(text))
        #expect((try? JSONSerialization.jsonObject(with: Data(text.utf8), options: .fragmentsAllowed)) != nil)
    }

    @Test(
        "what is no JSON value is invalid",
        arguments: [
            "", " ", "01", "+1", "1.", ".5", "1e", "-", "tru", "truex", "\"", "\"\\x\"", "\"\\u12G4\"", "\"\n\"", "[",
            "]",
            "[1,]", "[,1]", "[1 2]", "{", "{\"a\"}", "{\"a\":}", "{\"a\":1,}", "{a:1}", "{\"a\":1]", "[1}", "1 2",
            "{}{}",
        ])
    func invalid(_ text: String) { #expect(!Self.isValid(text)) }

    @Test("values of any depth are checked")
    func depth() {
        let depth = 200_000
        #expect(Self.isValid(String(repeating: "[", count: depth) + String(repeating: "]", count: depth)))
        #expect(!Self.isValid(String(repeating: "[", count: depth) + String(repeating: "]", count: depth - 1)))
    }

    @Test("with a damaged dictionary of format 1, every line of a dump is JSON, and damaged rows are reported")
    func damagedDictionary() throws {
        let golden = Checkout.root + "/Tests/TarnStoreTests/Golden/format-1/2026-11-compressed"
        let file = try GoldenFile(golden)
        let dictionaries = try StoreFile.open(at: file.path) { store in
            store.settings.filter { $0.key.hasPrefix(MetaKey.dictionaryPrefix) }.map(\.value)
        }
        let dictionary = try #require(dictionaries.first), bytes = Data(file.original)
        let place = try #require(bytes.range(of: Data(dictionary)))
        var invalid = 0
        for offset in stride(from: place.lowerBound, to: place.upperBound - 64, by: 287) {
            var damaged = bytes
            damaged.replaceSubrange(offset..<offset + 64, with: Data(count: 64))
            try damaged.write(to: URL(fileURLWithPath: file.path + "/data.mdb"))
            try StoreInspector(at: file.path).dumpRecords { line in
                let isJSON = (try? JSONSerialization.jsonObject(with: Data(line.utf8))) != nil
                #expect(isJSON, "zeros at \(offset): \(line)")
            } damaged: { damage in
                if damage.reason.contains("its JSON is invalid") { invalid += 1 }
            }
        }
        #expect(invalid > 0, "the test tests nothing")
    }
}
