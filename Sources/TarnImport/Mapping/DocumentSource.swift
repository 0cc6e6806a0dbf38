internal import TarnStore

/// A value of a document that is the same for all of its records.
enum DocumentSource: Hashable {
    case constant(JSONValue)
    case header(String)
    case parameter(String)
    /// From the root. `isList`: every value that the path leads to, in a list.
    case root([KeyPath.Step], isList: Bool)

    var isOfRoot: Bool { if case .root = self { true } else { false } }
}
