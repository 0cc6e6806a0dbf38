internal import TarnStore

/// What is known of a key from where its record stands: the reference that is part of it, and the key that it leads to.
struct KeyOwner {
    /// 0 if the record may take the reference, and need not.
    var field: UInt16
    /// The whole encoding; lent.
    var tuple: Bytes
}
