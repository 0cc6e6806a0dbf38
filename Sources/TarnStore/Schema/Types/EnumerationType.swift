/// The type `enum`: one of a fixed list of texts. Its values are stored and indexed as strings.
struct EnumerationType: AttributeTypeDescriptor {
    let name = "enum"
    let order = ValueOrder.bytes
    let isText = true
    let values: [String]

    var expectation: String { "one of " + values.joined(separator: ", ") }

    func converted(_ value: Value) -> Value? {
        guard case .string(let x) = value else { return nil }
        return values.contains { $0.utf8.elementsEqual(x.utf8) } ? value : nil
    }

    func value(_ element: TupleElement) -> Value? { if case .string(let x) = element { .string(x) } else { nil } }

    func value(text: String) -> Value? { values.contains(text) ? .string(text) : nil }
}
