/// The type `double`: IEEE 754 doubles.
struct DoubleType: AttributeTypeDescriptor {
    let name = "double"
    let order = ValueOrder.double

    func converted(_ value: Value) -> Value? {
        switch value {
        case .double: value
        case .int(let x): Double(exactly: x).map(Value.double)
        case .uint(let x): Double(exactly: x).map(Value.double)
        // Beyond the largest double, the text reads as infinity.
        case .decimal(let x): Double(x.description).flatMap { $0.isFinite ? .double($0) : nil }
        default: nil
        }
    }

    func value(_ element: TupleElement) -> Value? { if case .double(let x) = element { .double(x) } else { nil } }

    func value(text: String) -> Value? { Double(text).map(Value.double) }

    /// The bits in hexadecimal digits are exact.
    func catalogText(_ value: Value) -> String {
        guard case .double(let x) = value else { return value.plainText }
        return String(x.bitPattern, radix: 16)
    }

    func value(catalogText: String) -> Value? {
        UInt64(catalogText, radix: 16).map { .double(Double(bitPattern: $0)) }
    }

    var literal: TypeLiteral? {
        TypeLiteral("one number, or \"nan\", \"inf\", \"-inf\"") { text in Double(text).map(Value.double) }
    }

    func appendLiteral(_ value: Value, to text: inout String) {
        guard case .double(let x) = value else { return }
        text += x.isFinite ? "double(\(x))" : "double(\"\(x)\")"
    }
}
