// The end of a JSON text, for responses that declare none. Pure.

/// The end of an object or an array, if a text is one.
enum JSONEnd {
    /// The text is no object and no array, or has more than one.
    case unknown
    /// The text ends behind the object or the array.
    case reached
    /// The text ends within it.
    case missing

    /// Returns whether a text has the end of its object or array.
    ///
    /// It only matches brackets outside of strings: an invalid text is left to its parser.
    static func of(_ body: [UInt8]) -> JSONEnd {
        let text = body.withoutMark
        var depth = 0, isInString = false, isEscaped = false
        func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 || byte == 0x0A || byte == 0x0D }
        let start = text.firstIndex { !isSpace($0) }
        guard let start, text[start] == UInt8(ascii: "{") || text[start] == UInt8(ascii: "[") else { return .unknown }
        for index in start..<text.endIndex {
            let byte = text[index]
            if isInString {
                if isEscaped {
                    isEscaped = false
                } else if byte == UInt8(ascii: "\\") {
                    isEscaped = true
                } else if byte == UInt8(ascii: "\"") {
                    isInString = false
                }
                continue
            }
            switch byte {
            case UInt8(ascii: "\""): isInString = true
            case UInt8(ascii: "{"), UInt8(ascii: "["): depth += 1
            case UInt8(ascii: "}"), UInt8(ascii: "]"):
                depth -= 1
                if depth == 0 { return text[(index + 1)...].allSatisfy(isSpace) ? .reached : .unknown }
            default: break
            }
        }
        return .missing
    }
}
