/// An error in a schema, with its place and the way out.
public struct SchemaError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The entity concerned; nil if the error is about none.
    public var entity: String?
    /// The field or index concerned; nil if the error is about none.
    public var field: String?
    /// The problem and the way out.
    public var message: String

    /// Creates an error.
    package init(entity: String?, field: String?, _ message: String) {
        self.entity = entity
        self.field = field
        self.message = message
    }

    public var description: String {
        let place = [entity, field].compactMap(\.self).joined(separator: ".")
        return place.isEmpty ? message : "\(place): \(message)"
    }
}
