public import Foundation

/// A value type that determines the type of an attribute.
///
/// An enumeration of strings declares the conformance. With `CaseIterable`, its cases are the
/// values that the store accepts:
///
/// ```swift
/// enum State: String, AttributeValue, CaseIterable { case open, closed }
/// ```
///
/// Without it, and for enumerations of numbers, the store accepts every value of the raw type. A
/// struct cannot read a record with another value (`StoreError.unreadableValue`).
public protocol AttributeValue: StoredValue {
    /// The type of an attribute with such values.
    static var attributeType: AttributeType { get }

    /// Whether a complete record may lack the value. Default: false.
    static var isOptional: Bool { get }
}

extension AttributeValue {
    public static var isOptional: Bool { false }
}

extension AttributeValue where Self: RawRepresentable, RawValue: AttributeValue {
    public static var attributeType: AttributeType { RawValue.attributeType }
}

extension AttributeValue where Self: RawRepresentable & CaseIterable, RawValue == String {
    public static var attributeType: AttributeType { .enumeration(allCases.map(\.rawValue)) }
}

extension Bool: AttributeValue {
    public static var attributeType: AttributeType { .bool }
}

extension Int: AttributeValue {
    public static var attributeType: AttributeType { .int }
}

extension Int64: AttributeValue {
    public static var attributeType: AttributeType { .int }
}

extension UInt64: AttributeValue {
    public static var attributeType: AttributeType { .uint }
}

extension Double: AttributeValue {
    public static var attributeType: AttributeType { .double }
}

extension ExactDecimal: AttributeValue {
    public static var attributeType: AttributeType { .decimal }
}

extension String: AttributeValue {
    public static var attributeType: AttributeType { .string }
}

extension Timestamp: AttributeValue {
    public static var attributeType: AttributeType { .date }
}

extension UUID: AttributeValue {
    public static var attributeType: AttributeType { .uuid }
}

extension Data: AttributeValue {
    public static var attributeType: AttributeType { .bytes }
}

extension Optional: AttributeValue where Wrapped: AttributeValue {
    public static var attributeType: AttributeType { Wrapped.attributeType }
    public static var isOptional: Bool { true }
}

extension Array: AttributeValue where Element: AttributeValue {
    public static var attributeType: AttributeType { .array(Element.attributeType) }
}
