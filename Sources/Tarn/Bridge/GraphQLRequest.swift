public import TarnImport

/// A GraphQL query with its variables, and the places of records in its data.
///
/// ```swift
/// let request = GraphQLRequest(
///     """
///     query($name: String!, $after: String) {
///       repository(name: $name) {
///         issues(first: 50, after: $after) {
///           totalCount pageInfo { hasNextPage endCursor } nodes { id title }
///         }
///       }
///     }
///     """, ["name": .string("anvil")],
///     records: [.init("repository.issues", "Issue", cursor: "after")],
///     metadata: ["total": "repository.issues.totalCount"])
/// ```
public struct GraphQLRequest: Sendable {
    /// The document: one query.
    package var document: String
    /// The values of its variables.
    public var variables: [String: JSONValue]
    /// The places of records.
    package var records: [Records]
    /// The key paths of values for the result, below `data`, by name.
    var metadata: [String: JSONPath]
    /// A value that each operation of the request carries to its response.
    public var userInfo: JSONValue
    /// Whether it is the mutation of a local change.
    var isChange = false
    /// The number of records on the pages before, of each place; nil for a place without a value.
    /// Empty for the first page.
    var listedBefore: [Int?] = []

    /// A place of records in the data.
    ///
    /// The value there is an object, a list, or a connection: an object with `nodes`, or with
    /// `edges` whose elements have a `node`. Elements that are null are left out. A place without a
    /// cursor is read from the first page only.
    public struct Records: Sendable {
        /// The key path below `data`, of keys only.
        package var path: JSONPath
        /// The entity of the records; nil if their `__typename` names it.
        package var entity: String?
        /// The variable that carries the cursor of the next page; nil for a list of one page. Each
        /// place has a variable of its own.
        package var cursor: String?
        /// A record that they belong to; nil for none.
        package var parent: ParentReference?

        /// Creates a place.
        public init(
            _ path: JSONPath, _ entity: String? = nil, cursor: String? = nil, parent: ParentReference? = nil
        ) {
            self.path = path
            self.entity = entity
            self.cursor = cursor
            self.parent = parent
        }
    }

    /// Creates a request.
    public init(
        _ document: String, _ variables: [String: JSONValue] = [:], records: [Records],
        metadata: [String: JSONPath] = [:], userInfo: JSONValue = .null
    ) {
        self.document = document
        self.variables = variables
        self.records = records
        self.metadata = metadata
        self.userInfo = userInfo
    }
}

extension GraphQLRequest {
    /// Checks what cannot be answered.
    ///
    /// - Throws: `RemoteError`.
    func check() throws {
        for path in records.map(\.path) + metadata.values where !path.isPlain {
            throw RemoteError("\(path) is no path of keys: lists and other origins are not supported here")
        }
        var names: Set<String> = []
        for name in records.compactMap(\.cursor) where !names.insert(name).inserted {
            throw RemoteError("two places of records have the cursor \(name): each needs a variable of its own")
        }
    }
}
