/// An endpoint of a proposal.
struct ProposedEndpoint {
    /// A list of records in the response.
    struct List {
        /// The keys that lead to the list; the key `*` selects each element of a list.
        var keys: [ListStep]
        var entity: String
        /// Whether a response may lack the list.
        var isOptional = false
        /// The names of members of a map that are no records.
        var exceptions: [String] = []
        /// The path of the names of columns, or the names, as a description writes them, if the
        /// records are rows or columns; nil for objects.
        var columns: String?
    }

    var name: String
    var comments: [String] = []
    var path: String
    /// The attribute whose value is requested, in braces, instead of the path.
    var url: String?
    var parameters: [ProposedParameter] = []
    var headers: [ProposedParameter] = []
    var partitions: [(name: String, values: [String])] = []
    /// Whether the responses are lines of JSON, and their media type does not say so.
    var hasLines = false
    var lists: [List] = []
    /// The paths of tables inside of the listed records, with the place of the names of their
    /// columns, as a description writes them.
    var tables: [(path: String, names: String)] = []
    /// The style as a description writes it.
    var pagination = "single_page"
    var paginationComment = ""
    /// Other styles that the samples allow, each with its condition.
    var paginationAlternatives: [(text: String, condition: String)] = []
    /// The path of a sign of more that is none, as a description writes it; nil without one.
    var ignoredSign: String?
    /// The status of a page behind the last one; nil if the server does not refuse it.
    var endStatus: Int?
    /// The text in the answer to a page behind the last one, which lacks the list.
    var endText: String?
    var forEach: (entity: String, parent: String?)?
    /// The reason why the records of a list for each record get no parent; nil without one.
    var parentDoubt: String?
    /// The reason why a parameter leaves records out; nil without one.
    var parameterDoubt: String?
    /// The key `since` as a description writes it, and whether it is certain enough to be active.
    var since: (text: String, isActive: Bool)?
    /// Whether all lines are comments: an alternative for a person to decide.
    var isCommentedOut = false
    /// Whether the keys of the records are their positions in the list: those behind the end of a
    /// list that has become shorter name no record.
    var hasPositions = false
    var remarks: [String] = []
}

/// One step from the root of a response to its records.
enum ListStep: Hashable {
    case key(String)
    case each
    /// An element of an array, from 0.
    case index(Int)
}

/// A parameter of a proposed request.
struct ProposedParameter {
    var name: String
    var value: String
    /// The values of a list; empty for the single value.
    var values: [String] = []
    var comment = ""

    /// The name with each value, as a request sends them.
    var pairs: [(name: String, value: String)] { (values.isEmpty ? [value] : values).map { (name, $0) } }

    /// Adds a further value of the same name.
    mutating func add(_ further: String) { values = (values.isEmpty ? [value] : values) + [further] }
}
