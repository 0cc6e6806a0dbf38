// Scalars and comments of YAML. The texts come from outside: each is quoted so that it is read back
// as it is, and no control character reaches the file.

import Tarn

/// The writing of YAML.
enum YAMLText {
    /// The maximum width of a line.
    static let width = 110

    /// Returns a scalar, quoted if necessary, for block and flow collections.
    static func scalar(_ text: String) -> String {
        if isPlain(text) { return text }
        guard text.unicodeScalars.contains(where: { isUnsafe($0) }) else { return text.quotedYAML }
        var quoted = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"", "\\": quoted += "\\\(scalar)"
            case "\n": quoted += "\\n"
            case "\t": quoted += "\\t"
            case _ where isUnsafe(scalar):
                let digits = String(scalar.value, radix: 16, uppercase: true)
                let (letter, width) = scalar.value > 0xFFFF ? ("U", 8) : ("u", 4)
                quoted += "\\\(letter)" + String(repeating: "0", count: width - digits.utf8.count) + digits
            default: quoted.unicodeScalars.append(scalar)
            }
        }
        return quoted + "\""
    }

    /// Returns a scalar that is read back as a text, also if it is a number such as `1.0`.
    static func string(_ text: String) -> String {
        let scalar = scalar(text)
        return scalar == text && (try? JSONValue(text)) != nil ? text.quotedYAML : scalar
    }

    /// Returns a scalar for a value in which a description may name environment variables.
    ///
    /// The text comes from outside: a `${NAME}` in it must not be replaced by a secret.
    static func literal(_ text: String) -> String { scalar(text.replacing("${", with: "$${")) }

    /// Returns the path of an endpoint, as the value of a block mapping: braces need no quotes.
    static func path(_ text: String) -> String {
        let isPlain = text.hasPrefix("/") && isPlain(text.replacing("{", with: "a").replacing("}", with: "a"))
        return isPlain ? text : scalar(text)
    }

    /// Returns a list in brackets.
    static func list(_ texts: [String]) -> String { "[" + texts.map(scalar).joined(separator: ", ") + "]" }

    /// Returns a list in brackets of values as ``literal(_:)`` writes them.
    static func literals(_ texts: [String]) -> String { "[" + texts.map(literal).joined(separator: ", ") + "]" }

    /// Returns text for a comment: one line, without characters that act on a terminal.
    static func comment(_ text: String, limit: Int = 400) -> String {
        var line = "", count = 0
        for scalar in text.unicodeScalars {
            if count >= limit { return line + "…" }
            count += 1
            switch scalar {
            case "\n", "\t", "\r": line += " "
            case _ where isUnsafe(scalar): line += "\\u{\(String(scalar.value, radix: 16))}"
            default: line.unicodeScalars.append(scalar)
            }
        }
        return line
    }

    /// Returns the lines of a comment, wrapped at the width.
    static func commentLines(_ text: String, indent: Int) -> [String] {
        let start = String(repeating: " ", count: indent) + "# "
        var lines: [String] = [], line = ""
        for word in comment(text, limit: 2000).split(separator: " ") {
            if !line.isEmpty, start.count + line.count + word.count + 1 > width - 10 {
                lines.append(start + line)
                line = ""
            }
            line += (line.isEmpty ? "" : " ") + word
        }
        if !line.isEmpty { lines.append(start + line) }
        return lines
    }

    /// Whether a scalar is read back as it is without quotes, also inside of `{ }` and `[ ]`.
    private static func isPlain(_ text: String) -> Bool {
        let bytes = Array(text.utf8)
        guard let first = bytes.first, let last = bytes.last, bytes.count <= 200, !words.contains(text.lowercased())
        else { return false }
        func isWord(_ byte: UInt8) -> Bool {
            (0x61...0x7A).contains(byte | 0x20) || (0x30...0x39).contains(byte) || byte == UInt8(ascii: "_")
        }
        guard isWord(first) || first == UInt8(ascii: "/") || first == UInt8(ascii: "$"),
            isWord(last) || last == UInt8(ascii: "/") || last == UInt8(ascii: "$")
        else { return false }
        return bytes.enumerated().allSatisfy { index, byte in
            switch byte {
            case _ where isWord(byte): true
            case UInt8(ascii: "."), UInt8(ascii: "/"), UInt8(ascii: "-"), UInt8(ascii: "+"), UInt8(ascii: "$"): true
            // A colon before a space ends a key; one inside of a URL does not.
            case UInt8(ascii: ":"):
                index + 1 < bytes.count && (bytes[index + 1] == UInt8(ascii: "/") || isWord(bytes[index + 1]))
            case UInt8(ascii: " "): index > 0 && bytes[index - 1] != UInt8(ascii: " ")
            default: false
            }
        }
    }

    /// Words that YAML readers take for something else than text.
    private static let words: Set = ["null", "true", "false", "yes", "no", "on", "off", "y", "n", "nan", "inf"]

    /// Whether a scalar must not be in the file as it is: it is not printable in YAML, or acts on a
    /// terminal.
    static func isUnsafe(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0..<0x20, 0x7F...0x9F, 0x61C, 0x200B...0x200F, 0x2028...0x202E, 0x2060...0x206F, 0xFEFF, 0xFFF0...0xFFFF,
            0xE0000...0xE0FFF:
            true
        case 0x10000...: scalar.value & 0xFFFE == 0xFFFE
        default: false
        }
    }
}
