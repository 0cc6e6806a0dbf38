import Tarn

/// The answers to the requests for lists of several parents, by the paths of their sources.
package struct SiblingAnswers: Sendable {
    /// The records of the lists that show whether keys are unique among all records.
    package var records: [String: [[JSONValue]]] = [:]
    /// The styles of pagination that a list of another parent shows, and the first one does not.
    var styles: [String: SampledStyle] = [:]
    /// The samples of lists of other parents by the URLs of samples whose lists are empty.
    var samples: [String: Sample] = [:]

    /// Creates an empty value.
    package init() {}
}
