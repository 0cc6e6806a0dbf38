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
            var text = JSONText()
            string.withUTF8 { text.append(string: Bytes($0)) }
            // The quotes are dropped as bytes: a character may consist of a quote and a combining
            // mark.
            self += String(decoding: text.bytes.dropFirst().dropLast(), as: UTF8.self)
        }
        self += "\""
    }
}
