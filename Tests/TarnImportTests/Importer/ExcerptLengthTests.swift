// Texts of a server in reports and errors: as much as a reader can use.

import TarnStore
import Testing

@testable import TarnImport

@Suite("Import: lengths of reports")
struct ExcerptLengthTests {
    private static let long = String(repeating: "k", count: 1 << 20)
    /// More than the parts that are cut, and the words around them.
    private static let bound = 2000

    @Test("an unmapped key of a megabyte is named by its beginning")
    func unmapped() throws {
        let bed = try Forge.store()
        let report = try bed.take(#"[{"id":1,"\#(Self.long)":1,"short":2}]"#, "Issue")
        #expect(report.unmapped.count == 2)
        #expect(report.unmapped.allSatisfy { $0.path.utf8.count < Self.bound })
        #expect(report.unmapped.contains { $0.path.hasPrefix("kkk") && $0.path.hasSuffix("…") })
    }

    @Test(
        "a value that cannot be taken is shown by its beginning, whatever it is",
        arguments: [
            #""\#(long)""#, "[\"\(long)\"]", "{\"\(long)\":1}", "{\"a\":\"\(long)\"}", "[[[[\"\(long)\"]]]]",
            "1" + String(repeating: "0", count: 1 << 20),
            "\"" + "e" + String(repeating: "\u{301}", count: 1 << 19) + "\"",
        ])
    func values(_ json: String) throws {
        for document in [
            #"[{"id":\#(json)}]"#, #"[{"id":1,"author":\#(json)}]"#,
            #"[{"id":1,"createdAt":\#(json),"created_at":\#(json)}]"#,
        ] {
            let bed = try Forge.store()
            let report = try bed.take(document, "Issue")
            for diagnostic in report.diagnostics {
                #expect("\(diagnostic)".utf8.count < Self.bound, "\(diagnostic.code)")
            }
        }
    }

    @Test("a document without records is described by the beginnings of its keys")
    func missing() throws {
        let bed = try Forge.store()
        let keys = (0..<20).map { "\"\($0)\(Self.long)\":\($0)" }.joined(separator: ",")
        let error = #expect(throws: ImportError.self) {
            try bed.add("{\(keys)}", "Issue", records: JSONPath(keys: ["items"]))
        }
        #expect("\(try #require(error))".utf8.count < Self.bound)
    }

    @Test("a path through keys of a megabyte names their beginnings")
    func paths() throws {
        let parser = try JSONParser(), text = Array(#"{"\#(Self.long)":{"b":[1]}}"#.utf8)
        let tape = try text.withUnsafeBytes { bytes throws(ImportError) in try parser.parse(bytes) }
        let path = tape.path(to: Tape.root + 6)
        #expect(path.hasPrefix("$.kkk") && path.hasSuffix("….b[0]") && path.utf8.count < Self.bound)
    }
}
