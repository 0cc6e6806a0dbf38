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
///     @Relationship(from: "user", inverse: \User.issues) var author: Reference<User>
///     @Relationship(ordered: true) var labels: References<Label>
/// }
/// ```
///
/// Every stored property with a type is a field of the same name, and takes its value from the JSON
/// key of that name (`updatedAt` from `updated_at`). A property may be a
/// `Bool`, `Int`, `Int64`, `UInt64`, `Double`, `ExactDecimal`, `String`, `Timestamp`, `Date`,
/// `UUID`, `URL`, `Data`, an enumeration that is an `AttributeValue`, an optional or a list of
/// them, a `Reference` or `References`. An `Inverse` is a relationship that the other side stores.
/// Static and computed properties are not fields, and neither is one with ``Transient()``. A field
/// and its attributes cannot be inside of `#if`. Of a `private` property, conditions are possible
/// in the same file.
///
/// The macro adds types with the names `Field`, `Columns` and `Key`, so a record has another name,
/// and a property names another type of such a name with its module.
///
/// - Parameters:
///   - entity: the name of the entity; by default that of the struct.
///   - parent: the record type of the parent entity. Fields of the parent that the struct has, too,
///     are inherited: defaults, inverses and delete rules are those of the parent. An index may be
///     the struct's own.
///   - compression: the compression of rows.
///   - url: the URLs that name the records: `"/users/{login}"`. Keys and references are taken from
///     them without a request.
@attached(
    member,
    names: named(Field), named(Columns), named(Key), named(fields), named(mapping), named(parent), named(compression))
// With names of its own the extension would be added too late: a member of an inherited protocol,
// such as `Issue.all`, would be looked up before.
@attached(extension, conformances: MappedRecord, names: arbitrary)
public macro Record(
    _ entity: String? = nil, parent: (any TypedRecord.Type)? = nil,
    compression: EntityDefinition.Compression? = nil, url: RecordURL? = nil
) = #externalMacro(module: "TarnMacrosPlugin", type: "RecordMacro")

/// Makes a property the primary key, or a part of it in the order of the declarations.
///
/// Its type is `Int`, `Int64`, `String` or `UUID`; or a `Reference`, for a record that its owner
/// and a part of its own identify.
@attached(peer)
public macro Key() = #externalMacro(module: "TarnMacrosPlugin", type: "FieldMacro")

/// Makes an index of a property.
///
/// A to-one relationship always has one: there, only a unique index is an index of its own.
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
///     `Codable` property is kept as JSON, and a text, which is declared as `String` and by no
///     other name, is checked to be JSON.
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
///     record that lacks the value gives it, too, and so does a null, unless the property is
///     optional. Conditions do not: there, the value is missing. Its type is written:
///     `State.open`, `[String]()`.
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
///     property's own name is tried.
///   - inverse: the `Inverse` of the target that is the other side: `\User.issues`. A record that
///     refers to itself names it by a text: `"issues"`.
///   - ordered: whether the order of a to-many relationship is significant.
///   - onDelete: the effect on the targets when the record is deleted.
///   - rules: the treatment of nulls, of absent values, and of lists.
///   - renamedFrom: the former name; stored references stay.
///   - url: the URLs that name the targets here, if they are not those of the target.
@attached(peer)
public macro Relationship(
    from sources: ValueSource..., inverse: AnyKeyPath? = nil, ordered: Bool = false,
    onDelete: RelationshipDefinition.DeleteRule = .none, rules: FieldRules? = nil, renamedFrom: String? = nil,
    by url: RecordURL? = nil
) = #externalMacro(module: "TarnMacrosPlugin", type: "RelationshipMacro")

/// Declares a relationship whose other side is named by a text, which the compiler checks.
///
/// An `Inverse` with a delete rule names the relationship that is stored:
/// `@Relationship(inverse: "post", onDelete: .cascade) var comments: Inverse<Comment>`. Two key
/// paths that lead to each other are a circle, which the compiler does not accept. Neither does it
/// accept a key path in a record that refers to itself.
///
/// - Parameters:
///   - sources: the key paths in the JSON, in the order in which they are tried; none for an
///     `Inverse`.
///   - inverse: the name of the target's property that is the other side.
///   - ordered: whether the order of a to-many relationship is significant.
///   - onDelete: the effect on the targets when the record is deleted.
///   - rules: the treatment of nulls, of absent values, and of lists.
///   - renamedFrom: the former name; stored references stay.
///   - url: the URLs that name the targets here, if they are not those of the target.
@attached(peer)
public macro Relationship(
    from sources: ValueSource..., inverse: String, ordered: Bool = false,
    onDelete: RelationshipDefinition.DeleteRule = .none, rules: FieldRules? = nil, renamedFrom: String? = nil,
    by url: RecordURL? = nil
) = #externalMacro(module: "TarnMacrosPlugin", type: "RelationshipMacro")

/// Excludes a property from the record. It has an initial value, which every record read gets.
@attached(peer)
public macro Transient() = #externalMacro(module: "TarnMacrosPlugin", type: "FieldMacro")
