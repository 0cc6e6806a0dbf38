/// The destination of a field's encoded value.
public struct ValueEncoder: ~Copyable {
    var writer = ByteWriter(capacity: 2048)
    /// The tag of text in the field that is being written: string, URL or JSON.
    var textTag = ValueTag.string
    /// Whether the value may have been read from another one, which it does not represent exactly.
    var isApproximate = false
    /// Returns what a struct writes that was read from a stored text; nil for a URL.
    var rewritten: ((String) -> String?)?

    init() {}

    mutating func null() { writer.appendValueNull() }
}
