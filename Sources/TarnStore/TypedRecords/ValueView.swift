/// A borrowed value of a row. It cannot outlive the row.
public struct ValueView: ~Escapable {
    @usableFromInline let encoded: EncodedValue
    let context: RowViewContext

    @_lifetime(immortal)
    @usableFromInline
    init(_ bytes: UnsafeRawBufferPointer, _ context: RowViewContext) {
        encoded = EncodedValue(bytes)
        self.context = context
    }

    /// Whether the value is null.
    @inlinable public var isNull: Bool { encoded.isNull }

    /// The storage key of a to-one reference.
    @inlinable var reference: UnsafeRawBufferPointer? { encoded.reference }

    /// Returns the key for a storage key that may be a digest.
    @usableFromInline func longKey<Key: StoredKey>(_ storageKey: UnsafeRawBufferPointer, of target: String) -> Key? {
        context.key(storageKey, of: target)
    }
}
