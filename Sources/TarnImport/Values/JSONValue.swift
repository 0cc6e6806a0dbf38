// JSON as a value for code that reads or edits it: transformers and hooks. Plain imports create
// none.

internal import TarnStore

/// A JSON value, copied out of a document.
public enum JSONValue: Sendable, Hashable {
    case null
    case bool(Bool)
    /// A number as it is written.
    case number(String)
    case string(String)
    case array([JSONValue])
    /// The members in the order of the document; a key may occur twice.
    case object([Member])

    /// A key of an object and its value.
    public struct Member: Sendable, Hashable {
        /// The unescaped key.
        public var key: String
        /// The value of the key.
        public var value: JSONValue

        /// Creates a member.
        public init(_ key: String, _ value: JSONValue) {
            self.key = key
            self.value = value
        }

        /// Whether the member has a key, compared by its bytes.
        func isNamed(_ key: String) -> Bool { self.key.utf8.elementsEqual(key.utf8) }

        public static func == (a: Member, b: Member) -> Bool { a.isNamed(b.key) && a.value == b.value }

        public func hash(into hasher: inout Hasher) {
            for byte in key.utf8 { hasher.combine(byte) }
            hasher.combine(value)
        }
    }

    /// Texts are compared by their bytes, never by canonical equivalence.
    public static func == (a: JSONValue, b: JSONValue) -> Bool {
        switch (a, b) {
        case (.null, .null): true
        case (.bool(let x), .bool(let y)): x == y
        case (.number(let x), .number(let y)), (.string(let x), .string(let y)): x.utf8.elementsEqual(y.utf8)
        case (.array(let x), .array(let y)): x == y
        case (.object(let x), .object(let y)): x == y
        default: false
        }
    }

    public func hash(into hasher: inout Hasher) {
        for byte in text.utf8 { hasher.combine(byte) }
    }

    /// The value of a key; the last one if the key occurs twice. Nil without that key or an object.
    ///
    /// Setting a value replaces the last one of that key, or adds the key at the end. Setting nil
    /// removes the key. On a value that is no object, setting has no effect.
    public subscript(key: String) -> JSONValue? {
        get {
            guard case .object(let members) = self else { return nil }
            return members.last { $0.isNamed(key) }?.value
        }
        set {
            guard case .object(var members) = self else { return }
            if let newValue, let index = members.lastIndex(where: { $0.isNamed(key) }) {
                members[index].value = newValue
            } else if let newValue {
                members.append(Member(key, newValue))
            } else {
                members.removeAll { $0.isNamed(key) }
            }
            self = .object(members)
        }
    }

    /// The value as compact JSON.
    public var text: String {
        var text = ""
        append(to: &text)
        return text
    }

    private func append(to text: inout String) {
        switch self {
        case .null: text += "null"
        case .bool(let value): text += value ? "true" : "false"
        case .number(let digits): text += digits
        case .string(let value): text.appendJSONString(value)
        case .array(let values):
            text += "["
            for (index, value) in values.enumerated() {
                if index > 0 { text += "," }
                value.append(to: &text)
            }
            text += "]"
        case .object(let members):
            text += "{"
            for (index, member) in members.enumerated() {
                if index > 0 { text += "," }
                text.appendJSONString(member.key)
                text += ":"
                member.value.append(to: &text)
            }
            text += "}"
        }
    }

    /// Parses a whole document.
    ///
    /// - Throws: `ImportError.invalidJSON`, or `ImportError.outOfMemory`.
    public init(_ text: String) throws(ImportError) {
        let parser = try JSONParser()
        self = JSONValue(try parser.parse(text: text), Tape.root)
        // The tape is stored in the parser's memory.
        withExtendedLifetime(parser) {}
    }

    /// Copies a value from a tape. The recursion is bounded by the parser's maximum depth.
    init(_ tape: Tape, _ index: Int) {
        switch tape.kind(index) {
        case .object:
            var members: [Member] = [], place = index + 1
            while place < tape.end(index) {
                members.append(Member(String(decoding: tape.string(place), as: UTF8.self), JSONValue(tape, place + 1)))
                place = tape.next(place + 1)
            }
            self = .object(members)
        case .array:
            var values: [JSONValue] = []
            tape.forEachElement(index) { values.append(JSONValue(tape, $0)) }
            self = .array(values)
        case .string: self = .string(String(decoding: tape.string(index), as: UTF8.self))
        case .true: self = .bool(true)
        case .false: self = .bool(false)
        case .null, nil: self = .null
        case .int, .uint, .double:
            var digits = ByteWriter(capacity: 32)
            tape.appendText(index, to: &digits)
            self = .number(String(decoding: digits.bytes, as: UTF8.self))
        }
    }
}

extension JSONParser {
    func parse(text: String) throws(ImportError) -> Tape {
        var text = text
        let result: Result<Tape, ImportError> = text.withUTF8 { bytes in
            do throws(ImportError) { return .success(try parse(Bytes(bytes))) } catch { return .failure(error) }
        }
        return try result.get()
    }
}
