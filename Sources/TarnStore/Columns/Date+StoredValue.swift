public import Foundation

extension Date: StoredValue {
    /// Reads a date, exact to a microsecond for the years 1684 to 2255.
    @inlinable
    public init?(_ value: ValueView) {
        guard let timestamp = Timestamp(value) else { return nil }
        self = timestamp.date
    }

    public func encode(into value: inout ValueEncoder) { Timestamp(self).encode(into: &value) }
}

extension Date: AttributeValue {
    public static var attributeType: AttributeType { .date }
}
