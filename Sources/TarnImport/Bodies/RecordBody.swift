/// A record as the JSON of a request.
package struct RecordBody: Sendable, Hashable {
    /// The object to send.
    package var json: JSONValue
    /// The fields with a value that the body does not contain although they were not excluded.
    package var unsent: [UnsentField]

    /// A field that has no place in a body.
    package struct UnsentField: Sendable, Hashable {
        /// The name of the field.
        package var name: String
        /// Why it has none.
        package var reason: String
    }

    /// Creates a body.
    init(json: JSONValue, unsent: [UnsentField]) {
        self.json = json
        self.unsent = unsent
    }
}
