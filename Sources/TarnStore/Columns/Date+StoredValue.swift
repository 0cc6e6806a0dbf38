public import Foundation

extension Date: StoredValue {
    /// Reads a date, exact to a microsecond for the years 1730 to 2241.
    ///
    /// Beyond these years it is the nearest one between the stored time and 1970. Setting a field
    /// to the date that was read from it keeps the stored time. A condition compares with the
    /// stored time: there, use ranges, or declare the property as a `Timestamp`.
    @inlinable
    public init?(_ value: ValueView) {
        guard let timestamp = Timestamp(value) else { return nil }
        self = timestamp.date
    }

    public func encode(into value: inout ValueEncoder) {
        let time = Timestamp(self)
        if !time.isExactAsDate { value.isApproximate = true }
        time.encode(into: &value)
    }
}

extension Date: AttributeValue {
    public static var attributeType: AttributeType { .date }
}
