// Date patterns: the subset of Unicode's date field symbols (UTS #35, part 4) that APIs need, in
// English.

import Foundation
package import TarnStore

/// A date pattern such as `dd/MM/yyyy HH:mm` or `EEE MMM dd HH:mm:ss Z yyyy`.
///
/// `ImportValues.md` lists the letters.
public struct DatePattern: Sendable, Hashable, ExpressibleByStringLiteral {
    /// The pattern as written.
    package let text: String
    private let elements: [Element]

    private enum Element: Hashable {
        case literal(UInt8)
        case year, shortYear
        /// A number with a minimum and a maximum number of digits.
        case month(Int, Int), day(Int, Int), hour(Int, Int), halfDayHour(Int, Int), minute(Int, Int), second(Int, Int)
        case monthName(isLong: Bool), weekday(isLong: Bool), halfDay
        /// A fraction with this number of digits; nil for any number.
        case fraction(Int?)
        case offset(DateScanner.OffsetForm, zulu: Bool, minutesOptional: Bool)
        /// `GMT`, `UTC`, `UT` or `Z`.
        case zone
    }

    /// Parses a pattern.
    ///
    /// - Throws: `DatePatternError` if a letter is unknown, a piece occurs twice, a quotation is
    ///   not closed, `h` and `a` do not occur together, or the year, month or day is missing.
    init(_ text: String) throws(DatePatternError) {
        self.text = text
        var parser = Parser(text)
        while let byte = parser.next {
            if byte == UInt8(ascii: "'") {
                try parser.quotation()
            } else if (0x61...0x7A).contains(byte | 0x20), byte < 0x80 {
                try parser.letters(byte)
            } else {
                parser.literal(byte)
            }
        }
        try parser.checkCompleteness()
        elements = parser.elements
    }

    /// Creates a pattern from a literal: `.pattern("dd/MM/yyyy")`.
    ///
    /// - Precondition: it is a pattern. One that is computed is parsed by ``DateFormat/init(_:)``.
    public init(stringLiteral text: String) {
        do { try self.init(text) } catch { preconditionFailure("\(error)") }
    }

    private struct Parser {
        private let text: String
        private let bytes: [UInt8]
        private var index = 0
        private(set) var elements: [Element] = []
        /// The pieces of a date that occurred.
        private var seen: Set<UInt8> = []

        init(_ text: String) {
            self.text = text
            bytes = Array(text.utf8)
        }

        /// The next byte; nil at the end.
        var next: UInt8? { index < bytes.count ? bytes[index] : nil }

        mutating func literal(_ byte: UInt8) {
            elements.append(.literal(byte))
            index += 1
        }

        /// Parses text between quotes.
        mutating func quotation() throws(DatePatternError) {
            let quote = UInt8(ascii: "'")
            index += 1
            // A doubled quote is a quote, inside and outside of a quotation.
            if next == quote { return literal(quote) }
            while let byte = next {
                if byte == quote {
                    index += 1
                    guard next == quote else { return }
                }
                literal(byte)
            }
            throw DatePatternError(text, "unterminated quote: write '' for the character '")
        }

        /// Parses a run of one letter.
        mutating func letters(_ byte: UInt8) throws(DatePatternError) {
            var count = 1
            while index + count < bytes.count, bytes[index + count] == byte { count += 1 }
            index += count
            let letter = Character(UnicodeScalar(byte))
            guard let element = DatePattern.element(letter, count) else {
                throw DatePatternError(
                    text,
                    "unknown date field \(String(repeating: letter, count: count)): put literal text between ' and '"
                )
            }
            guard seen.insert(DatePattern.piece(letter)).inserted else {
                throw DatePatternError(text, "\(letter) repeats another field: remove one of them")
            }
            elements.append(element)
        }

        /// Checks that the pieces make a date.
        func checkCompleteness() throws(DatePatternError) {
            for (letter, name) in [("y", "year"), ("M", "month"), ("d", "day")] {
                guard let byte = letter.utf8.first, seen.contains(byte) else {
                    throw DatePatternError(
                        text, "missing \(name) (\(letter)), or unknown name of a format")
                }
            }
            let hasHalfDay = elements.contains(.halfDay)
            let hasHalfDayHour = elements.contains { if case .halfDayHour = $0 { true } else { false } }
            guard hasHalfDay == hasHalfDayHour else {
                throw DatePatternError(text, "h and a must be used together: use H for a 24-hour clock")
            }
        }
    }

