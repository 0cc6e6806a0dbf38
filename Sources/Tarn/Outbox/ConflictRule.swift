/// The rule for a record that was changed both locally and at the server.
public enum ConflictRule: Sendable, Hashable {
    /// The server's values are taken, and the local change is withdrawn.
    case server
    /// The local change is sent again, based on the server's record.
    case client
    /// Fields that only one side has changed are merged. `overlap` decides about the others.
    case perField(overlap: Overlap)

    /// The rule for a field that both sides have changed to different values.
    public enum Overlap: String, Sendable, Hashable, CaseIterable {
        /// The local value is sent.
        case local
        /// The server's value is taken.
        case server
        /// The operation becomes a dead letter that names the fields.
        case hold
    }
}
