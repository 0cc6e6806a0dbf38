/// The names of the fields of a `StoredRecord`: an enumeration whose cases have the raw values 0, 1, 2, …
///
/// A case has the name of its attribute or relationship; where that cannot be, the enumeration defines `name` itself. Only
/// stored relationships are fields: a derived one is followed, see ``StoreReader/forEachRelated(_:_:_:to:_:)``.
public protocol RecordField: RawRepresentable, CaseIterable, Sendable where RawValue == Int {
    /// The name in the schema.
    var name: String { get }
}

extension RecordField {
    public var name: String { String(describing: self) }
}
