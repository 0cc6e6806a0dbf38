// The formats in which APIs write points in time. Each is total: it accepts a whole text or
// nothing.

package import TarnStore

/// The format of a point in time in JSON.
public enum DateFormat: Sendable, Hashable, CustomStringConvertible {
    /// RFC 3339 §5.6: `2026-11-21T02:19:00.25+01:00`.
    case rfc3339
    /// ISO 8601 with common variations.
    ///
    /// The offset may be missing (then it is UTC), `+01` or `+0100`. The seconds may be missing. A
    /// comma may replace the decimal point, and a space the `T`.
    case iso8601
    /// The date of HTTP (RFC 9110 §5.6.7, IMF-fixdate): `Sat, 21 Nov 2026 02:19:00 GMT`.
    case http
    /// A date without a time: `2026-11-21` is midnight in UTC.
    case day
    /// A number that counts units since 1970-01-01T00:00:00Z.
    case epoch(EpochUnit)
    /// A pattern of date field symbols, such as `dd/MM/yyyy`.
    case pattern(DatePattern)

    /// Parses the name of a format, or else a pattern.
    ///
    /// The names are `rfc3339`, `iso8601`, `http`, `day`, `seconds`, `milliseconds` and
    /// `microseconds`.
    ///
    /// - Throws: `DatePatternError` if the text is neither a name nor a pattern.
    public init(_ text: String) throws(DatePatternError) {
        switch text {
        case "rfc3339": self = .rfc3339
        case "iso8601": self = .iso8601
        case "http": self = .http
        case "day": self = .day
        default:
            if let unit = EpochUnit(rawValue: text) {
                self = .epoch(unit)
            } else {
                self = .pattern(try DatePattern(text))
            }
        }
    }

    /// The names that ``init(_:)`` accepts.
    package static let words = ["rfc3339", "iso8601", "http", "day"] + EpochUnit.allCases.map(\.rawValue)

    public var description: String {
        switch self {
        case .rfc3339: "rfc3339"
        case .iso8601: "iso8601"
        case .http: "http"
        case .day: "day"
        case .epoch(let unit): unit.rawValue
        case .pattern(let pattern): pattern.text
        }
    }

    var isEpoch: Bool { if case .epoch = self { true } else { false } }

    /// Parses a text; nil if it does not have this format.
    package func timestamp(_ text: String) -> Timestamp? {
        var text = text
        return text.withUTF8 { timestamp(Bytes($0), isStrict: false) }
    }

    func timestamp(_ text: Bytes, isStrict: Bool) -> Timestamp? {
        switch self {
        case .rfc3339: Timestamp(rfc3339: text, isStrict: isStrict)
        case .iso8601: DateScanner.iso8601(text)
        case .http: DatePattern.http.timestamp(text)
        case .day: DatePattern.day.timestamp(text)
        case .epoch(let unit): unit.timestamp(text)
        case .pattern(let pattern): pattern.timestamp(text)
        }
    }
}

extension Timestamp {
    /// Parses RFC 3339 §5.6. Unless strict, a space may replace the `T`, as its note allows.
    init?(rfc3339 text: Bytes, isStrict: Bool) {
        if isStrict, text.count > 10, text[10] == UInt8(ascii: " ") { return nil }
        self.init(rfc3339: text)
    }
}

extension EpochUnit {
    /// The number of microseconds in a unit, as a power of ten.
    private var digits: Int {
        switch self {
        case .seconds: 6
        case .milliseconds: 3
        case .microseconds: 0
        }
    }

    func timestamp(_ count: Int64) -> Timestamp? {
        var value = count
        for _ in 0..<digits {
            let (next, overflow) = value.multipliedReportingOverflow(by: 10)
            if overflow { return nil }
            value = next
        }
        return Timestamp(microseconds: value)
    }

    /// Parses a decimal number exactly; fractions of a microsecond are rounded to the nearest.
    func timestamp(_ text: Bytes) -> Timestamp? {
        guard let number = ExactDecimal(ascii: text) else { return nil }
        // The value is 0.d₁d₂… × 10^point, in microseconds.
        let point = Int(number.exponent) + digits
        guard point <= 19 else { return nil }
        var value: Int64 = 0
        for place in 0..<max(0, point) {
            let digit = place < number.digits.count ? Int64(number.digits[place]) : 0
            let (tens, overflow) = value.multipliedReportingOverflow(by: 10)
            // Negative accumulation: there is one more negative number.
            let (next, overflows) = tens.subtractingReportingOverflow(digit)
            if overflow || overflows { return nil }
            value = next
        }
        if point >= 0, point < number.digits.count, number.digits[point] >= 5 {
            let (next, overflow) = value.subtractingReportingOverflow(1)
            if overflow { return nil }
            value = next
        }
        if number.isNegative { return Timestamp(microseconds: value) }
        return value == .min ? nil : Timestamp(microseconds: -value)
    }
}
