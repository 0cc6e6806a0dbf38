/// The type of an attribute's values.
public indirect enum AttributeType: Sendable, Hashable {
    /// True or false.
    case bool
    /// A signed 64-bit integer.
    case int
    /// An unsigned 64-bit integer.
    case uint
    /// An IEEE 754 double.
    case double
    /// A decimal number of any length, exact.
    case decimal
    /// A text.
    case string
    /// Bytes, in base64 in JSON.
    case bytes
    /// A point in time, in microseconds since 1970-01-01T00:00:00Z.
    case date
    /// A UUID.
    case uuid
    /// An absolute or relative URL, stored as its original text.
    case url
    /// Any JSON value, stored as compact JSON text.
    case json
    /// One of a fixed list of strings.
    case enumeration([String])
    /// A list of scalars of one type.
    case array(AttributeType)
}

// The table of the types. The page Extending Tarn has the files of a new one.
extension AttributeType {
    /// The types that a name alone denotes, in the order of messages.
    package static let named: [AttributeType] = [
        .bool, .int, .uint, .double, .decimal, .string, .bytes, .date, .uuid, .url, .json,
    ]

    /// The names, rules and texts of the type.
    var descriptor: any AttributeTypeDescriptor {
        switch self {
        case .bool: BoolType()
        case .int: IntType()
        case .uint: UIntType()
        case .double: DoubleType()
        case .decimal: DecimalType()
        case .string: StringType()
        case .bytes: BytesType()
        case .date: DateType()
        case .uuid: UUIDType()
        case .url: URLType()
        case .json: JSONType()
        case .enumeration(let values): EnumerationType(values: values)
        case .array(let element): ListType(element: element)
        }
    }

    /// The tag that alone proves that a value has the type; nil if the value itself has to be
    /// checked.
    ///
    /// A switch and not a property of the descriptor: every value that is written is compared with
    /// it.
    var tag: UInt8? {
        switch self {
        case .int: ValueTag.int
        case .double: ValueTag.double
        case .decimal: ValueTag.decimal
        case .string: ValueTag.string
        case .bytes: ValueTag.bytes
        case .date: ValueTag.date
        case .uuid: ValueTag.uuid
        case .url: ValueTag.url
        case .json: ValueTag.json
        case .bool, .uint, .enumeration, .array: nil
        }
    }
}
