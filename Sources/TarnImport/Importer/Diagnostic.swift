internal import TarnStore

/// Something in a response that could not be taken as it came. The rest was.
public struct Diagnostic: Sendable, Hashable, CustomStringConvertible {
    public enum Code: String, Sendable, Hashable, CaseIterable {
        /// A record without a key, or with one of a wrong type: it is skipped, with everything nested in it.
        case keyMissing = "key.missing"
        /// An element of which a hook made what is no JSON, or JSON that is too deep: it is skipped.
        case hookInvalid = "hook.invalid"
        /// A record for which no rule says which entity it is, where the rules say that it is skipped then, with everything nested in it.
        case entityUnknown = "entity.unknown"
        /// A value of a wrong type: the old value is kept.
        case valueType = "value.type"
        /// A text that is none of the values of an `enum` that has a fallback: the fallback is stored.
        case valueUnknown = "value.unknown"
        /// Null where the schema says that there is a value: null is stored.
        case valueNull = "value.null"
        /// A listed record without an attribute that the schema requires: a stored value is kept.
        case valueAbsent = "value.absent"
        /// A relationship's value that is neither an object, a key, nor a list of them: the old one is kept.
        case relationshipType = "relationship.type"
        /// A bare key of a record that is not there, for a relationship that would be stored in that record.
        case referenceUnstorable = "reference.unstorable"
        /// A record with values that another one has, and that have to be unique: it is not stored.
        case notUnique = "record.notUnique"
        /// A record that several others have in a relationship to one, or in lists of which it can be in one: one of them keeps it.
        case relationshipConflict = "relationship.conflict"
        /// A record that was changed here and not yet at the server: it, or fields of it, stay as they are.
        case localKept = "local.kept"
        /// A record that is no more, and whose delete rules say that it stays.
        case deleteDenied = "record.deleteDenied"
    }

    public var code: Code
    /// Where in the response: `$[3].user.id`.
    public var path: String
    public var entity: String
    /// The record's key, where it is known.
    public var key: String?
    /// The attribute or relationship.
    public var field: String?
    public var message: String
    /// The JSON of the value, at most 80 characters of it.
    public var sample: String?

    public init(
        code: Code, path: String, entity: String, key: String?, field: String?, message: String, sample: String? = nil
    ) {
        self.code = code
        self.path = path
        self.entity = entity
        self.key = key
        self.field = field
        self.message = message
        self.sample = sample
    }

    public var description: String {
        let record = entity + (key.map { " \($0)" } ?? "")
        return "\(code.rawValue) at \(path): \(record)\(field.map { ".\($0)" } ?? ""): \(message)"
    }
}
