// Records as JSON: from rows to bytes, and by Foundation's encoder.

import Foundation
import TarnMacros
import TestSupport
import Testing

/// A record with a field of every type.
@Record struct Sample: Equatable, Codable {
    @Key var id: String
    var flag: Bool?
    var small: Int?
    var large: UInt64?
    var ratio: Double?
    var price: ExactDecimal?
    var at: Timestamp?
    var tag: UUID?
    var bytes: Data?
    var list: [String]?
    var numbers: [Int64]?
    @Attribute(type: .json) var any: String?
    var next: Reference<Sample>?
    var others: References<Sample>?
    var owner: Reference<Comment>?

    enum CodingKeys: CodingKey { case id }

    init(id: String) { self.id = id }
    init(from decoder: any Decoder) throws {
        self.init(id: try decoder.container(keyedBy: CodingKeys.self).decode(String.self, forKey: .id))
    }
}

extension State: Decodable {}

@Suite("Records as JSON")
struct JSONTests {
    /// The JSON of a record by its row's bytes, which has to be that of the copied record.
    private func json<R: StoredRecord>(_ store: Store, _ type: R.Type, _ key: R.Key) throws -> String {
        try store.read { reader in
            var bytes: [UInt8] = []
            let isThere = try reader.writeJSON(type, key, into: &bytes)
            try #require(isThere)
            let text = try #require(String(validating: bytes, as: UTF8.self))
            var copied = ""
            try #require(try reader.record(R.entity, key.recordKey)).appendFieldsJSON(to: &copied)
            #expect(try object(text) == object(copied))
            return text
        }
    }

