/// A change of the change log, with the token after which to resume.
///
/// It has the properties of the ``Change``: `event.operation`, `event.entity`, `event.fields`.
@dynamicMemberLookup
public struct ChangeEvent<Key: StoredKey>: Sendable {
    /// The change.
    public let change: Change
    /// The key of the record.
    public let key: Key
    /// The position after the change: a stream since it begins with the next one.
    public let token: ChangeToken

    /// A property of the change.
    public subscript<Value>(dynamicMember property: KeyPath<Change, Value>) -> Value { change[keyPath: property] }
}
