/// The fields of a `StoredRecord`: an enumeration whose cases have the raw values 0, 1, 2, …
///
/// A case has the name of its attribute or relationship. If that is not possible, the enumeration
/// defines `name` itself. Only stored relationships are fields; for derived ones see
/// ``StoreReader/forEachRelated(_:_:_:to:_:)``.
public protocol RecordField: RawRepresentable, CaseIterable, Sendable where RawValue == Int {
    /// The name in the schema.
    var name: String { get }
}

extension RecordField {
    public var name: String { String(describing: self) }
}
