public import TarnStore

/// A record type that declares the mapping of its JSON, besides its entity and its columns.
///
/// The macro `@Record` writes this conformance.
public protocol MappedRecord: TypedRecord {
    /// The sources of the entity's values, and the rules for reading them.
    static var mapping: EntityMapping { get }

    /// Changes the mapping that the macro `@Record` makes. Default: no change.
    static func configure(_ mapping: inout EntityMapping)
}

extension MappedRecord {
    public static func configure(_ mapping: inout EntityMapping) {}

    /// By default, every field takes its value from its own name.
    public static var mapping: EntityMapping {
        var mapping = EntityMapping()
        configure(&mapping)
        return mapping
    }
}

extension Mapping {
    /// Creates the mapping of record types, with the rules of their API.
    ///
    /// An import writes the fields that the types declare: other fields of the store stay as they
    /// are.
    ///
    /// - Parameter naming: the correspondence of JSON keys and names; by default, `updatedAt` is
    ///   read from `updated_at`.
    public init(records: [any MappedRecord.Type], naming: NamingConvention = NamingConvention()) {
        self.init(naming: naming)
        for record in records {
            entities[record.entity] = record.mapping
            var type: (any TypedRecord.Type)? = record
            while let declaring = type {
                declaredFields[record.entity, default: []].formUnion(declaring.definition.fieldNames)
                type = declaring.parent
            }
        }
    }
}
