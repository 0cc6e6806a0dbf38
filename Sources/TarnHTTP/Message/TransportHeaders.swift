// Header fields as values: no connection, no I/O.

/// Header fields in order of receipt. Names are compared without case (RFC 9110 §5.1).
public struct TransportHeaders: Sendable, Hashable {
    /// One header field line.
    public struct Field: Sendable, Hashable {
        /// The name as written; compared without case.
        public var name: String
        /// The value without surrounding white space.
        public var value: String

        /// Creates a field.
        public init(_ name: String, _ value: String) {
            self.name = name
            self.value = value
        }
    }

    /// The fields in order; a name may occur several times.
    public var fields: [Field]

    /// Creates a list of fields.
    public init(_ fields: [Field] = []) {
        self.fields = fields
    }

    /// The first value of a field, or nil. A set replaces all fields of the name; nil removes them.
    public subscript(name: String) -> String? {
        get { index(of: name).map { fields[$0].value } }
        set {
            fields.removeAll { TransportHeaders.same($0.name, name) }
            if let newValue { fields.append(Field(name, newValue)) }
        }
    }

    /// Returns every value of a field, in order.
    public func all(_ name: String) -> [String] {
        guard let first = index(of: name) else { return [] }
        var values = [fields[first].value]
        for index in fields.indices.dropFirst(first + 1) where TransportHeaders.same(fields[index].name, name) {
            values.append(fields[index].value)
        }
        return values
    }

    /// Returns the index of the first field of a name, or nil.
    ///
    /// Most lookups find nothing: lengths are compared without copying a field.
    func index(of name: String) -> Int? {
        let length = name.utf8.count
        return fields.indices.first {
            fields[$0].name.utf8.count == length && TransportHeaders.same(fields[$0].name, name)
        }
    }

    /// Returns whether two texts are equal without ASCII case, as for tokens (RFC 9110 §5.1).
    package static func same(_ a: String, _ b: String) -> Bool {
        a.utf8.count == b.utf8.count
            && zip(a.utf8, b.utf8).allSatisfy { x, y in
                x == y || ((x ^ y) == 0x20 && (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(x | 0x20))
            }
    }
}
