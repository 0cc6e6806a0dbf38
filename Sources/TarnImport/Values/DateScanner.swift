// A scanner that reads dates piece by piece from the bytes of a text.

internal import TarnStore

/// A position in a text, and the pieces of a date read so far.
struct DateScanner {
    private let text: Bytes
    private(set) var index = 0
    var time = CivilTime()
    /// Whether a half day was read, and which; nil without `a`.
    var isAfternoon: Bool?

    init(_ text: Bytes) { self.text = text }

    var isAtEnd: Bool { index == text.count }

    /// The point in time; nil if a piece is out of range.
    ///
    /// Second 60, a leap second, is the first second of the next minute.
    var timestamp: Timestamp? {
        var time = time
        if let isAfternoon {
            guard (1...12).contains(time.hour) else { return nil }
            time.hour = time.hour % 12 + (isAfternoon ? 12 : 0)
        }
        return Timestamp(time)
    }

    mutating func literal(_ byte: UInt8) -> Bool {
        guard index < text.count, text[index] == byte else { return false }
        index += 1
        return true
    }

    /// Reads the first of several words that matches, ignoring the case of ASCII letters.
    ///
    /// - Returns: the index of the word.
    mutating func word(of words: [[UInt8]]) -> Int? {
        for (place, word) in words.enumerated() where index + word.count <= text.count {
            if word.indices.allSatisfy({ text[index + $0] | 0x20 == word[$0] }) {
                index += word.count
                return place
            }
        }
        return nil
    }

    /// Reads a number with this many digits.
    mutating func number(_ digits: ClosedRange<Int>) -> Int? {
        var value = 0, count = 0
        while count < digits.upperBound, index < text.count, (0x30...0x39).contains(text[index]) {
            value = value * 10 + Int(text[index] - 0x30)
            index += 1
            count += 1
        }
        return count >= digits.lowerBound ? value : nil
    }

    /// Reads the digits of a fraction, truncated to microseconds. Nil: one or more digits.
    mutating func fraction(_ digits: Int?) -> Bool {
        var scale = 100_000, count = 0
        time.microsecond = 0
        while count < digits ?? .max, index < text.count, (0x30...0x39).contains(text[index]) {
            time.microsecond += Int(text[index] - 0x30) * scale
            scale /= 10
            index += 1
            count += 1
        }
        return count > 0 && count == digits ?? count
    }

    enum OffsetForm { case basic, extended, either }

    /// Reads an offset: `+01:00`, `+0100`, `+01` if the minutes are optional, `Z` if allowed.
    mutating func offset(_ form: OffsetForm, zulu: Bool, minutesOptional: Bool) -> Bool {
        guard index < text.count else { return false }
        let sign = text[index]
        if zulu, sign | 0x20 == UInt8(ascii: "z") {
            index += 1
            time.offset = 0
            return true
        }
        guard sign == UInt8(ascii: "+") || sign == UInt8(ascii: "-") else { return false }
        index += 1
        guard let hours = number(2...2), hours < 24 else { return false }
        var minutes = 0
        let hasColon = index < text.count && text[index] == UInt8(ascii: ":")
        let hasDigit = index < text.count && (0x30...0x39).contains(text[index])
        if hasColon ? form != .basic : (hasDigit && form != .extended) {
            if hasColon { index += 1 }
            guard let read = number(2...2), read < 60 else { return false }
            minutes = read
        } else if !minutesOptional {
            return false
        }
        time.offset = (hours * 60 + minutes) * (sign == UInt8(ascii: "+") ? 1 : -1)
        return true
    }

    /// Parses `DateFormat.iso8601`.
    static func iso8601(_ text: Bytes) -> Timestamp? {
        var scanner = DateScanner(text)
        guard let year = scanner.number(4...4), scanner.literal(UInt8(ascii: "-")),
            let month = scanner.number(2...2), scanner.literal(UInt8(ascii: "-")),
            let day = scanner.number(2...2)
        else { return nil }
        (scanner.time.year, scanner.time.month, scanner.time.day) = (year, month, day)
        if scanner.isAtEnd { return scanner.timestamp }
        var hasTime = scanner.literal(UInt8(ascii: "T"))
        if !hasTime { hasTime = scanner.literal(UInt8(ascii: "t")) }
        if !hasTime { hasTime = scanner.literal(UInt8(ascii: " ")) }
        guard hasTime, let hour = scanner.number(2...2), scanner.literal(UInt8(ascii: ":")),
            let minute = scanner.number(2...2)
        else { return nil }
        (scanner.time.hour, scanner.time.minute) = (hour, minute)
        if scanner.literal(UInt8(ascii: ":")) {
            guard let second = scanner.number(2...2) else { return nil }
            scanner.time.second = second
            var hasFraction = scanner.literal(UInt8(ascii: "."))
            if !hasFraction { hasFraction = scanner.literal(UInt8(ascii: ",")) }
            if hasFraction, !scanner.fraction(nil) { return nil }
        }
        if !scanner.isAtEnd, !scanner.offset(.either, zulu: true, minutesOptional: true) { return nil }
        return scanner.isAtEnd ? scanner.timestamp : nil
    }
}
