/// The mark by which a response reports a deleted record.
public struct TombstoneRule: Sendable, Hashable {
    /// The path of the mark, relative to the record.
    package var path: JSONPath
    /// The expected text, or text of a number or boolean. Nil: any value except null and false.
    package var equals: String?

    /// Creates a rule.
    public init(path: JSONPath, equals: String? = nil) {
        self.path = path
        self.equals = equals
    }
}
