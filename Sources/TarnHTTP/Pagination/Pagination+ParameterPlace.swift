extension Pagination {
    /// The place of a parameter in a request.
    public enum ParameterPlace: Sendable, Hashable, CustomStringConvertible {
        /// The query parameter with this name.
        case query(String)
        /// The member of the body at this path of keys. `[0]` is an element of an array.
        case body([String])

        public var description: String {
            switch self {
            case .query(let name): name
            case .body(let keys): keys.joined(separator: ".")
            }
        }
    }
}
