extension String {
    /// Appends a JSON string (RFC 8259 §7). Only characters that must be escaped are escaped.
    package mutating func appendJSONString(_ string: String) {
        self += "\""
        // Most strings need no escape at all.
        if string.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x22 && $0 != 0x5C }) {
            self += string
        } else {
            for scalar in string.unicodeScalars {
                switch scalar {
                case "\"": self += "\\\""
                case "\\": self += "\\\\"
                case "\n": self += "\\n"
                case "\r": self += "\\r"
                case "\t": self += "\\t"
                case _ where scalar.value < 0x20:
                    let hex = String(scalar.value, radix: 16)
                    self += "\\u" + String(repeating: "0", count: 4 - hex.utf8.count) + hex
                default: unicodeScalars.append(scalar)
                }
            }
        }
        self += "\""
    }
}
