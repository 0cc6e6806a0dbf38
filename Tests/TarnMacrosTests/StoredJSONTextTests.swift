// Texts in attributes of the type `json`.

import Foundation
import TarnMacros
import TestSupport
import Testing

@Suite("Texts that are JSON")
struct StoredJSONTextTests {
    @Record struct Page: Equatable {
        @Key var id: Int
        var title: String
        @Attribute(type: .json) var payload: String?
    }

    private let folder: TemporaryFolder
    private let store: Store

    init() throws {
        folder = try TemporaryFolder()
        store = try Store.open(at: folder("s.tarn"), schema: Schema(records: [Page.self]))
        try store.write { try $0.put(Page(id: 1, title: "t", payload: "null")) }
    }

    private static let broken = [
        "", " ", "{broken", #"1, "admin": true"#, #"{"a":1} {"b":2}"#, "x\u{0}y", "{", "[1,]", #"{"a":1,}"#, #"{"a"}"#,
        "01", "1.", "1e", "-", "+1", ".5", "NaN", "tru", #""a"#, "\"a\nb\"", #""\x""#, #""\ud800""#, #""\udc00""#,
        #""\u12g4""#, "[1}", "]", #"{1:2}"#, "'a'", String(repeating: "[", count: 2000),
        String(repeating: "[", count: 1025) + String(repeating: "]", count: 1025),
    ]

    @Test("a text that is not JSON is refused by every way of writing, with the reason", arguments: broken)
    func refused(_ text: String) throws {
        func refuses(_ body: @Sendable (inout StoreWriter) throws -> Void) {
            #expect {
                try store.write(body)
            } throws: { error in
                guard case StoreError.wrongType("Page", "payload", "json", let found)? = error as? StoreError else {
                    return false
                }
                return found.contains("not JSON")
            }
        }
        refuses { try $0.put(Page(id: 2, title: "t", payload: text)) }
        refuses { try $0.patch(Page.self, 1) { $0.set(.payload, text) } }
        refuses {
            try $0.put("Page", RecordKey(Int64(3)), [.init("title", .string("d")), .init("payload", .json(text))])
        }
        #expect(try store.read { try $0.fetch(Page.all) } == [Page(id: 1, title: "t", payload: "null")])
    }

    @Test(
        "a text that is JSON is stored as it is, and written as one line",
        arguments: [
            "null", " true ", "-0.5e+10", "0", #""""#, "[]", "{}", #"{"a":[1,{"b":"\ud83d\ude00\n"}],"a":2}"#,
            "{\n \"a\": 1\r\n}", String(repeating: "[", count: 1024) + String(repeating: "]", count: 1024),
        ])
    func stored(_ text: String) throws {
        try store.write { try $0.put(Page(id: 2, title: "t", payload: text)) }
        #expect(try store.read { try $0.get(Page.self, 2) }?.payload == text)
        var body: [UInt8] = []
        let isThere = try store.read { try $0.writeJSON(Page.self, 2, into: &body) }
        #expect(isThere && !body.contains(0x0A) && !body.contains(0x0D))
        if text.count < 500 { _ = try JSONSerialization.jsonObject(with: Data(body)) }
    }
}
