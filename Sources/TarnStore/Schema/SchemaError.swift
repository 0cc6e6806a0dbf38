/// A schema that cannot be, with the place and the way out.
public struct SchemaError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The entity concerned, if it is about one.
    public var entity: String?
    /// The attribute or relationship concerned, if it is about one.
    public var field: String?
    /// What is wrong and what to do.
    public var message: String

    public init(entity: String?, field: String?, _ message: String) {
        self.entity = entity
        self.field = field
        self.message = message
    }

    public var description: String {
        let place = [entity, field].compactMap(\.self).joined(separator: ".")
        return place.isEmpty ? message : "\(place): \(message)"
    }
}
