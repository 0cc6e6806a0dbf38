internal import TarnStore

/// Where in a document with records of several entities those of one of them are.
public struct EnvelopePart: Sendable, Hashable {
    /// From the document's root.
    public var path: KeyPath
    /// Of the listed records.
    public var entity: String
    /// Whether it may be missing, or null.
    public var isOptional: Bool

    public init(_ path: KeyPath, _ entity: String, optional: Bool = false) {
        self.path = path
        self.entity = entity
        isOptional = optional
    }
}
