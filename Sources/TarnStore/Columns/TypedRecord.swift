/// A record type that declares its entity, with a typed column for each field.
///
/// The macro `@Record` of the product `TarnMacros` writes this conformance from the struct. By hand
/// it takes the list of fields and a struct of columns:
///
/// ```swift
/// struct Label: TypedRecord {
///     static let entity = "Label"
///     typealias Key = Int64
///     enum Field: Int, RecordField { case id, name }
///     struct Columns: RecordColumns {
///         let path: ColumnPath
///         var id: Column<Int64> { Column(path, "id") }
///         var name: Column<String> { Column(path, "name") }
///     }
///     static var fields: [FieldDeclaration] {
///         [.attribute("id", Int64.self, isKey: true), .attribute("name", String.self)]
///     }
///     …
/// }
/// ```
///
/// A condition on columns is checked by the compiler: `Label.where { $0.name == 1 }` does not
/// compile.
public protocol TypedRecord: StoredRecord {
    /// The columns of the fields, and of relationships that other entities store.
    associatedtype Columns: RecordColumns

    /// The fields, in the order of the declarations. Those of a parent may be among them.
    static var fields: [FieldDeclaration] { get }

    /// The indexes of several fields, of expressions, or of some of the records. Default: none.
    static var indexes: [RecordIndex<Self>] { get }

    /// The record type of the parent entity. Default: none.
    static var parent: (any TypedRecord.Type)? { get }

    /// The compression of rows. Default: zstd.
    static var compression: EntityDefinition.Compression { get }
}

extension TypedRecord {
    public static var indexes: [RecordIndex<Self>] { [] }
    public static var parent: (any TypedRecord.Type)? { nil }
    public static var compression: EntityDefinition.Compression { .zstd }

    /// The columns of a record, from which a path begins.
    package static var columns: Columns { Columns(path: ColumnPath()) }

    /// The names of the key's parts, in order: those of the nearest type that declares them.
    static var keyNames: [String] {
        var declaring: (any TypedRecord.Type)? = self
        while let type = declaring {
            let names = type.fields.filter(\.isKey).map(\.name)
            if !names.isEmpty { return names }
            declaring = type.parent
        }
        return []
    }

    /// The definition of the entity in a schema.
    ///
    /// A field that an ancestor declares is inherited, and not part of it. An index that no
    /// ancestor has of it is.
    public static var definition: EntityDefinition {
        var inherited: [String: [FieldDeclaration]] = [:]
        var ancestor = parent
        while let type = ancestor {
            for field in type.fields { inherited[field.name, default: []].append(field) }
            ancestor = type.parent
        }
        let own = fields.filter { inherited[$0.name] == nil }
        let added = fields.compactMap { field in inherited[field.name].flatMap { field.index(notAmong: $0) } }
        return EntityDefinition(
            entity, parent: parent?.entity, key: own.filter(\.isKey).map(\.name),
            attributes: own.compactMap(\.attribute), relationships: own.compactMap(\.relationship),
            indexes: own.compactMap(\.index) + added + indexes.map { $0.definition(of: fields) },
            compression: compression)
    }
}

extension Schema {
    /// Creates a schema of the entities that record types declare.
    public init(records: [any TypedRecord.Type]) {
        self.init(records.map { $0.definition })
    }
}
