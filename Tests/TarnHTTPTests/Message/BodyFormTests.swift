// Bodies that are not one JSON document in UTF-8.

import Foundation
import Testing

@testable import TarnHTTP

@Suite("Forms of bodies")
struct BodyFormTests {
    private func document(
        _ body: [UInt8], _ type: String, _ form: BodyForm = .json, limit: Int = 1 << 20
    ) throws -> String {
        var headers = TransportHeaders()
        if !type.isEmpty { headers["Content-Type"] = type }
        return String(decoding: try form.document(of: body, headers, limit: limit), as: UTF8.self)
    }

    private func document(_ body: String, _ type: String = "", _ form: BodyForm = .json) throws -> String {
        try document(Array(body.utf8), type, form)
    }

    @Test(
        "lines of JSON become an array if the media type, or the description, says so",
        arguments: [
            "application/x-ndjson", "application/ndjson; charset=utf-8", "application/jsonl", "application/x-jsonlines",
            "application/fhir+ndjson", "application/stream+json", "text/jsonl",
        ])
    func lines(type: String) throws {
        let body = "{\"a\":1}\n{\"a\":\"x,y\"}\n"
        #expect(try document(body, type) == "[{\"a\":1},{\"a\":\"x,y\"} ]")
        #expect(try document(body, "application/octet-stream", .lines) == "[{\"a\":1},{\"a\":\"x,y\"} ]")
        // Not without a word about it.
        #expect(try document(body, "application/json") == body)
    }

    @Test("empty lines, line ends of Windows and a missing last one are no records")
    func emptyLines() throws {
        let read = try JSONSerialization.jsonObject(
            with: Data(try document("\n{\"a\":1}\r\n\r\n \n{\"a\":2}\r\n{\"a\":3}", "application/jsonl").utf8))
        #expect((read as? [[String: Int]])?.map { $0["a"] } == [1, 2, 3])
        #expect(try document("", "application/x-ndjson") == "[]")
        #expect(try document("\n\n", "", .lines) == "[]")
        #expect(try document("{\"a\":1}\n", "application/x-ndjson") == "[{\"a\":1}\n]")
    }

    @Test("a sequence of JSON texts is separated by record separators, and its texts may have lines")
    func sequence() throws {
        let text = "\u{1E}{\"a\":\n1}\n\u{1E}\u{1E}{\"a\":2}\n"
        let read = try JSONSerialization.jsonObject(
            with: Data(try document(text, "application/json-seq").utf8))
        #expect((read as? [[String: Int]])?.map { $0["a"] } == [1, 2])
        #expect(try document(text, "application/geo+json-seq") == document(text, "application/json-seq"))
    }

    @Test("lines are told from a document with line breaks, which may begin with objects, too")
    func looks() {
        func looksLikeLines(_ text: String) -> Bool { BodyForm.looksLikeLines(Array(text.utf8)) }
        #expect(looksLikeLines("{\"a\":1}\n{\"a\":2}") && looksLikeLines("\u{1E}{\"a\":\n1}\n"))
        #expect(!looksLikeLines("{\"a\":\n{\"b\":1}}") && !looksLikeLines("{\"a\":1}\n") && !looksLikeLines("[\n1]"))
    }

    @Test("a body whose secrets are concealed has the form of the body itself")
    func concealed() throws {
        var response = TransportResponse(
            status: 200, headers: TransportHeaders([.init("Content-Type", "application/x-ndjson")]),
            body: Array("{\"a\":\"secret\"}\n{}\n".utf8))
        response.concealed = Array("{\"a\":\"***\"}\n{}\n".utf8)
        let read = try response.document(as: .json, of: TransportRequest(url: "https://api.test.example/"))
        #expect(String(decoding: read.body, as: UTF8.self) == "[{\"a\":\"secret\"},{} ]")
        #expect(String(decoding: read.shownBody, as: UTF8.self) == "[{\"a\":\"***\"},{} ]")
    }

    @Test("an array under the media type of lines stays what it is, a row in lines does not")
    func wrongType() throws {
        #expect(try document("[{\"a\":1}]", "application/x-ndjson") == "[{\"a\":1}]")
        #expect(try document("[1,\"a\"]\n", "", .lines) == "[[1,\"a\"]\n]")
    }

