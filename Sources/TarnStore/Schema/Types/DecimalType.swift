/// The type `decimal`: exact decimal numbers of any length.
struct DecimalType: AttributeTypeDescriptor {
    let name = "decimal"
    let order = ValueOrder.decimal

    func converted(_ value: Value) -> Value? {
        switch value {
        case .decimal: value
        case .int(let x): ExactDecimal(String(x)).map(Value.decimal)
        case .uint(let x): ExactDecimal(String(x)).map(Value.decimal)
        case .double(let x): x.isFinite ? ExactDecimal("\(x)").map(Value.decimal) : nil
        case .string(let x): ExactDecimal(x).map(Value.decimal)
        default: nil
        }
    }

    func value(_ element: TupleElement) -> Value? { if case .decimal(let x) = element { .decimal(x) } else { nil } }

    func value(text: String) -> Value? { ExactDecimal(text).map(Value.decimal) }

    var literal: TypeLiteral? { TypeLiteral("one number", text: value(text:)) }

    /// Without a point, a whole number would be read as an integer.
    func appendLiteral(_ value: Value, to text: inout String) {
        let digits = value.plainText
        text += digits.contains { $0 == "." || $0 == "e" } ? digits : digits + ".0"
    }
}
