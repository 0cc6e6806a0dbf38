// The values of an incremental endpoint: compared, and moved back before they are sent.

import Foundation
import TarnHTTP
import TarnImport
import TarnStore

/// The comparison of the values that an incremental endpoint reads from its records.
struct IncrementalValues: Sendable {
    private enum Kind {
        case number
        /// A date in one of these formats.
        case date([DateFormat])
        case text
        /// No attribute has the value: its form decides.
        case unknown
    }

    let rule: Incremental
    private let kind: Kind
    private let place: String

    /// - Parameter entity: the entity of the listed records.
    init(_ rule: Incremental, entity: String, _ description: Description, place: String) {
        self.rule = rule
        self.place = place
        guard let path = rule.field, let found = description.attribute(at: path, of: entity) else {
            kind = rule.format.map { .date([$0, .rfc3339, .iso8601]) } ?? .unknown
            return
        }
        kind =
            switch found.type {
            case .int, .uint, .double, .decimal: rule.format.map { .date([$0]) } ?? .number
            case .date: .date(found.dates)
            // A text may have another form than the one in which dates are sent.
            default: rule.format.map { .date([$0, .rfc3339, .iso8601]) } ?? .text
            }
    }

    /// The largest of several values; those of another form are left out.
    func largest(_ texts: [String]) -> String? { best(of: texts) { $0 < $1 } }

    /// The smallest of several values; those of another form are left out.
    func smallest(_ texts: [String]) -> String? { best(of: texts) { $1 < $0 } }

    private func best(of texts: [String], _ isBetter: (_ known: Ordered, _ other: Ordered) -> Bool) -> String? {
        var best: (text: String, value: Ordered)?
        for text in texts {
            guard let value = comparable(text), best.map({ isBetter($0.value, value) }) ?? true else { continue }
            best = (text, value)
        }
        return best?.text
    }

    /// Returns whether a scan that begins with a value certainly lists nothing before another one,
    /// both in the form in which they are sent.
    func isFrom(_ text: String, _ other: String) -> Bool {
        if text == other { return true }
        func read(_ text: String) -> Ordered? {
            if let format = rule.format, let time = format.timestamp(text) { return .date(time, format) }
            return comparable(text) ?? IncrementalValues.date(text, [.rfc3339, .day])
        }
        guard let text = read(text), let other = read(other) else { return false }
        return text.rank == other.rank && !(text < other)
    }

    /// Returns whether a value is a date that is later than `now`.
    func isLater(_ text: String, than now: Timestamp) -> Bool {
        guard case .date(let date, _)? = comparable(text) else { return false }
        return date.microseconds > now.microseconds
    }

    /// Returns the text of a time in the form of a date; nil if the form cannot express it.
    ///
    /// A form without a part of the time has the last point in time before it.
    func text(of time: Timestamp, like text: String) -> String? {
        guard case .date(_, let format)? = comparable(text) else { return nil }
        if case .pattern = format { return format.text(of: time) }
        return format.text(of: time, like: text)
    }

    /// The value that a scan sends after one that has seen `text`.
    ///
    /// - Throws: `MirrorError.endpoint` if the value cannot be moved back as the rule demands.
    func sent(_ text: String) throws -> String {
        let isMoved = rule.lag != 0 || rule.range == .open
        if !isMoved, rule.granularity == nil, rule.format == nil { return text }
        // A text may be a date or a number by its form.
        switch isMoved || rule.granularity != nil ? measurable(text) : comparable(text) {
        case .date(let time, let found):
            // The server compares no finer than its granularity, nor than the text that is sent.
            let format = rule.format ?? found, step = max(rule.granularity?.microseconds ?? 0, format.step)
            let back = Int64(rule.lag).multipliedReportingOverflow(by: 1_000_000)
            guard !back.overflow, let sent = moved(time.microseconds, back.partialValue, step) else {
                throw problem("the value \(text.excerpt) cannot be moved back by \(rule.lag) s")
            }
            let moment = Timestamp(microseconds: sent)
            let written = rule.format == nil ? format.text(of: moment, like: text) : format.text(of: moment)
            guard let text = written else {
                throw problem(
                    "dates are not written in the format \(format): add format: rfc3339, or a format of a date")
            }
            return text
        case .number(let number, _):
            guard isMoved else { return text }
            let (distance, isFar) = Int64(rule.lag).addingReportingOverflow(rule.range == .open ? 1 : 0)
            if let whole = UInt64(text), !isFar, distance >= 0, whole >= UInt64(distance) {
                return String(whole - UInt64(distance))
            }
            guard let whole = Int64(text) ?? Int64(exactly: number.rounded(.down)), !isFar else {
                throw problem("the value \(text.excerpt) cannot be moved back")
            }
            let back = whole.subtractingReportingOverflow(distance)
            guard !back.overflow else { throw problem("the value \(text.excerpt) cannot be moved back") }
            return String(back.partialValue)
        case .text, nil:
            // Texts have no distance. Without a lag, the server compares them.
            guard !isMoved, rule.granularity == nil else {
                throw problem(
                    "\"\(text.excerpt)\" is neither a date nor a number: remove lag, granularity and range: open")
            }
            return text
        }
    }

