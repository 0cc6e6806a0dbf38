// How a struct of a program and the rows of an entity become one another, without a dictionary or `Codable` in between.

/// A struct that holds records of one entity, or some of their fields.
///
/// It is decoded straight from a row's bytes and encoded into them:
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
/// A struct of many texts is read about a tenth faster if its initializer sets all members at once (`try self.init(id: row.get(.id), …)`, in
/// an extension): set one by one, it is copied when it is complete. It is written faster if the fields are set in the order in which the
/// schema declares them.
///
/// Names meet the store's catalog once for each generation of it, when the type is first used: a name that the entity does
/// not have, or a key of another form, is an error then. A field that the struct does not name stays as it is in the store.
public protocol StoredRecord: Sendable {
    /// The fields that the struct holds.
    associatedtype Field: RecordField
    /// The primary key: `Int64`, `String`, `UUID`; `RecordKey` for a composite one.
    associatedtype Key: StoredKey

    /// The name of the entity in the schema.
    static var entity: String { get }

    /// Copies a row.
    ///
    /// - Throws: `StoreError` as ``Row/get(_:as:)`` does.
    init(_ row: Row<Self>) throws(StoreError)

    /// Sets every field of the struct. The key's attributes must be among them, or the record cannot be stored.
    func encode(into row: inout RowEncoder<Self>)
}