    /// Returns the piece of a date that a letter stands for. Synonymous letters share one.
    private static func piece(_ letter: Character) -> UInt8 {
        switch letter {
        case "h": UInt8(ascii: "H")
        case "X", "x", "z": UInt8(ascii: "Z")
        default: letter.asciiValue ?? 0
        }
    }

    private static func element(_ letter: Character, _ count: Int) -> Element? {
        let digits: (Int, Int)? = count == 1 ? (1, 2) : count == 2 ? (2, 2) : nil
        switch (letter, count) {
        case ("y", 4): return .year
        case ("y", 2): return .shortYear
        case ("M", 3): return .monthName(isLong: false)
        case ("M", 4): return .monthName(isLong: true)
        case ("E", 1...3): return .weekday(isLong: false)
        case ("E", 4): return .weekday(isLong: true)
        case ("a", 1): return .halfDay
        case ("S", 1): return .fraction(nil)
        case ("S", 2...9): return .fraction(count)
        case ("Z", 1): return .offset(.basic, zulu: false, minutesOptional: false)
        case ("X", 1): return .offset(.basic, zulu: true, minutesOptional: true)
        case ("X", 2): return .offset(.basic, zulu: true, minutesOptional: false)
        case ("X", 3): return .offset(.extended, zulu: true, minutesOptional: false)
        case ("x", 1): return .offset(.basic, zulu: false, minutesOptional: true)
        case ("x", 2): return .offset(.basic, zulu: false, minutesOptional: false)
        case ("x", 3): return .offset(.extended, zulu: false, minutesOptional: false)
        case ("z", 1): return .zone
        default: break
        }
        guard let digits else { return nil }
        switch letter {
        case "M": return .month(digits.0, digits.1)
        case "d": return .day(digits.0, digits.1)
        case "H": return .hour(digits.0, digits.1)
        case "h": return .halfDayHour(digits.0, digits.1)
        case "m": return .minute(digits.0, digits.1)
        case "s": return .second(digits.0, digits.1)
        default: return nil
        }
    }

    /// Parses a whole text; UTC if the pattern has no offset.
    func timestamp(_ text: Bytes) -> Timestamp? {
        var scanner = DateScanner(text)
        for element in elements {
            guard read(element, &scanner) else { return nil }
        }
        return scanner.isAtEnd ? scanner.timestamp : nil
    }

    private func read(_ element: Element, _ scanner: inout DateScanner) -> Bool {
        switch element {
        case .literal(let byte): return scanner.literal(byte)
        case .year:
            guard let value = scanner.number(4...4) else { return false }
            scanner.time.year = value
        case .shortYear:
            guard let year = scanner.number(2...2) else { return false }
            // POSIX strptime: 69–99 are years of the last century.
            scanner.time.year = year + (year >= 69 ? 1900 : 2000)
        case .month(let least, let most):
            guard let value = scanner.number(least...most) else { return false }
            scanner.time.month = value
        case .day(let least, let most):
            guard let value = scanner.number(least...most) else { return false }
            scanner.time.day = value
        case .hour(let least, let most), .halfDayHour(let least, let most):
            guard let value = scanner.number(least...most) else { return false }
            scanner.time.hour = value
        case .minute(let least, let most):
            guard let value = scanner.number(least...most) else { return false }
            scanner.time.minute = value
        case .second(let least, let most):
            guard let value = scanner.number(least...most) else { return false }
            scanner.time.second = value
        case .fraction(let digits): return scanner.fraction(digits)
        case .monthName(let isLong):
            guard let place = scanner.word(of: isLong ? EnglishDates.months : EnglishDates.shortMonths) else {
                return false
            }
            scanner.time.month = place + 1
        case .weekday(let isLong):
            return scanner.word(of: isLong ? EnglishDates.weekdays : EnglishDates.shortWeekdays) != nil
        case .halfDay:
            guard let place = scanner.word(of: EnglishDates.halves) else { return false }
            scanner.isAfternoon = place == 1
        case .offset(let form, let zulu, let minutesOptional):
            return scanner.offset(form, zulu: zulu, minutesOptional: minutesOptional)
        case .zone: return scanner.word(of: EnglishDates.zones) != nil
        }
        return true
    }

