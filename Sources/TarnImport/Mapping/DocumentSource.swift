/// A value that all records of a document share.
enum DocumentSource: Hashable {
    case constant(JSONValue)
    case header(String)
    case parameter(String)
    /// A path from the root. `isList`: collects all values that the path leads to in a list.
    /// `isFlat`: the elements of lists among them, instead of the lists.
    case root([JSONPath.Step], isList: Bool, isFlat: Bool)

    var isOfContext: Bool {
        switch self {
        case .header, .parameter: true
        case .constant, .root: false
        }
    }

    /// Whether two answers to requests of one list may have different values.
    ///
    /// The parameters of a request are no answer.
    var isOfAnswer: Bool {
        switch self {
        case .header, .root: true
        case .constant, .parameter: false
        }
    }

    var isOfRoot: Bool { if case .root = self { true } else { false } }
}
