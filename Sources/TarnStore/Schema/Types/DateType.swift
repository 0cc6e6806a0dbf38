/// The type `date`: points in time, in microseconds.
struct DateType: AttributeTypeDescriptor {
    let name = "date"
    let expectation = "a date (2025-01-31 or 2025-01-31T09:00:00Z)"
    let order = ValueOrder.integer

    func converted(_ value: Value) -> Value? {
        switch value {
        case .date: value
        case .string(let x): DateType.dateOrDay(x)
        default: nil
        }
    }

    func value(_ element: TupleElement) -> Value? {
        if case .int(let x) = element { .date(Timestamp(microseconds: x)) } else { nil }
    }

    func value(text: String) -> Value? { Timestamp(text).map(Value.date) }

    func catalogText(_ value: Value) -> String {
        guard case .date(let x) = value else { return value.plainText }
        return String(x.microseconds)
    }

    func value(catalogText: String) -> Value? { Int64(catalogText).map { .date(Timestamp(microseconds: $0)) } }

    var literal: TypeLiteral? {
        TypeLiteral("an RFC 3339 date, such as \"2026-01-02T03:04:05Z\", or a day, or microseconds since 1970") {
            value, text in
            if case .int(let microseconds) = value { return .date(Timestamp(microseconds: microseconds)) }
            return DateType.dateOrDay(text)
        }
    }

    /// Years that RFC 3339 cannot express are written as microseconds.
    func appendLiteral(_ value: Value, to text: inout String) {
        guard case .date(let x) = value else { return }
        text += Timestamp(x.description) == x ? "date(\"\(x)\")" : "date(\(x.microseconds))"
    }

    /// Parses a date or a day, also of the years that only a description has.
    private static func dateOrDay(_ text: String) -> Value? {
        (Timestamp(description: text) ?? Timestamp(description: "\(text)T00:00:00Z")).map(Value.date)
    }
}
