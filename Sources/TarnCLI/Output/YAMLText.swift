// Rows as YAML 1.2: block mappings, with nested values as JSON, which YAML contains. What acts on a
// terminal is escaped here, as YAML escapes it: `Output` does not know where a scalar ends.

enum YAMLText {
    /// Returns a mapping as lines; in a list, the first one begins with a dash.
    static func mapping(_ members: [RowWriter.Member], _ style: OutputStyle, isInList: Bool) -> String {
        guard !members.isEmpty else { return isInList ? "- {}" : "{}" }
        var lines: [String] = []
        for (index, member) in members.enumerated() {
            let indent = isInList ? (index == 0 ? "- " : "  ") : ""
            lines.append(
                indent + scalar(member.name, indent: nil) + ": "
                    + value(member.value, style, indent: isInList ? "    " : "  "))
        }
        return lines.joined(separator: "\n")
    }

    /// Returns a value: a text as a scalar, all others as JSON.
    static func value(_ value: OutputValue, _ style: OutputStyle, indent: String) -> String {
        value.plainText(style).map { scalar($0, indent: indent) }
            ?? withLongKeys(visible(withoutPairs(withFractions(value.json(style)))))
    }

    /// Returns JSON in which a character is itself instead of the escapes of a pair of surrogates.
    ///
    /// YAML 1.2 §5.7: an escape is one character. A half of a pair is none to some readers.
    static func withoutPairs(_ json: String) -> String {
        // Most values have no escape, and no need of the slower search.
        guard json.utf8.contains(UInt8(ascii: "\\")), json.contains("\\ud") || json.contains("\\uD") else {
            return json
        }
        let bytes = Array(json.utf8)
        /// Returns the number of an escape at an index.
        func escape(_ index: Int) -> UInt32? {
            guard index + 6 <= bytes.count, bytes[index] == UInt8(ascii: "\\"), bytes[index + 1] == UInt8(ascii: "u")
            else { return nil }
            return UInt32(String(decoding: bytes[index + 2..<index + 6], as: UTF8.self), radix: 16)
        }
        var output: [UInt8] = [], index = 0
        output.reserveCapacity(bytes.count)
        while index < bytes.count {
            guard bytes[index] == UInt8(ascii: "\\") else {
                output.append(bytes[index])
                index += 1
                continue
            }
            if let high = escape(index), 0xD800..<0xDC00 ~= high, let low = escape(index + 6), 0xDC00..<0xE000 ~= low,
                let scalar = Unicode.Scalar(0x10000 + (high - 0xD800) << 10 + (low - 0xDC00))
            {
                output += String(Character(scalar)).utf8
                index += 12
            } else {
                output += bytes[index..<min(index + 2, bytes.count)]
                index += 2
            }
        }
        return String(decoding: output, as: UTF8.self)
    }

    /// Returns JSON in which each long key is an explicit one: `{? "…":1}`.
    ///
    /// Readers look for the `:` of a key only in the 1,024 characters after its beginning.
    static func withLongKeys(_ json: String) -> String {
        guard json.utf8.count > longestKey else { return json }
        let bytes = Array(json.utf8)
        var output: [UInt8] = [], copied = 0, index = 0
        while index < bytes.count {
            let start = index
            index += 1
            guard bytes[start] == UInt8(ascii: "\"") else { continue }
            while index < bytes.count, bytes[index] != UInt8(ascii: "\"") {
                index += bytes[index] == UInt8(ascii: "\\") ? 2 : 1
            }
            index = min(index + 1, bytes.count)
            guard index - start > longestKey, bytes[index...].first(where: { $0 != 0x20 }) == UInt8(ascii: ":") else {
                continue
            }
            output += bytes[copied..<start] + Array("? ".utf8)
            copied = start
        }
        return String(decoding: output + bytes[copied...], as: UTF8.self)
    }

    /// The length of a key that is not explicit, in bytes.
    private static let longestKey = 1000

