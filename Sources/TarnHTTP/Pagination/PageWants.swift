/// The parts of a page that pagination reads, besides `Link` and the number of records.
public struct PageWants: Sendable, Hashable {
    /// Key paths in the body, from its root, such as `meta.next`.
    package var values: [String]
    /// A key path in the records; nil if none is read.
    package var record: String?
    /// Names of the header fields that are read.
    package var fields: [String]
    /// Those of ``values`` that an object or a list must not be, if it is not empty.
    ///
    /// It is read as ``PageFacts/container``. Responses that were stored before it was stay valid.
    package var scalars: [String] = []
    /// Those of ``scalars`` of which an object or a list is a value, too.
    ///
    /// It is read as ``PageFacts/json`` and its text.
    package var composites: [String] = []

    /// Creates a set of wanted parts.
    public init(values: [String] = [], record: String? = nil, fields: [String] = []) {
        self.values = values
        self.record = record
        self.fields = fields
    }

    /// Whether no parts are read.
    package var isEmpty: Bool { values.isEmpty && record == nil && fields.isEmpty }
}
