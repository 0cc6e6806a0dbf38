/// The location of one entity's records in a document with records of several entities.
public struct EnvelopePart: Sendable, Hashable {
    /// The path from the document's root.
    package var path: JSONPath
    /// The entity of the listed records.
    package var entity: String
    /// Whether the value may be absent or null.
    package var isOptional: Bool
    /// The names of members of a map that are no records.
    package var exceptions: Set<String> = []
    /// The rule by which an element is a message about a record; plain if it is a record.
    package var elements = ElementRule()

    /// Creates a part.
    public init(_ path: JSONPath, _ entity: String, optional: Bool = false) {
        self.path = path
        self.entity = entity
        isOptional = optional
    }
}
