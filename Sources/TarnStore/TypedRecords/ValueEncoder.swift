internal import LMDB

/// Where the value of one field is written.
public struct ValueEncoder: ~Copyable {
    var writer = ByteWriter(capacity: 2048)
    /// How text is stored in the field that is being written: as a string, a URL or JSON.
    var textTag = ValueTag.string

    init() {}

    mutating func null() { writer.appendValueNull() }
}
