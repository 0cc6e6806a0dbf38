// What ends an import before anything of it is stored.

/// A response that cannot be imported at all. Nothing of it is stored.
public enum ImportError: Error, Sendable, Hashable, CustomStringConvertible {
    /// Not JSON (RFC 8259), or nested too deep. `offset` is the first byte that cannot be; the number of bytes if the document
    /// is cut.
    case invalidJSON(reason: String, offset: Int, beginning: String)
    /// The key path to the records leads nowhere.
    case recordsNotFound(path: String, missing: String, present: [String])
    /// What stands at the key path is neither a list nor an object.
    case notRecords(path: String, found: String)
    /// The mapping names what the catalog does not have.
    case unknownEntity(String)
    case unknownField(entity: String, field: String)
    case outOfMemory

    public var description: String {
        switch self {
        case .invalidJSON(let reason, let offset, let beginning):
            "not valid JSON at byte \(offset): \(reason) It begins with: \(beginning)"
        case .recordsNotFound(let path, let missing, let present):
            "there are no records at `\(path)`: `\(missing)` is not there; there is \(present.isEmpty ? "no key" : present.map { "`\($0)`" }.joined(separator: ", "))"
        case .notRecords(let path, let found):
            "what stands at `\(path)` is \(found), not a list of records or one record"
        case .unknownEntity(let name): "the store has no entity \(name)"
        case .unknownField(let entity, let field): "\(entity) has no attribute or relationship \(field)"
        case .outOfMemory: "there is no memory for a parser"
        }
    }
}
