// The mapping between structs and rows, without dictionaries or `Codable`.

/// A struct that holds records of one entity, or some of their fields.
///
/// It is decoded from a row's bytes directly, and encoded to them:
///
/// ```swift
/// struct Issue: StoredRecord {
///     static let entity = "Issue"
///     typealias Key = Int64
///     enum Field: Int, RecordField { case id, title, closedAt, author }
///
///     var id: Int64
///     var title: String
///     var closedAt: Timestamp?
///     var author: Reference<User>
///
///     init(_ row: Row<Issue>) throws(StoreError) {
///         id = try row.get(.id)
///         title = try row.get(.title)
///         closedAt = try row.get(.closedAt)
///         author = try row.get(.author)
///     }
///
///     func encode(into row: inout RowEncoder<Issue>) {
///         row.set(.id, id)
///         row.set(.title, title)
///         row.set(.closedAt, closedAt)
///         row.set(.author, author)
///     }
/// }
/// ```
///
/// Two habits make it faster:
///
/// - Let the initializer set all members at once, in an extension, as a call of the memberwise
///   initializer: `try self.init(id: row.get(.id), …)`. A struct of many texts is then read about
///   a tenth faster: set one by one, it is copied once it is complete.
/// - Set the fields in the order of the schema's declarations when encoding.
///
/// Names are resolved against the store's catalog when the type is first used, once per generation.
/// A name that the entity does not have, or a key of another form, is an error then. Fields that
/// the struct does not name keep their values in the store.
public protocol StoredRecord: Sendable {
    /// The fields that the struct holds.
    associatedtype Field: RecordField
    /// The primary key: `Int64`, `String`, `UUID`; `RecordKey` for a composite one.
    associatedtype Key: StoredKey

    /// The name of the entity in the schema.
    static var entity: String { get }

    /// Copies a row to a struct.
    ///
    /// - Throws: `StoreError` as ``Row/get(_:as:)`` does.
    init(_ row: Row<Self>) throws(StoreError)

    /// Sets every field of the struct.
    ///
    /// The attributes of the key have to be among them, or the record cannot be stored.
    func encode(into row: inout RowEncoder<Self>)
}
