/// The error of a record that cannot be written as the body of a request.
package enum BodyError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The catalog has no such entity.
    case unknownEntity(String)
    /// The options name a field that the entity does not have.
    case unknownField(entity: String, field: String)
    /// The options name a field that has no place in a body.
    case unsendable(entity: String, field: String, reason: String)
    /// The options name a place that no field can have in a body.
    case place(String, of: String)
    /// Two fields have the same place, or one is a value inside of the other.
    case conflict(entity: String, field: String, place: String)
    /// A value cannot be expressed in the form that the mapping declares.
    case value(entity: String, field: String, reason: String)

    package var description: String {
        switch self {
        case .unknownEntity(let name): "unknown entity \(name)"
        case .unknownField(let entity, let field): "\(entity) has no attribute or relationship \(field)"
        case .unsendable(let entity, let field, let reason):
            "\(entity).\(field) cannot be sent: \(reason); give it a place of its own, or leave it out"
        case .place(let path, let field):
            "\(path) is no place for \(field): a place in a body consists of keys, such as `author.id`, and of `[0]` or `*` "
                + "behind them for a list"
        case .conflict(let entity, let field, let place):
            "\(entity).\(field) cannot be written to \(place): another value is there; give one of them another place, or leave it out"
        case .value(let entity, let field, let reason): "\(entity).\(field) cannot be sent: \(reason)"
        }
    }
}
