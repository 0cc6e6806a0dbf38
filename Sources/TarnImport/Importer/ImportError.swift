// The errors that end an import before anything is stored.

/// The error of a response that cannot be imported. Nothing of it is stored.
public enum ImportError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The body is not JSON (RFC 8259), or is nested too deep.
    ///
    /// `offset` is the first byte that cannot be part of a document, or the number of bytes if the
    /// document is truncated. `path` leads to the value there, such as `$.items[3].title`.
    case invalidJSON(reason: String, offset: Int, path: String, beginning: String)
    /// The key path to the records leads to no value.
    case recordsNotFound(path: String, missing: String, present: [String])
    /// The value at the key path is neither a list nor an object.
    case notRecords(path: String, found: String)
    /// The records are rows without the names of their columns, or columns of different lengths.
    case invalidColumns(path: String, reason: String)
    /// The mapping names an entity that the catalog does not have.
    case unknownEntity(String)
    /// The mapping or a parent reference names a field that the entity does not have.
    case unknownField(entity: String, field: String)
    /// A size exceeds one of ``Importer/Limits``. Nothing after it was read.
    case tooLarge(Excess, limit: Int)
    /// The mapping names a transformer that is neither built in nor registered in the mapping.
    case unknownTransformer(entity: String, field: String, name: String)
    /// Records take values from `@root`, but the document is read in parts: the root is unknown.
    case rootUnavailable(entity: String)
    /// A choice rule names an entity that does not descend from the one that declares the rule.
    case noKind(String, of: String)
    /// A record has no usable key, and the mapping declares that this fails the unit.
    case recordWithoutKey(entity: String, path: String, key: String)
    /// The parser cannot allocate memory.
    case outOfMemory

    /// The part of a response that is too large.
    public enum Excess: Sendable, Hashable {
        /// The whole response: more than `bodySize`.
        case body
        /// A response without its list of records, or that is no list: more than `documentSize`.
        case document
        /// One record of a list: more than `documentSize`.
        case element
        /// A response with rows or columns, as it is or with their names: more than `documentSize`.
        case rows
        /// The records of a response: more than 64 times the response, and 256 MiB. Each takes a
        /// large value from outside of it, or a large one comes again and again.
        case drafts
    }

    /// The path in the response, such as `$.items[3]`; nil if the error concerns no value of it.
    public var path: String? {
        switch self {
        case .invalidJSON(_, _, let path, _), .recordWithoutKey(_, let path, _): path
        case .recordsNotFound(let path, _, _), .notRecords(let path, _), .invalidColumns(let path, _):
            path.isEmpty ? "$" : "$." + path
        case .unknownEntity, .unknownField, .tooLarge, .unknownTransformer, .rootUnavailable, .noKind, .outOfMemory:
            nil
        }
    }

    public var description: String {
        switch self {
        case .invalidJSON(let reason, let offset, let path, let beginning):
            "not valid JSON at byte \(offset)\(path == "$" ? "" : ", in \(path)"): \(reason)"
                + (beginning.allSatisfy(\.isWhitespace) ? "" : " It begins with: \(beginning)")
        case .recordsNotFound(let path, let missing, let present):
            "no records at `\(path)`: the key `\(missing)` is missing; found \(present.isEmpty ? "no keys" : present.map { "`\($0)`" }.joined(separator: ", "))"
        case .notRecords(let path, let found):
            "expected a list of records or one record at `\(path)`, found \(found)"
        case .invalidColumns(let path, let reason): "`\(path)` does not lead to columns: \(reason)"
        case .unknownEntity(let name): "unknown entity \(name)"
        case .unknownField(let entity, let field): "\(entity) has no attribute or relationship \(field)"
        case .tooLarge(.body, let limit):
            "the response has more than \(limit) bytes; request smaller pages, or raise the importer's limits.bodySize"
        case .tooLarge(.document, let limit):
            "the response has more than \(limit) bytes outside of its list of records, or no such list; check the key path of the records, or raise the importer's limits.documentSize"
        case .tooLarge(.element, let limit):
            "one record of the response has more than \(limit) bytes; raise the importer's limits.documentSize"
        case .tooLarge(.rows, let limit):
            "the response has more than \(limit) bytes, or would have with the names of its columns in each record; request fewer records, or raise the importer's limits.documentSize"
        case .tooLarge(.drafts, let limit):
            "the records of the response would have more than \(limit) bytes, many times its size: each of them takes a large value from outside of it, such as @root or @parent, or a large one comes again and again with other values; leave that value out, or request fewer records"
        case .unknownTransformer(let entity, let field, let name):
            "\(entity).\(field): unknown transformer `\(name)`; register it in the mapping"
        case .rootUnavailable(let entity):
            "\(entity) takes values from @root, but the document is read in parts, before its root is known; import the body as a whole, or take the values from elsewhere"
        case .noKind(let name, let parent):
            "\(name) cannot be chosen as a kind of \(parent): it does not descend from it"
        case .recordWithoutKey(let entity, let path, let key):
            "the \(entity) at \(path) has no usable key (\(key)); by the mapping, this fails the whole unit"
        case .outOfMemory: "out of memory: cannot create a JSON parser"
        }
    }
}
