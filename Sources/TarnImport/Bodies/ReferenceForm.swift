/// The form in which a body refers to another record.
public enum ReferenceForm: String, Sendable, Hashable, CaseIterable {
    /// Its bare key: `"author_id": 7`. A key of several parts is an ``object``.
    case key
    /// An object with the attributes of its key: `"author": {"id": 7}`.
    case object
    /// An object with everything of it that can be sent, and with bare keys of further records.
    ///
    /// A record that is not stored is an ``object``.
    case nested
    /// Its URL, by the first template that the mapping of its entity declares.
    case url
}
