// A record, copied out of the store.

/// A record as a dynamic value: its fields by name.
public struct Record: Sendable, Hashable {
    public var entity: String
    public var key: RecordKey
    /// Whether it is known only from partial nested objects so far.
    public var isPartial: Bool
    /// The commit sequence in which its content changed last.
    public var version: UInt64
    /// In the order of the catalog. Absent fields are not listed. A field that the catalog does not know is named by its id: `#12`.
    /// A reference to a missing record whose key is too long to stand in a reference is left out, alone or in a list;
    /// `forEachRelated` has it, without its key.
    public var fields: [Field]

    public struct Field: Sendable, Hashable {
        public var name: String
        public var value: Value

        public init(_ name: String, _ value: Value) {
            self.name = name
            self.value = value
        }
    }

    public init(entity: String, key: RecordKey, isPartial: Bool = false, version: UInt64 = 0, fields: [Field]) {
        self.entity = entity
        self.key = key
        self.isPartial = isPartial
        self.version = version
        self.fields = fields
    }

    /// The value of a field, or nil if it is absent.
    public subscript(name: String) -> Value? {
        fields.first { $0.name == name }?.value
    }

    /// Appends the fields as a JSON object.
    public func appendFieldsJSON(to text: inout String) {
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
