/// An attribute type outside of the loops over rows: its names, its rules, its texts.
///
/// Each type is a value of its own, in its own file, and is registered in ``AttributeType``. What
/// happens to every value that is imported, stored, indexed or compared is not here: those loops
/// switch over types and tags, without a call through a protocol.
protocol AttributeTypeDescriptor: Sendable {
    /// The name in the catalog, and of literals in the text of a condition.
    var name: String { get }
    /// The name in a description and in messages; by default ``name``.
    var word: String { get }
    /// The values that the type has, for messages; by default ``word``.
    var expectation: String { get }

    /// Whether prefixes, parts and case can be compared; by default false.
    var isText: Bool { get }
    /// Whether an index can have the values; by default true.
    var isIndexable: Bool { get }
    /// Whether a value is short enough for the column of a table; by default true.
    var isShort: Bool { get }
    /// The order in which values are compared. It must agree with their form in an index.
    var order: ValueOrder { get }

    /// Converts a value of a query or a change; nil if the type has no value with the same meaning.
    func converted(_ value: Value) -> Value?
    /// The value of an element of an index entry; nil if it is of another type.
    func value(_ element: TupleElement) -> Value?

    /// The value that a text of a description denotes; nil if it is not of this type.
    func value(text: String) -> Value?
    /// The exact text of a value in the catalog; by default the plain text.
    func catalogText(_ value: Value) -> String
    /// The value of a text of the catalog; by default that of the same text in a description.
    func value(catalogText: String) -> Value?

    /// The form `name(…)` in the text of a condition; by default nil: values are written plainly.
    var literal: TypeLiteral? { get }
    /// Appends a value in the text of a condition; by default `name("plain text")`.
    func appendLiteral(_ value: Value, to text: inout String)
}

extension AttributeTypeDescriptor {
    var word: String { name }
    var expectation: String { word }

    var isText: Bool { false }
    var isIndexable: Bool { true }
    var isShort: Bool { true }

    func catalogText(_ value: Value) -> String { value.plainText }
    func value(catalogText: String) -> Value? { value(text: catalogText) }

    var literal: TypeLiteral? { nil }
    func appendLiteral(_ value: Value, to text: inout String) {
        text += "\(name)("
        text.appendJSONString(value.plainText)
        text += ")"
    }
}
