// Requests and responses as values: no connection, no I/O.

/// Header fields in the order in which they came, names compared without case (RFC 9110 §5.1).
public struct HTTPHeaders: Sendable, Hashable {
    /// One line of header fields.
    public struct Field: Sendable, Hashable {
        /// As it was written; compared without case.
        public var name: String
        /// Without the white space around it.
        public var value: String

        /// A field with a value.
        public init(_ name: String, _ value: String) {
            self.name = name
            self.value = value
        }
    }

    /// In their order; a name may stand several times.
    public var fields: [Field]

    /// A list of fields.
    public init(_ fields: [Field] = []) {
        self.fields = fields
    }

    /// The first value of a field, or nil. Setting replaces all of that name; setting nil removes them.
    public subscript(name: String) -> String? {
        get { fields.first { HTTPHeaders.same($0.name, name) }?.value }
        set {
            fields.removeAll { HTTPHeaders.same($0.name, name) }
            if let newValue { fields.append(Field(name, newValue)) }
        }
    }

    /// Every value of a field, in order.
    public func all(_ name: String) -> [String] {
        fields.filter { HTTPHeaders.same($0.name, name) }.map(\.value)
    }

    /// ASCII case-insensitive equality, as for tokens (RFC 9110 §5.1).
    static func same(_ a: String, _ b: String) -> Bool {
        a.utf8.count == b.utf8.count
            && zip(a.utf8, b.utf8).allSatisfy { x, y in
                x == y || ((x ^ y) == 0x20 && (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(x | 0x20))
            }
    }
}
