// Coercion of JSON to components of primary keys, and descriptions of values for messages.

internal import TarnStore

extension Tape {
    /// Appends an encoded component of a primary key.
    ///
    /// - Returns: false if the JSON does not fit the key's type.
    func appendKeyComponent(_ index: Int, as type: AttributeType, to writer: inout ByteWriter) -> Bool {
        switch type {
        case .int:
            guard let value = wholeNumber(index).flatMap(\.signed) else { return false }
            writer.appendTuple(value)
        case .string:
            switch kind(index) {
            case .string: writer.appendTuple(string: string(index))
            case .int, .uint:
                var text = ByteWriter(capacity: 24)
                appendText(index, to: &text)
                writer.appendTuple(string: text.bytes)
            case .double:
                // Whole numbers beyond 64 bits. Other numbers have several texts: 2.5 and 2.50.
                guard let text = numberText(index),
                    text.allSatisfy({ $0 == UInt8(ascii: "-") || (0x30...0x39).contains($0) })
                else { return false }
                writer.appendTuple(string: text)
            default: return false
            }
        case .uuid:
            guard let value = uuid(index) else { return false }
            withUnsafeBytes(of: value.uuid) { writer.appendTuple(uuid: $0) }
        default: return false
        }
        return true
    }
}

extension Tape {
    /// Returns a value as JSON, cut at 80 Unicode scalars.
    func sample(_ index: Int) -> String {
        // Long values are not serialized as a whole: only their beginning is needed.
        if kind(index) == .string {
            let text = string(index), cut = Bytes(rebasing: text.prefix(400))
            var json = ""
            json.appendJSONString(String(decoding: cut, as: UTF8.self))
            return Tape.cut(json)
        }
        if kind(index) == .object || kind(index) == .array, !isShort(index) {
            return kind(index) == .object ? "{…}" : "[…]"
        }
        var text = ByteWriter()
        appendText(index, to: &text)
        return Tape.cut(String(decoding: text.bytes, as: UTF8.self))
    }

    private static func cut(_ text: String) -> String {
        // Counted in scalars: one character may consist of any number of them.
        text.unicodeScalars.count > 80 ? String(text.unicodeScalars.prefix(79)) + "…" : text
    }

    /// Returns whether an object or a list has few values and little text.
    private func isShort(_ index: Int) -> Bool {
        guard end(index) - index <= 200 else { return false }
        var length = 0, position = index + 1
        while position < end(index) {
            if kind(position) == .string { length += string(position).count }
            // Enters containers, and skips numbers: their second word is no kind.
            position = kind(position) == .object || kind(position) == .array ? position + 1 : next(position)
        }
        return length <= 4096
    }

    /// Returns the beginning of a text from a server, for messages, with `…` if it is cut.
    ///
    /// A scalar that is cut in the middle becomes U+FFFD.
    static func excerpt(_ bytes: Bytes, _ limit: Int = 200) -> String {
        bytes.count > limit
            ? String(decoding: bytes.prefix(limit), as: UTF8.self) + "…" : String(decoding: bytes, as: UTF8.self)
    }

    /// Returns a description of a value for messages: `the text "12px"`, `a list`.
    func describe(_ index: Int) -> String {
        switch kind(index) {
        case .object: return "an object"
        case .array: return "a list"
        case .string:
            let bytes = string(index), text = String(decoding: bytes.prefix(200), as: UTF8.self).unicodeScalars
            return "the text \"\(bytes.count > 200 || text.count > 40 ? String(text.prefix(40)) + "…" : String(text))\""
        case .int, .uint, .double:
            var text = ByteWriter()
            appendText(index, to: &text)
            return "the number \(String(decoding: text.bytes.prefix(40), as: UTF8.self))\(text.count > 40 ? "…" : "")"
        case .true: return "true"
        case .false: return "false"
        case .null, nil: return "null"
        }
    }
}
