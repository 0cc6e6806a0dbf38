import TarnHTTP
public import TarnImport

/// Records of one entity in a response.
public struct RemotePart: Sendable {
    /// The place of the records.
    public enum Content: Sendable {
        /// A list or an object at a key path of the response's body.
        case path(JSONPath)
        /// A list or an object that the bridge has taken from the response.
        case json(JSONValue)
    }

    /// The entity of the records, or an ancestor of theirs.
    package var entity: String
    /// The place of the records.
    package var content: Content
    /// A record that they belong to; nil for none.
    package var parent: ParentReference?
    /// Whether the value at the key path may be absent or null. Such a part has no parent.
    public var isOptional = false
    /// Values that the mapping may read as `@param`.
    public var parameters: [String: String] = [:]
    /// The lists of the response whose elements are rows, or columns.
    var columns: [NamedColumns] = []
    /// The names of members of a map that are no records.
    var exceptions: Set<String> = []
    /// The number of records before them in a longer list, for `@position`.
    var firstPosition: Int

    /// Creates a part.
    ///
    /// - Parameter firstPosition: the number of records before them in a longer list.
    public init(_ entity: String, _ content: Content, parent: ParentReference? = nil, firstPosition: Int = 0) {
        self.entity = entity
        self.content = content
        self.parent = parent
        self.firstPosition = firstPosition
    }
}

extension RemotePart {
    /// Drafts the records of the part.
    ///
    /// - Parameter errors: the errors beside the data: null is then a value that the server could
    ///   not read, and clears nothing.
    func draft(
        _ response: TransportResponse, source: String, besides errors: [RemoteError], into importer: Importer
    ) throws(ImportError) -> Importer.Added {
        var context = ImportContext(
            headers: response.headers.fields.map { ($0.name, $0.value) }, parameters: parameters,
            firstPosition: firstPosition, source: source)
        context.parameters = parameters
        context.ignoresNulls = !errors.isEmpty
        importer.conceal(secretsOf: response)
        do throws(ImportError) {
            switch content {
            case .json(let json):
                return try importer.add(Array(json.text.utf8), entity: entity, parent: parent, context: context)
            case .path(let path):
                let body = try importer.naming(columns, in: response.body, of: [path: entity])
                guard !isOptional, exceptions.isEmpty else {
                    var part = EnvelopePart(path, entity, optional: isOptional)
                    part.exceptions = exceptions
                    return try importer.add(body, envelope: [part], context: context)
                }
                return try importer.add(body, records: path, entity: entity, parent: parent, context: context)
            }
        } catch {
            throw importer.concealed(error)
        }
    }
}