    private func object(_ text: String) throws -> NSDictionary {
        try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? NSDictionary)
    }

    private func store(_ records: any MappedRecord.Type...) throws -> (TemporaryFolder, Store) {
        let folder = try TemporaryFolder()
        return (folder, try Store.open(at: folder("s.tarn"), schema: Schema(records: records)))
    }

    @Test(
        "a record without a type is decoded to any Decodable struct; a field that does not fit is an error with its name"
    )
    func decoding() throws {
        struct Headline: Decodable, Equatable {
            struct Reactions: Decodable, Equatable { var heart: Int }
            var number: Int
            var title: String
            var state: State
            var updatedAt: Date?
            var link: URL?
            var reactions: Reactions?
            var author: Int64
            var labels: References<Label>
        }
        struct Wrong: Decodable { var title: Int }
        let bed = try RecordFixture()
        let headlines = try bed.store.read { reader in
            try [1, 2].map { try reader.record("Issue", RecordKey(Int64($0)))?.decode(Headline.self) }
        }
        #expect(
            headlines == [
                Headline(
                    number: 10, title: "Ä tree", state: .open,
                    updatedAt: Timestamp("2026-01-02T03:04:05.678901Z")?.date,
                    link: URL(string: "https://e.example/i/1"), reactions: .init(heart: 2), author: 5,
                    labels: References([8, 7])),
                Headline(number: 11, title: "B", state: .closed, author: 5, labels: References([])),
            ])
        #expect {
            _ = try bed.store.read { try $0.record("Issue", RecordKey(1))?.decode(Wrong.self) }
        } throws: {
            if case DecodingError.typeMismatch(_, let context) = $0 {
                context.codingPath.map(\.stringValue) == ["title"]
            } else {
                false
            }
        }
    }

    @Test(
        "a date of a year that RFC 3339 cannot express is decoded as well: 1767323045678 s are milliseconds by mistake")
    func farDates() throws {
        struct Times: Decodable { var at: Date? }
        let (folder, store) = try store(Sample.self, Comment.self, Post.self)
        let times = [1_767_323_045_678_000_000, -99_999_999_999_000_000, 0].map { Timestamp(microseconds: $0) }
        for (number, time) in times.enumerated() {
            var sample = Sample(id: "\(number)")
            sample.at = time
            try store.write { [sample] in try $0.put(sample) }
        }
        let decoded = try store.read { reader in
            try times.indices.map { try reader.record("Sample", RecordKey("\($0)"))?.decode(Times.self).at }
        }
        #expect(decoded == times.map { Optional($0.date) })
        withExtendedLifetime(folder) {}
    }

    @Test("a row is written as the JSON of its fields, in the order of the struct")
    func record() throws {
        let bed = try RecordFixture()
        #expect(
            try json(bed.store, Issue.self, 1)
                == #"{"id":1,"number":10,"title":"Ä tree","state":"open","thumbsUp":3,"updatedAt":"2026-01-02T03:04:05.678901Z","link":"https://e.example/i/1","reactions":{"+1":3,"heart":2,"url":"https://e.example/1"},"author":5,"labels":[8,7],"milestone":70}"#
        )
        #expect(
            try json(bed.store, Issue.self, 2)
                == #"{"id":2,"number":11,"title":"B","state":"closed","thumbsUp":0,"updatedAt":null,"author":5,"labels":[]}"#
        )
        var bytes: [UInt8] = []
        #expect(try bed.store.read { try $0.writeJSON(Issue.self, 99, into: &bytes) } == false && bytes.isEmpty)
    }

    @Test("every type of value, and every character that must be escaped, is the JSON of the copied record")
    func values() throws {
        let (folder, store) = try store(Sample.self, Comment.self, Post.self)
        var random = SeededRandom(seed: 7)
        var texts = ["", "\"", "\\", "a\u{0}b\u{1F}\n\r\tc", String(repeating: "x", count: 100), "\u{7F}ß€😀\u{2028}"]
        for length in 1...40 {
            texts.append(
                String(
                    String.UnicodeScalarView(
                        (0..<length).map { _ in
                            [.init(UInt8.random(in: 0...127, using: &random)), "é", "€", "😀"].randomElement(
                                using: &random) ?? "x"
                        })))
        }
        for (number, text) in texts.enumerated() {
            var sample = Sample(id: "k\(number)\(text)")
            sample.flag = number % 2 == 0
            sample.small = [Int.min, -1, 0, 9, 10, 12_345, .max][number % 7]
            sample.large = [0, 1 << 63, .max][number % 3]
            sample.ratio = [0.1, -0.0, 1e300, .infinity, .nan, 5][number % 6]
            sample.price = ExactDecimal(["12345678901234567890.5", "0.10", "-3"][number % 3])
            sample.at = Timestamp(
                microseconds: [0, -1, 1_768_000_000_123_400, 253_402_300_800_000_000, 951_782_400_000_000][number % 5])
            sample.tag = UUID()
            sample.bytes = Data(text.utf8)
            sample.list = number % 3 == 0 ? [] : [text, "x"]
            sample.numbers = [1, -2]
            sample.any = #"{"a":[1,null,"\u0041"]}"#
            sample.next = Reference(text + "n")
            sample.others = References(["a", text, String(repeating: text + "z", count: 300)])
            sample.owner = Reference(Comment.Key(post: text, position: number))
            let stored = sample
            try store.write { try $0.put(stored) }
            _ = try json(store, Sample.self, sample.id)
        }
        withExtendedLifetime(folder) {}
    }

    @Test("a query is an array, with included targets nested instead of their keys")
    func query() throws {
        let bed = try RecordFixture()
        var bytes: [UInt8] = []
        let count = try bed.store.read { reader in
            try reader.writeJSON(User.order(by: \.login), into: &bytes)
        }
        #expect(count == 2)
        #expect(
            String(decoding: bytes, as: UTF8.self)
                == #"[{"id":5,"login":"Ada","name":"Ada L."},{"id":6,"login":"bob"}]"#)
        bytes = []
        _ = try bed.store.read { reader in
            try reader.writeJSON(
                Label.where { $0.id > 100 }, into: &bytes)
        }
        #expect(String(decoding: bytes, as: UTF8.self) == "[]")
        bytes = []
        _ = try bed.store.read { reader in
            try reader.writeJSON(
                Issue.where { $0.number <= 11 }.include(\.author, \.labels, \.milestone.creator), into: &bytes)
        }
        let text = String(decoding: bytes, as: UTF8.self)
        #expect(try JSONSerialization.jsonObject(with: Data(bytes)) is [Any])
        #expect(
            text.hasSuffix(
                #""labels":[],"milestone.creator":null}]"#), "\(text)")
        #expect(
            text.contains(
                #""milestone":70,"author":{"id":5,"login":"Ada","name":"Ada L."},"labels":[{"id":8,"name":"bug"},{"id":7,"name":"ui"}],"milestone.creator":{"id":6,"login":"bob"}},"#
            ), "\(text)")
        bytes = []
        _ = try bed.store.read { try $0.writeJSON(User.where { $0.id == 6 }.include(\.issues), into: &bytes) }
        #expect(String(decoding: bytes, as: UTF8.self).hasPrefix(#"[{"id":6,"login":"bob","issues":[{"id":3,"#))
    }

    @Test("a record with its targets nested is the element of the query's array; missing targets are left out")
    func nested() throws {
        let bed = try RecordFixture()
        try bed.store.read { reader in
            for issue in try reader.fetch(Issue.all) {
                var one: [UInt8] = [], list: [UInt8] = []
                #expect(
                    try reader.writeJSON(
                        Issue.self, issue.id, including: \.author, \.labels, \.milestone.creator, into: &one))
                let same = Issue.where { $0.id == issue.id }.include(\.author, \.labels, \.milestone.creator)
                try reader.writeJSON(same, into: &list)
                #expect("[" + String(decoding: one, as: UTF8.self) + "]" == String(decoding: list, as: UTF8.self))
            }
            for user in try reader.fetch(User.all) {
                var one: [UInt8] = [], list: [UInt8] = []
                #expect(try reader.writeJSON(User.self, user.id, including: \.issues, into: &one))
                try reader.writeJSON(User.where { $0.id == user.id }.include(\.issues), into: &list)
                #expect("[" + String(decoding: one, as: UTF8.self) + "]" == String(decoding: list, as: UTF8.self))
            }
            var none: [UInt8] = []
            #expect(try !reader.writeJSON(Issue.self, 12345, including: \.author, into: &none) && none.isEmpty)
        }
    }

    @Test("pages as JSON follow one another by their tokens, and the last one has none")
    func pages() throws {
        let bed = try RecordFixture()
        try bed.store.read { reader in
            var found: [Any] = [], token: ContinuationToken?, pages = 0
            let issues = Issue.order(by: \.number, .descending)
            repeat {
                var bytes: [UInt8] = []
                token = try reader.writeJSONPage(issues.limit(2).after(token).include(\.author), into: &bytes)
                let page = try #require(try JSONSerialization.jsonObject(with: Data(bytes)) as? [Any])
                #expect(page.count == 2 || token == nil)
                found += page
                pages += 1
            } while token != nil
            let all = try reader.fetch(issues)
            #expect(found.compactMap { ($0 as? [String: Any])?["id"] as? Int64 } == all.map(\.id))
            #expect(pages == (all.count + 1) / 2 && pages > 1)
        }
    }

    @Test("Foundation's encoder writes a copied record as its row is written, and references as keys")
    func encodable() throws {
        let bed = try RecordFixture()
        let record = try #require(try bed.store.read { try $0.record("Issue", RecordKey(1)) })
        let encoded = String(decoding: try JSONEncoder().encode(record), as: UTF8.self)
        #expect(try object(encoded) == object(json(bed.store, Issue.self, 1)))
        struct Pair: Codable, Equatable {
            var author: Reference<User>
            var labels: References<Label>
        }
        let pair = Pair(author: Reference(5), labels: References([1, 2]))
        let data = try JSONEncoder().encode(pair)
        #expect(try object(String(decoding: data, as: UTF8.self)) == ["author": 5, "labels": [1, 2]])
        #expect(try JSONDecoder().decode(Pair.self, from: data) == pair)
        let value = try JSONEncoder().encode([
            Value.decimal(try #require(ExactDecimal("12345678901234567890123456789012345678901234567890")))
        ])
        #expect(String(decoding: value, as: UTF8.self) == #"["1.234567890123456789012345678901234567890123456789e49"]"#)
        // A number beyond the exponents of `Decimal` does not make the record unwritable.
        let wide = try JSONEncoder().encode([Value.json("[1e200,-2.5e-200,0.5]")])
        #expect(try JSONDecoder().decode([[Double]].self, from: wide) == [[1e200, -2.5e-200, 0.5]])
    }
}
