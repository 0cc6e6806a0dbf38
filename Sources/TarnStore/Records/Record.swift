// A copied record.

/// A copy of a record as a dynamic value: its fields by name.
public struct Record: Sendable, Hashable {
    /// The name of the record's concrete entity.
    public var entity: String
    /// The primary key.
    public var key: RecordKey
    /// Indicates that the record is known only from partial nested objects so far.
    public var isPartial: Bool
    /// The commit sequence of the last change of the record's content.
    public var version: UInt64
    /// The fields in the order of the catalog. Absent fields are missing.
    /// A field that the catalog does not know is named by its id: `#12`. A reference to a missing
    /// record whose key is too long for a reference has a ``KeyComponent/digest(_:)`` as its key.
    public var fields: [Field]

    /// A field with its value.
    public struct Field: Sendable, Hashable {
        /// The name of the attribute or relationship.
        public var name: String
        /// The value, which may be null.
        public var value: Value

        /// Creates a field.
        public init(_ name: String, _ value: Value) {
            self.name = name
            self.value = value
        }
    }

    /// Creates a record. This does not store it.
    package init(entity: String, key: RecordKey, isPartial: Bool = false, version: UInt64 = 0, fields: [Field]) {
        self.entity = entity
        self.key = key
        self.isPartial = isPartial
        self.version = version
        self.fields = fields
    }

    /// The value of a field. Nil if it is absent.
    public subscript(name: String) -> Value? {
        fields.first { $0.name == name }?.value
    }

    /// Appends the fields as a JSON object.
    package func appendFieldsJSON(to text: inout String) {
        text += "{"
        for (index, field) in fields.enumerated() {
            if index > 0 { text += "," }
            text.appendJSONString(field.name)
            text += ":"
            field.value.appendJSON(to: &text)
        }
        text += "}"
    }
}
