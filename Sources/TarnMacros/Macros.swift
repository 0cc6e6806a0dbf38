// The macros that write the conformance of a struct to `MappedRecord`.

@_exported public import Tarn

/// Makes a struct a record: its entity, schema, mapping and columns, from its properties.
///
/// ```swift
/// @Record struct Issue: Equatable {
///     @Key var id: Int64
///     @Index var number: Int
///     var title: String
///     @Index var state: State
///     @Attribute(from: "reactions.+1", default: 0) var thumbsUp: Int
///     @Relationship(from: "user", inverse: "issues") var author: Reference<User>
///     @Relationship(ordered: true) var labels: References<Label>
/// }
/// ```
///
/// Every stored property with a type is a field of the same name, and takes its value from the JSON
/// key of that name (`updatedAt` from `updated_at`). A property may be a
/// `Bool`, `Int`, `Int64`, `UInt64`, `Double`, `ExactDecimal`, `String`, `Timestamp`, `Date`,
/// `UUID`, `URL`, `Data`, an enumeration that is an `AttributeValue`, an optional or a list of them,
/// a `Reference` or `References`. An `Inverse` is a relationship that the other side stores.
/// Static and computed properties are not fields, and neither is one with ``Transient()``.
///
/// - Parameters:
///   - entity: the name of the entity; by default that of the struct.
///   - parent: the record type of the parent entity. Fields of the parent that the struct has, too,
///     are inherited.
///   - compression: the compression of rows.
@attached(
    member,
    names: named(Field), named(Columns), named(Key), named(fields), named(mapping), named(parent), named(compression))
@attached(
    extension, conformances: MappedRecord, names: named(entity), named(init(_:)), named(encode(into:)))
public macro Record(
    _ entity: String? = nil, parent: (any TypedRecord.Type)? = nil,
    compression: EntityDefinition.Compression? = nil
) = #externalMacro(module: "TarnMacrosPlugin", type: "RecordMacro")

/// Makes a property the primary key, or a part of it in the order of the declarations.
///
/// Its type is `Int`, `Int64`, `String` or `UUID`; or a `Reference`, for a record that its owner and
/// a part of its own identify.
@attached(peer)
public macro Key() = #externalMacro(module: "TarnMacrosPlugin", type: "FieldMacro")

/// Makes an index of a property.
///
/// For several properties, for some of the records, and for paths, declare `static var indexes`.
///
/// - Parameters:
///   - unique: whether no two records may have the same value; nulls are distinct.
///   - ignoringCase: whether texts that differ only in case are equal.
@attached(peer)
public macro Index(unique: Bool = false, ignoringCase: Bool = false) =
    #externalMacro(module: "TarnMacrosPlugin", type: "FieldMacro")

/// Declares where an attribute's value comes from, and how it is read.
///
/// - Parameters:
///   - sources: the key paths in the JSON, in the order in which they are tried; after them the
///     property's own name is tried.
///   - type: the type in the store, if that of the property does not determine it. With `.json`, a
///     `Codable` property is kept as JSON.
///   - rules: dates, transformers, and the treatment of nulls and absent values.
///   - renamedFrom: the former name; stored values stay.
@attached(peer)
public macro Attribute(
    from sources: ValueSource..., type: AttributeType? = nil, rules: FieldRules? = nil, renamedFrom: String? = nil
) = #externalMacro(module: "TarnMacrosPlugin", type: "FieldMacro")

/// Declares where an attribute's value comes from, and its default.
///
/// - Parameters:
///   - sources: the key paths in the JSON, in the order in which they are tried; after them the
///     property's own name is tried.
///   - type: the type in the store, if that of the property does not determine it.
///   - default: the value of a record that is first stored completely without one. Reading a
///     record that lacks the value gives it, too.
///   - rules: dates, transformers, and the treatment of nulls and absent values.
///   - renamedFrom: the former name; stored values stay.
@attached(peer)
public macro Attribute<Value: AttributeValue>(
    from sources: ValueSource..., type: AttributeType? = nil, default: Value, rules: FieldRules? = nil,
    renamedFrom: String? = nil
) = #externalMacro(module: "TarnMacrosPlugin", type: "FieldMacro")

/// Declares a relationship: where its references come from, and its other side.
///
/// - Parameters:
///   - sources: the key paths in the JSON, in the order in which they are tried; after them the
///     property's own name is tried. None for an `Inverse`.
///   - inverse: the property of the target that is the other side: an `Inverse` of a relationship
///     that is stored here, or the stored one of an `Inverse` that has a delete rule. The compiler
///     checks that it is there.
///   - ordered: whether the order of a to-many relationship is significant.
///   - onDelete: the effect on the targets when the record is deleted.
///   - rules: the treatment of nulls, of absent values, and of lists.
///   - renamedFrom: the former name; stored references stay.
@attached(peer)
public macro Relationship(
    from sources: ValueSource..., inverse: String? = nil, ordered: Bool = false,
    onDelete: RelationshipDefinition.DeleteRule = .none, rules: FieldRules? = nil, renamedFrom: String? = nil
) = #externalMacro(module: "TarnMacrosPlugin", type: "RelationshipMacro")

/// Excludes a property from the record. It has an initial value, which every record read gets.
@attached(peer)
public macro Transient() = #externalMacro(module: "TarnMacrosPlugin", type: "FieldMacro")
