internal import TarnStore

/// A part of a record's key from its position: a reference, and the key of its target.
struct KeyOwner {
    /// The field of the reference; 0 if the record may use the reference, but does not have to.
    var field: UInt16
    /// The whole encoding of the target's key; borrowed.
    var tuple: Bytes
}
