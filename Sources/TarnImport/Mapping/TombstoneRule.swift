/// How a response says that a record is no more.
public struct TombstoneRule: Sendable, Hashable {
    /// From the record.
    public var path: KeyPath
    /// The text, or the text of the number or boolean, that stands there. Nil: anything but null and false.
    public var equals: String?

    public init(path: KeyPath, equals: String? = nil) {
        self.path = path
        self.equals = equals
    }
}