    private func moved(_ time: Int64, _ lag: Int64, _ step: Int64) -> Int64? {
        let back = time.subtractingReportingOverflow(lag)
        let open = back.partialValue.subtractingReportingOverflow(rule.range == .open ? step : 0)
        guard !back.overflow, !open.overflow else { return nil }
        guard let unit = rule.granularity?.microseconds else { return open.partialValue }
        let rest = open.partialValue % unit
        return open.partialValue.subtractingReportingOverflow(rest < 0 ? rest + unit : rest).partialValue
    }

    func problem(_ message: String) -> MirrorError { .endpoint(place: place, message: "since: \(message)") }

    // MARK: Comparing

    private enum Ordered {
        case number(Double, Int64?)
        case date(Timestamp, DateFormat)
        case text(String)

        static func < (a: Ordered, b: Ordered) -> Bool {
            switch (a, b) {
            case (.number(_, let a?), .number(_, let b?)): a < b
            case (.number(let a, _), .number(let b, _)): a < b
            case (.date(let a, _), .date(let b, _)): a.microseconds < b.microseconds
            case (.text(let a), .text(let b)): a.utf8.lexicographicallyPrecedes(b.utf8)
            // Values of several forms: numbers precede dates, and dates precede texts.
            default: a.rank < b.rank
            }
        }

        var rank: Int {
            switch self {
            case .number: 0
            case .date: 1
            case .text: 2
            }
        }
    }

    private func comparable(_ text: String) -> Ordered? {
        switch kind {
        case .number: IncrementalValues.number(text)
        case .date(let formats): IncrementalValues.date(text, formats)
        case .text: .text(text)
        case .unknown:
            IncrementalValues.number(text) ?? IncrementalValues.date(text, [.rfc3339, .day]) ?? .text(text)
        }
    }

    /// The value with a distance to others; for texts, that of their form.
    private func measurable(_ text: String) -> Ordered? {
        if case .text = kind {
            return IncrementalValues.number(text) ?? IncrementalValues.date(text, [.rfc3339, .day])
        }
        return comparable(text)
    }

    private static func number(_ text: String) -> Ordered? {
        guard let number = Double(text), number.isFinite else { return nil }
        return .number(number, Int64(text))
    }

    private static func date(_ text: String, _ formats: [DateFormat]) -> Ordered? {
        for format in formats {
            if let time = format.timestamp(text) { return .date(time, format) }
        }
        return nil
    }
}

extension DateFormat {
    /// The smallest step between two dates that a server may distinguish, in microseconds.
    fileprivate var step: Int64 {
        switch self {
        case .day: 86_400_000_000
        case .epoch(.milliseconds): 1000
        case .epoch(.microseconds): 1
        case .pattern(let pattern): pattern.step
        default: 1_000_000
        }
    }

    /// Writes a date in the form of another text of this format; nil for a pattern.
    ///
    /// It may be one of several patterns: `format` of the rule names the one that is sent.
    ///
    /// The other text may lack the offset, the fraction of a second, or the time of day, and may
    /// have a space in place of the `T`.
    fileprivate func text(of time: Timestamp, like other: String) -> String? {
        let form = other.utf8.dropFirst(10)
        switch self {
        case .rfc3339, .iso8601: break
        case .pattern: return nil
        default: return text(of: time)
        }
        var time = time
        if !form.contains(where: { $0 == UInt8(ascii: ".") || $0 == UInt8(ascii: ",") }) {
            let micro: Int64 = 1_000_000, rest = (time.microseconds % micro + micro) % micro
            let whole = time.microseconds.subtractingReportingOverflow(rest)
            if !whole.overflow { time = Timestamp(microseconds: whole.partialValue) }
        }
        guard var text = text(of: time) else { return nil }
        guard let separator = form.first else { return String(text.prefix(10)) }
        if separator == UInt8(ascii: " ") { text = "\(text.prefix(10)) \(text.dropFirst(11))" }
        let hasOffset = form.contains { byte in
            switch byte {
            case UInt8(ascii: "Z"), UInt8(ascii: "z"), UInt8(ascii: "+"), UInt8(ascii: "-"): true
            default: false
            }
        }
        if !hasOffset, text.hasSuffix("Z") { text.removeLast() }
        return text
    }

