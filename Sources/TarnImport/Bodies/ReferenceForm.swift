/// How a body refers to another record.
package enum ReferenceForm: Sendable, Hashable {
    /// Its bare key: `"author_id": 7`. A key of several parts is an ``object``.
    case key
    /// An object with the attributes of its key: `"author": {"id": 7}`.
    case object
    /// An object with everything of it that can be sent, and with bare keys of further records.
    ///
    /// A record that is not stored is an ``object``.
    case nested
}
