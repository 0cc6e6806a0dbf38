// Servers that refuse pages that are too far in, and how a walk goes on all the same; and where a walk is, as text.

import Foundation

/// A walk that is refused its next page begins again, behind the last record that it has seen.
///
/// The list has to be in the order of the attribute that is sent. Records that have the same value as the last one come again, and are
/// recognised by their keys.
public struct DeepPages: Sendable, Hashable {
    /// Refusals that mean that a page is too far in.
    public var statuses: [ClosedRange<Int>]
    /// How many records can be had before the server refuses; nil to try.
    public var records: Int?
    /// How many pages can be had before the server refuses; nil to try.
    public var pages: Int?
    /// What the first request is given: `since`, say.
    public var sends: Pagination.ParameterPlace
    /// Where a record has its value.
    public var path: String

    public init(
        statuses: [ClosedRange<Int>] = [], records: Int? = nil, pages: Int? = nil, sends: Pagination.ParameterPlace, path: String
    ) {
        self.statuses = statuses
        self.records = records
        self.pages = pages
        self.sends = sends
        self.path = path
    }

    func isReached(pages: Int, records: Int) -> Bool {
        self.pages.map { pages >= $0 } ?? false || self.records.map { records >= $0 } ?? false
    }
}

/// Where a walk is.
struct PagePosition {
    var request: PageRequest
    var pages = 0
    var records = 0
    var after: String?
    var last: String?

    init(request: PageRequest, pages: Int, records: Int, after: String?, last: String?) {
        self.request = request
        self.pages = pages
        self.records = records
        self.after = after
        self.last = last
    }

    private struct Stored: Codable {
        var url: String
        var form: [[String]]?
        var json: String?
        var pages: Int?
        var records: Int?
        var after: String?
        var last: String?
    }

    /// A URL, or JSON if there is more to say.
    var text: String {
        guard request.body != nil || last != nil else { return request.url }
        var stored = Stored(url: request.url)
        switch request.body {
        case .json(let value): stored.json = value.text
        case .form(let fields): stored.form = fields.map { [$0.name, $0.value] }
        case nil: break
        }
        if last != nil { (stored.pages, stored.records, stored.after, stored.last) = (pages, records, after, last) }
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return (try? encoder.encode(stored)).map { String(decoding: $0, as: UTF8.self) } ?? request.url
    }

    /// - Parameter request: what the first page is asked for by, which has the same form.
    init(text: String, like request: PageRequest) {
        guard text.hasPrefix("{"), let stored = try? JSONDecoder().decode(Stored.self, from: Data(text.utf8)) else {
            self.init(request: PageRequest(url: text, body: request.body), pages: 0, records: 0, after: nil, last: nil)
            return
        }
        var body = request.body
        if let json = stored.json { body = JSONBody(parsing: json).map(RequestBody.json) ?? body }
        if let form = stored.form { body = .form(form.filter { $0.count == 2 }.map { .init($0[0], $0[1]) }) }
        self.init(
            request: PageRequest(url: stored.url, body: body), pages: stored.pages ?? 0, records: stored.records ?? 0,
            after: stored.after, last: stored.last)
    }
}

extension JSONBody {
    /// Reads what ``text`` has written; members come back in the order of their keys only if they were written so, so equal texts are what
    /// counts. Nil if it is not JSON.
    init?(parsing text: String) {
        var scanner = JSONBodyScanner(Array(text.utf8)[...])
        guard let value = scanner.value(depth: 0), scanner.isAtEnd else { return nil }
        self = value
    }
}

/// Reads compact JSON, order kept.
private struct JSONBodyScanner {
    private var rest: ArraySlice<UInt8>

    init(_ bytes: ArraySlice<UInt8>) { rest = bytes }

    var isAtEnd: Bool { rest.isEmpty }

    mutating func value(depth: Int) -> JSONBody? {
        guard depth < 128, let byte = rest.first else { return nil }
        switch byte {
        case UInt8(ascii: "{"):
            rest = rest.dropFirst()
            var members: [JSONBody.Member] = []
            if take("}") { return .object(members) }
            while true {
                guard let key = string(), take(":"), let value = value(depth: depth + 1) else { return nil }
                members.append(.init(key, value))
                if take("}") { return .object(members) }
                guard take(",") else { return nil }
            }
        case UInt8(ascii: "["):
            rest = rest.dropFirst()
            var values: [JSONBody] = []
            if take("]") { return .array(values) }
            while true {
                guard let value = value(depth: depth + 1) else { return nil }
                values.append(value)
                if take("]") { return .array(values) }
                guard take(",") else { return nil }
            }
        case UInt8(ascii: "\""): return string().map(JSONBody.string)
        default:
            let word = rest.prefix { ![UInt8(ascii: ","), UInt8(ascii: "]"), UInt8(ascii: "}")].contains($0) }
            rest = rest[word.endIndex...]
            switch String(decoding: word, as: UTF8.self) {
            case "null": return .null
            case "true": return .bool(true)
            case "false": return .bool(false)
            case let text: return Double(text) == nil ? nil : .number(text)
            }
        }
    }

    private mutating func take(_ text: StaticString) -> Bool {
        guard rest.first == text.utf8Start.pointee else { return false }
        rest = rest.dropFirst()
        return true
    }

    private mutating func string() -> String? {
        guard take("\"") else { return nil }
        var escaped = false
        guard let end = rest.firstIndex(where: { byte in
            if escaped { escaped = false; return false }
            if byte == UInt8(ascii: "\\") { escaped = true }
            return byte == UInt8(ascii: "\"")
        }) else { return nil }
        defer { rest = rest[(end + 1)...] }
        let quoted = [UInt8(ascii: "\"")] + rest[..<end] + [UInt8(ascii: "\"")]
        return try? JSONDecoder().decode(String.self, from: Data(quoted))
    }
}
