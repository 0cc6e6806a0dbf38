extension String {
    /// Appends a JSON string (RFC 8259 §7). Only characters that must be escaped are escaped.
    package mutating func appendJSONString(_ string: String) {
        var string = string
        self += "\""
        let end = string.withUTF8 { JSONText.escaped(in: Bytes($0), from: 0) }
        // Most strings need no escape at all.
        if end == string.utf8.count {
            self += string
        } else {
            appendEscaped(&string, from: end)
        }
        self += "\""
    }

    /// Appends a string with the first byte to escape at an offset.
    private mutating func appendEscaped(_ string: inout String, from offset: Int) {
        var place = string.startIndex, offset = offset
        while true {
            let end = string.utf8.index(string.startIndex, offsetBy: offset)
            self += string[place..<end]
            guard end < string.endIndex else { return }
            switch string.utf8[end] {
            case 0x22: self += "\\\""
            case 0x5C: self += "\\\\"
            case 0x0A: self += "\\n"
            case 0x0D: self += "\\r"
            case 0x09: self += "\\t"
            case let byte: self += (byte < 0x10 ? "\\u000" : "\\u00") + String(byte, radix: 16)
            }
            place = string.utf8.index(after: end)
            offset = string.withUTF8 { JSONText.escaped(in: Bytes($0), from: offset + 1) }
        }
    }
}
