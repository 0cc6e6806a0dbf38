/// The progress of an index build.
public struct IndexBuildProgress: Sendable, Hashable {
    /// The entity that declares the index.
    public var entity: String
    /// The name of the attribute, or of the declared index.
    public var index: String
    /// The number of rows added while it is built, or of entries checked for duplicates.
    public var done: Int
    /// The current total of rows or entries; other writers may change it.
    public var total: Int
}