    @Test(
        "a last line that is cut off is a response that was cut short",
        arguments: ["{\"a\":1}\n{\"a\":2,\"b", "{\"a\":1}\n{\"a\":{\"b\":1}", "{\"a\":1}\n{\"a\":\"x}"])
    func cutShort(body: String) {
        #expect { try document(body, "application/x-ndjson") } throws: {
            ($0 as? BodyForm.Problem)?.kind == .cutShort
        }
    }

    @Test(
        "a guard against scripts is removed",
        arguments: [")]}'\n", ")]}',\n", "while(1);", "for(;;);", "{}&&", "\u{FEFF})]}'\n"])
    func guards(prefix: String) throws {
        #expect(try document(prefix + "[1]").trimmingCharacters(in: .whitespaces).hasSuffix("[1]"))
        #expect(try !document(prefix + "[1]").contains(")]}'"))
        #expect(try JSONSerialization.jsonObject(with: Data(try document(prefix + "[1]").utf8)) as? [Int] == [1])
    }

    @Test("zero bytes behind a document are removed, other bytes are left to the parser")
    func zeros() throws {
        #expect(try document("[1]\n\0\0") == "[1]")
        #expect(try document("[1]\n<!-- 3 ms -->") == "[1]\n<!-- 3 ms -->")
        #expect(try document("\0\0") == "\0\0")
    }

    @Test("texts in UTF-16 are read, with a mark or without, and Latin-1 if the header names it")
    func encodings() throws {
        let text = "[{\"name\":\"é€\"}]"
        for (encoding, mark) in [
            (String.Encoding.utf16LittleEndian, [UInt8]()), (.utf16LittleEndian, [0xFF, 0xFE]),
            (.utf16BigEndian, []), (.utf16BigEndian, [0xFE, 0xFF]),
        ] {
            let body = mark + Array(try #require(text.data(using: encoding)))
            #expect(try document(body, "application/json") == text)
        }
        let latin = Array("[\"".utf8) + [0xE9] + Array("\"]".utf8)
        #expect(try document(latin, "application/json; charset=ISO-8859-1") == "[\"é\"]")
        #expect(try document("[\"é\"]", "application/json; charset=\"iso-8859-1\"") == "[\"é\"]")
        let western = Array("[\"".utf8) + [0x80] + Array("\"]".utf8)
        #expect(try document(western, "application/json; charset=windows-1252") == "[\"€\"]")
        #expect { try document(Array("[1]".utf16).flatMap { [UInt8($0), 0] } + [1], "") } throws: {
            ($0 as? BodyForm.Problem)?.kind == .cutShort
        }
    }

    /// `{"a":1}` and a line break, twice, in gzip.
    private static let file: [UInt8] = [
        0x1F, 0x8B, 0x08, 0x00, 0x00, 0x00, 0x00, 0x00, 0x02, 0xFF, 0xAB, 0x56, 0x4A, 0x54, 0xB2, 0x32, 0xAC, 0xE5,
        0xAA, 0x86, 0xD2, 0x00, 0x3F, 0x7E, 0x1C, 0x1B, 0x10, 0x00, 0x00, 0x00,
    ]

    @Test("a file in gzip without Content-Encoding is decompressed, within the limit, and to its end")
    func files() throws {
        try #require(ContentDecoder.accepted != nil)
        #expect(try document(Self.file, "application/gzip", .lines) == "[{\"a\":1},{\"a\":1} ]")
        // `[1]` and a line break in zstd.
        let other: [UInt8] = [
            0x28, 0xB5, 0x2F, 0xFD, 0x04, 0x58, 0x21, 0x00, 0x00, 0x5B, 0x31, 0x5D, 0x0A, 0xF4, 0x7F, 0xC4, 0x6E,
        ]
        #expect(try document(other, "application/zstd") == "[1]\n")
        #expect { try document(Self.file, "application/gzip", limit: 15) } throws: {
            ($0 as? BodyForm.Problem)?.kind == .tooLarge
        }
        #expect { try document(Array(Self.file.dropLast(9)), "application/gzip") } throws: {
            ($0 as? BodyForm.Problem)?.kind == .cutShort
        }
        #expect { try document(Array(Self.file.prefix(10)) + [0xFF, 0xFF, 0xFF], "") } throws: {
            ($0 as? BodyForm.Problem)?.kind == .protocol
        }
    }

    @Test("the error about a body that is no JSON names the way out")
    func hints() {
        func hint(_ body: String, _ form: BodyForm = .json) -> String? { form.hint(for: Array(body.utf8)) }
        #expect(hint("{\"a\":1}\n{\"a\":2}\n")?.contains("format: lines") == true)
        #expect(hint("{\"a\":1}\n{\"a\":2}\n", .lines) == nil)
        #expect(hint("/**/cb([1]);")?.contains("JSONP") == true)
        #expect(hint("<html>") == nil && hint("{\n\"a\":1\n") == nil && hint("") == nil)
    }

    @Test("a refusal and an answer without content are left as they are")
    func otherStatuses() throws {
        let request = TransportRequest(url: "https://api.test.example/")
        for status in [204, 304, 404] {
            let response = TransportResponse(
                status: status, headers: TransportHeaders([.init("Content-Type", "application/x-ndjson")]),
                body: status == 404 ? Array("{\"a\"".utf8) : [])
            #expect(try response.document(as: .lines, of: request) == response)
        }
    }
}