    /// Returns JSON in which a number with an exponent has a fraction and a sign: `5.0e-324`.
    ///
    /// Without them, it is a text to readers of YAML 1.1.
    static func withFractions(_ json: String) -> String {
        guard json.utf8.contains(where: { $0 | 0x20 == UInt8(ascii: "e") }) else { return json }
        let bytes = Array(json.utf8)
        var output: [UInt8] = [], isText = false, isEscaped = false, hasFraction = false
        output.reserveCapacity(bytes.count + 16)
        for (index, byte) in bytes.enumerated() {
            let isDigit = (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
            if isText {
                isText = isEscaped || byte != UInt8(ascii: "\"")
                isEscaped = !isEscaped && byte == UInt8(ascii: "\\")
            } else if byte | 0x20 == UInt8(ascii: "e"), index > 0, bytes[index - 1] & 0xF0 == 0x30 {
                if !hasFraction { output += ".0".utf8 }
                output.append(byte)
                if index + 1 < bytes.count, bytes[index + 1] & 0xF0 == 0x30 { output.append(UInt8(ascii: "+")) }
                continue
            } else {
                isText = byte == UInt8(ascii: "\"")
                hasFraction = byte == UInt8(ascii: ".") || hasFraction && isDigit
            }
            output.append(byte)
        }
        return String(decoding: output, as: UTF8.self)
    }

    /// Returns a text as a plain scalar, a literal block, or a double-quoted scalar.
    ///
    /// - Parameter indent: the indentation of a block; nil if none may follow.
    static func scalar(_ text: String, indent: String?) -> String {
        if isPlain(text) { return text }
        if let indent, let block = block(text, indent) { return block }
        var quoted = ""
        quoted.appendJSONString(text)
        return visible(quoted)
    }

    /// Returns JSON text in which no character acts on a terminal, and none has too many marks.
    ///
    /// The result is YAML. Such characters occur only in strings.
    static func visible(_ json: String) -> String {
        var json = json, bytes: [UInt8] = []
        json.withUTF8 { VisibleText.appendJSON($0, to: &bytes) }
        let text = String(decoding: bytes, as: UTF8.self)
        guard VisibleText.hasManyMarks(text) || text.unicodeScalars.contains(where: { isExcluded($0) }) else {
            return text
        }
        // Appending a sequence to a view of scalars copies the view.
        var escaped = "", marks = VisibleText.MarkCount()
        for scalar in text.unicodeScalars {
            let isExcess = marks.isBeyondLimit(scalar)
            if isExcess || isExcluded(scalar) {
                // YAML 1.2 §5.7: there are no pairs of surrogates, as in JSON.
                let digits = String(scalar.value, radix: 16),
                    (letter, width) = scalar.value > 0xFFFF ? ("U", 8) : ("u", 4)
                let zeros = String(repeating: "0", count: width - digits.utf8.count)
                escaped += "\\\(letter)\(zeros)\(digits)"
            } else {
                escaped.unicodeScalars.append(scalar)
            }
        }
        return escaped
    }

    /// Whether no YAML text may contain a character (YAML 1.2 §5.1), besides those that act.
    private static func isExcluded(_ scalar: Unicode.Scalar) -> Bool { scalar == "\u{FFFE}" || scalar == "\u{FFFF}" }

    /// Texts that YAML 1.1 or 1.2 takes as something else, in lower case.
    private static let words: Set = ["null", "true", "false", "yes", "no", "on", "off", "y", "n", "inf", "nan"]

    /// For each byte of ASCII whether a plain scalar may have it.
    private static let isSafe: [Bool] = (UInt8(0)..<0x80).map { byte in
        let scalar = Unicode.Scalar(byte)
        return isLetter(scalar) || ("0"..."9").contains(scalar)
            || " _-./@+,()!?%;=:'".unicodeScalars.contains(scalar)
    }

    /// Whether a plain scalar means the text, to YAML 1.1 as well.
    private static func isPlain(_ text: String) -> Bool {
        guard let first = text.unicodeScalars.first, text.utf8.last != 0x20, text.utf8.count <= 1000,
            isLetter(first) || first == "/" || first == "_"
        else { return false }
        guard text.utf8.count > 5 || !words.contains(text.lowercased()) else { return false }
        var text = text
        let isPlainASCII = text.withUTF8 { bytes -> Bool? in
            var previous: UInt8 = 0x20
            for byte in bytes {
                guard byte < 0x80 else { return nil }
                guard isSafe[Int(byte)], !(byte == 0x20 && previous == 0x3A) else { return false }
                previous = byte
            }
            return previous != 0x3A
        }
        return isPlainASCII ?? (isPlainUnicode(text) && !VisibleText.hasManyMarks(text))
    }

    private static func isPlainUnicode(_ text: String) -> Bool {
        var previous: Unicode.Scalar = " "
        for scalar in text.unicodeScalars {
            let isSafe = scalar.isASCII ? isSafe[Int(scalar.value)] : isLetter(scalar)
            guard isSafe, !(scalar == " " && previous == ":") else { return false }
            previous = scalar
        }
        return previous != ":"
    }

    private static func isLetter(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar {
        case "a"..."z", "A"..."Z": true
        default:
            scalar.value >= 0xC0 && scalar.value != 0xFEFF && !VisibleText.acts(scalar.value)
                && scalar.properties.isAlphabetic
        }
    }

    /// Returns a text of several lines as a literal block (YAML 1.2 §8.1.2); nil if none can be.
    private static func block(_ text: String, _ indent: String) -> String? {
        guard text.utf8.contains(0x0A), text.utf8.first != 0x20, text.utf8.first != 0x0A,
            text.unicodeScalars.allSatisfy({
                $0 == "\n" || !VisibleText.acts($0.value) && $0.value != 0xFEFF && !isExcluded($0)
            }), !VisibleText.hasManyMarks(text)
        else { return nil }
        var text = text
        return text.withUTF8 { bytes in
            let end = (bytes.lastIndex { $0 != 0x0A } ?? -1) + 1, breaks = bytes.count - end
            var result: [UInt8] = []
            result.reserveCapacity(bytes.count + bytes.count / 8 + 16)
            result += (breaks == 0 ? "|-" : breaks == 1 ? "|" : "|+").utf8
            for line in bytes[..<end].split(separator: 0x0A, omittingEmptySubsequences: false) {
                result.append(0x0A)
                if !line.isEmpty { result += indent.utf8 }
                result += line
            }
            for _ in 0..<max(0, breaks - 1) { result.append(0x0A) }
            return String(decoding: result, as: UTF8.self)
        }
    }
}
