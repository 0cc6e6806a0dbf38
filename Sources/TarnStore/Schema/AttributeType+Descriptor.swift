// The parts of a type's descriptor that other code asks the type for.

extension AttributeType: CustomStringConvertible {
    /// Returns the type that a name alone denotes; nil for other names.
    package init?(named name: String) {
        guard let found = AttributeType.named.first(where: { $0.name == name }) else { return nil }
        self = found
    }

    /// The name in the catalog: `int`, `enum`, `array`.
    var name: String { descriptor.name }

    /// The type as in a description file and in messages: `int`, `enum`, `[string]`.
    public var description: String { descriptor.word }

    /// Whether the type's values are texts, which have prefixes, parts and case.
    package var isText: Bool { descriptor.isText }

    /// Whether an index can have the type's values, and a condition of an index can compare them.
    var isIndexable: Bool { descriptor.isIndexable }

    /// Whether the type's values are short enough for the column of a table.
    package var isShort: Bool { descriptor.isShort }

    /// Converts a value to this type; nil if the type has no value with the same meaning.
    func converting(_ value: Value) -> Value? { descriptor.converted(value) }

    /// The value that a text of a description denotes; nil if it is not of this type.
    package func value(text: String) -> Value? { descriptor.value(text: text) }
}
