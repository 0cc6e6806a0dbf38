/// A report of a value or record in a response that was not imported as it is. The rest was.
public struct Diagnostic: Sendable, Hashable, CustomStringConvertible {
    /// The kind of a diagnostic, and its treatment.
    public enum Code: String, Sendable, Hashable, CaseIterable {
        /// A record without a key, or with one of a wrong type. It is skipped with nested records.
        case keyMissing = "key.missing"
        /// An element that a hook made invalid or too deep. It is skipped.
        case hookInvalid = "hook.invalid"
        /// A record for which no choice rule holds, or for which code has chosen an entity that is
        /// none of its kinds. It is skipped with all nested records.
        ///
        /// The first needs rules that declare `otherwise: .skip`.
        case entityUnknown = "entity.unknown"
        /// A value of a wrong type. The stored value is kept.
        case valueType = "value.type"
        /// A text that is no value of an `enum` with a fallback. The fallback is stored.
        case valueUnknown = "value.unknown"
        /// A null for an attribute that the schema requires. Null is stored.
        case valueNull = "value.null"
        /// A listed record without an attribute that the schema requires. A stored value is kept.
        case valueAbsent = "value.absent"
        /// A relationship's value that is no object, key or list of them. The stored value is kept.
        case relationshipType = "relationship.type"
        /// A bare key of a record that is not stored, but would have to hold the reference.
        case referenceUnstorable = "reference.unstorable"
        /// A record with unique values of another record. It is not stored.
        case notUnique = "record.notUnique"
        /// A record that several others hold in an exclusive relationship. One of them keeps it.
        ///
        /// The relationship is one-to-one, or a list of which a record can be in only one.
        case relationshipConflict = "relationship.conflict"
        /// A record with local changes that the server lacks. It, or fields of it, are kept.
        case localKept = "local.kept"
        /// A record that is deleted at the server, but that delete rules keep.
        case deleteDenied = "record.deleteDenied"
    }

    /// The kind of the diagnostic.
    public var code: Code
    /// The path in the response, such as `$[3].user.id`.
    ///
    /// Diagnostics of the merge, such as ``Code/notUnique``, have the path of the listed record,
    /// and `…` after it for a record that is nested there. It is `$` if no document of the import
    /// has the record.
    public var path: String
    /// The response: the URL of the page, without secrets; nil if the importer was not told.
    public var source: String?
    /// The entity's name.
    public var entity: String
    /// The record's key, if known.
    public var key: String?
    /// The attribute, relationship or index.
    public var field: String?
    /// The description of the problem and of its treatment.
    public var message: String
    /// The JSON of the value, cut at 80 Unicode scalars.
    public var sample: String?

    /// Creates a diagnostic.
    package init(code: Code, path: String, entity: String, key: String?, field: String?, message: String) {
        self.code = code
        self.path = path
        self.entity = entity
        self.key = key
        self.field = field
        self.message = message
    }

    public var description: String {
        let record = entity + (key.map { " \($0)" } ?? "")
        return "\(code.rawValue) at \(path): \(record)\(field.map { ".\($0)" } ?? ""): \(message)"
    }
}