    /// Returns the text of a point in time, in UTC.
    ///
    /// It may lose what the pattern does not express: the caller compares it with what
    /// ``timestamp(_:)`` reads.
    package func text(of time: Timestamp) -> String {
        let civil = CivilTime(time)
        var text: [UInt8] = []
        for element in elements {
            // A character may consist of several literal bytes.
            if case .literal(let byte) = element {
                text.append(byte)
            } else {
                text += DatePattern.text(of: element, civil).utf8
            }
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// The smallest step between two dates that the pattern tells apart, in microseconds: a day, an
    /// hour, a minute, or a second.
    package var step: Int64 {
        func has(_ isPiece: (Element) -> Bool) -> Bool { elements.contains(where: isPiece) }
        guard has({ if case .hour = $0 { true } else if case .halfDayHour = $0 { true } else { false } }) else {
            return 86_400_000_000
        }
        guard has({ if case .minute = $0 { true } else { false } }) else { return 3_600_000_000 }
        return has { if case .second = $0 { true } else { false } } ? 1_000_000 : 60_000_000
    }

    private static func text(of element: Element, _ time: CivilTime) -> String {
        switch element {
        case .literal: ""
        case .year: padded(time.year, 4)
        case .shortYear: padded(time.year % 100, 2)
        case .month(let digits, _): padded(time.month, digits)
        case .day(let digits, _): padded(time.day, digits)
        case .hour(let digits, _): padded(time.hour, digits)
        case .halfDayHour(let digits, _): padded((time.hour + 11) % 12 + 1, digits)
        case .minute(let digits, _): padded(time.minute, digits)
        case .second(let digits, _): padded(time.second, digits)
        case .monthName(let isLong):
            word((isLong ? EnglishDates.months : EnglishDates.shortMonths)[time.month - 1])
        case .weekday(let isLong):
            word((isLong ? EnglishDates.weekdays : EnglishDates.shortWeekdays)[time.weekday])
        case .halfDay: time.hour < 12 ? "AM" : "PM"
        case .fraction(let digits): fraction(time.microsecond, digits)
        case .offset(let form, let zulu, let minutesOptional):
            zulu ? "Z" : form == .extended ? "+00:00" : minutesOptional ? "+00" : "+0000"
        case .zone: "GMT"
        }
    }

    private static func padded(_ number: Int, _ digits: Int) -> String {
        let text = String(number)
        return String(repeating: "0", count: max(0, digits - text.utf8.count)) + text
    }

    private static func word(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self).capitalized }

    /// The digits of a fraction: that many, or as many as are needed.
    private static func fraction(_ microsecond: Int, _ digits: Int?) -> String {
        var text = padded(microsecond, 6)
        if let digits {
            return String(text.prefix(digits)) + String(repeating: "0", count: max(0, digits - 6))
        }
        while text.utf8.count > 1, text.hasSuffix("0") { text.removeLast() }
        return text
    }

    /// Creates a pattern of this file, without validation.
    private init(elements: [Element], text: String) {
        self.elements = elements
        self.text = text
    }

    static let day = DatePattern(
        elements: [.year, .literal(0x2D), .month(2, 2), .literal(0x2D), .day(2, 2)], text: "yyyy-MM-dd")

    static let http = DatePattern(
        elements: [
            .weekday(isLong: false), .literal(0x2C), .literal(0x20), .day(2, 2), .literal(0x20),
            .monthName(isLong: false),
            .literal(0x20), .year, .literal(0x20), .hour(2, 2), .literal(0x3A), .minute(2, 2), .literal(0x3A),
            .second(2, 2),
        ] + " GMT".utf8.map { .literal($0) }, text: "EEE, dd MMM yyyy HH:mm:ss 'GMT'")
}

/// English words in lower case. A longer word precedes its prefixes.
private enum EnglishDates {
    static let months = words("january february march april may june july august september october november december")
    static let shortMonths = months.map { Array($0.prefix(3)) }
    static let weekdays = words("monday tuesday wednesday thursday friday saturday sunday")
    static let shortWeekdays = weekdays.map { Array($0.prefix(3)) }
    static let halves = words("am pm")
    static let zones = words("gmt utc ut z")

    private static func words(_ text: String) -> [[UInt8]] { text.utf8.split(separator: 0x20).map { Array($0) } }
}
