/// Responses to requests for one record by its key that contained a record with another key.
///
/// The records are stored. Those that were asked for keep what the store had of them.
package struct OtherRecords: Sendable, Hashable {
    /// The number of responses.
    package var count: Int
    /// The URL of the first of them, without credentials.
    package var url: String
    /// The key of the record that was asked for.
    package var asked: String
}
