internal import LMDB

/// The destination of a field's encoded value.
public struct ValueEncoder: ~Copyable {
    var writer = ByteWriter(capacity: 2048)
    /// The tag of text in the field that is being written: string, URL or JSON.
    var textTag = ValueTag.string

    init() {}

    mutating func null() { writer.appendValueNull() }
}