    /// Writes a date; nil if a pattern cannot express it.
    ///
    /// A pattern without a part of the time has the last point in time before it. A year has four
    /// digits: a date beyond them becomes the first or the last one that has.
    func text(of time: Timestamp) -> String? {
        let micro: Int64 = 1_000_000
        var time = time
        if case .epoch = self {
        } else {
            let least: Int64 = -62_167_219_200 * micro, most: Int64 = 253_402_300_800 * micro - 1
            time = Timestamp(microseconds: min(max(time.microseconds, least), most))
        }
        let rest = (time.microseconds % micro + micro) % micro
        let seconds = (time.microseconds - rest) / micro, day = (seconds % 86_400 + 86_400) % 86_400
        switch self {
        case .epoch(.seconds): return String(seconds)
        case .epoch(.milliseconds): return String(seconds * 1000 + rest / 1000)
        case .epoch(.microseconds): return String(time.microseconds)
        case .http: return HTTPDate.text(Date(timeIntervalSince1970: Double(seconds)))
        case .day, .rfc3339, .iso8601:
            let date = CivilDate(daysSinceEpoch: (seconds - day) / 86_400).text
            if case .day = self { return date }
            func two(_ number: Int64) -> String { number < 10 ? "0\(number)" : "\(number)" }
            var fraction = ""
            if rest > 0 {
                fraction = "." + String(String(micro + rest).dropFirst())
                while fraction.last == "0" { fraction.removeLast() }
            }
            return "\(date)T\(two(day / 3600)):\(two(day / 60 % 60)):\(two(day % 60))\(fraction)Z"
        case .pattern(let pattern):
            let text = pattern.text(of: time)
            // A year of two digits stands for one of a century only.
            guard let read = timestamp(text), read.microseconds <= time.microseconds else { return nil }
            return text
        }
    }
}

/// A day of the Gregorian calendar.
private struct CivilDate {
    private var year: Int64, month: Int64, day: Int64

    /// Howard Hinnant's `civil_from_days` (chrono-Compatible Low-Level Date Algorithms).
    init(daysSinceEpoch days: Int64) {
        let shifted = days + 719_468
        let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097, ofEra = shifted - era * 146_097
        let yearOfEra = (ofEra - ofEra / 1460 + ofEra / 36_524 - ofEra / 146_096) / 365
        let ofYear = ofEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100), month = (5 * ofYear + 2) / 153
        day = ofYear - (153 * month + 2) / 5 + 1
        self.month = month < 10 ? month + 3 : month - 9
        year = yearOfEra + era * 400 + (self.month <= 2 ? 1 : 0)
    }

    var text: String {
        func padded(_ number: Int64, _ count: Int) -> String {
            let digits = String(number)
            return String(repeating: "0", count: max(0, count - digits.count)) + digits
        }
        return "\(padded(year, 4))-\(padded(month, 2))-\(padded(day, 2))"
    }
}

extension Description {
    /// The attribute of an entity that takes its value from a path, with the formats of its dates.
    fileprivate func attribute(at path: JSONPath, of entity: String) -> (type: AttributeType, dates: [DateFormat])? {
        var name: String? = entity
        // The schema was not validated: a cycle of parents must end.
        for _ in 0...schema.entities.count {
            guard let definition = schema.entities.first(where: { $0.name == name }) else { return nil }
            let mapped = mapping.entities[definition.name] ?? EntityMapping()
            for attribute in definition.attributes {
                let rules = mapped.fields[attribute.name]
                let naming = mapping.naming.with(rules?.naming ?? mapped.rules.naming)
                let paths = (mapped.paths[attribute.name] ?? []).flatMap(\.paths)
                guard paths.contains(path) || naming.jsonKeys(for: attribute.name).contains(path.description) else {
                    continue
                }
                if let unit = mapped.epochs[attribute.name] { return (attribute.type, [.epoch(unit)]) }
                let dates = rules?.dates ?? mapped.rules.dates ?? mapping.rules.dates ?? []
                return (attribute.type, dates + [.rfc3339])
            }
            name = definition.parent
        }
        return nil
    }
}
