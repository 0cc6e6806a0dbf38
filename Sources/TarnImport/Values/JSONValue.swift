// JSON as a value of its own, for code that reads or edits it: transformers and hooks. The import itself never makes one.

internal import TarnStore

/// A JSON value, copied out of a document.
public enum JSONValue: Sendable, Hashable {
    case null
    case bool(Bool)
    /// As it was written.
    case number(String)
    case string(String)
    case array([JSONValue])
    /// In the order of the document; a key may be there twice.
    case object([Member])

    /// A key of an object and its value.
    public struct Member: Sendable, Hashable {
        /// Without its escapes.
        public var key: String
        /// What stands behind the colon.
        public var value: JSONValue

        public init(_ key: String, _ value: JSONValue) {
            self.key = key
            self.value = value
        }
    }

    /// The value of a key of an object, the last one if it is there twice. Nil if this is no object or has no such key.
    ///
    /// Setting one replaces it, or adds it at the end; setting nil removes it. Of what is no object nothing is set.
    public subscript(key: String) -> JSONValue? {
        get {
            guard case .object(let members) = self else { return nil }
            return members.last { $0.key == key }?.value
        }
        set {
            guard case .object(var members) = self else { return }
            if let newValue, let index = members.lastIndex(where: { $0.key == key }) {
                members[index].value = newValue
            } else if let newValue {
                members.append(Member(key, newValue))
            } else {
                members.removeAll { $0.key == key }
            }
            self = .object(members)
        }
    }

    /// Compact JSON.
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

    /// Reads a whole document.
    ///
    /// - Throws: `ImportError.invalidJSON`.
    public init(_ text: String) throws(ImportError) {
        let parser = try JSONParser()
        self = JSONValue(try parser.parse(text: text), Tape.root)
        // The tape lies in the parser's memory.
        withExtendedLifetime(parser) {}
    }

    /// As deep as the parser reads.
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
