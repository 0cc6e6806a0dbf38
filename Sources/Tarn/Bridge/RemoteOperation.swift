public import TarnHTTP
public import TarnImport
public import TarnStore

/// One request of a bridge to the server.
public struct RemoteOperation<Info: Sendable>: Sendable {
    /// The HTTP method.
    public var method: String
    /// The URL, or a path below the base URL of the API that begins with `/`.
    public var url: String
    /// The header fields, in addition to those of the API.
    public var headers: TransportHeaders
    /// The body; nil for none.
    public var body: [UInt8]?
    /// What travels with the operation to its response.
    public var info: Info

    /// Creates an operation.
    public init(
        _ method: String, _ url: String, headers: TransportHeaders = TransportHeaders(), body: [UInt8]? = nil,
        info: Info
    ) {
        self.method = method
        self.url = url
        self.headers = headers
        self.body = body
        self.info = info
    }

    /// Creates an operation with a JSON body.
    public init(_ method: String, _ url: String, json: JSONValue, info: Info) {
        self.init(
            method, url, headers: TransportHeaders([.init("Content-Type", "application/json")]),
            body: Array(json.text.utf8), info: info)
    }
}

/// The meaning of a response: what is imported, what follows, and what went wrong beside the data.
public struct RemoteAnswer<Info: Sendable>: Sendable {
    /// The records of the response, in order.
    public var parts: [RemotePart]
    /// The operations that follow, such as that of the next page.
    public var next: [RemoteOperation<Info>]
    /// Values besides the records, for the caller.
    public var metadata: [String: JSONValue]
    /// Errors that the server reports beside data. The data is imported all the same.
    public var errors: [RemoteError]

    /// Creates an answer.
    public init(
        _ parts: [RemotePart] = [], next: [RemoteOperation<Info>] = [], metadata: [String: JSONValue] = [:],
        errors: [RemoteError] = []
    ) {
        self.parts = parts
        self.next = next
        self.metadata = metadata
        self.errors = errors
    }
}

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
    public var entity: String
    /// The place of the records.
    public var content: Content
    /// A record that they belong to; nil for none.
    public var parent: ParentReference?
    /// Whether the value at the key path may be absent or null. Such a part has no parent.
    public var isOptional = false
    /// Values that the mapping may read as `@param`.
    public var parameters: [String: String] = [:]
    /// The number of records before them in a longer list, for `@position`.
    package var firstPosition = 0

    /// Creates a part.
    public init(_ entity: String, _ content: Content, parent: ParentReference? = nil) {
        self.entity = entity
        self.content = content
        self.parent = parent
    }
}

/// An error in the terms of a request language.
public struct RemoteError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The message, of the server or of the bridge.
    public var message: String
    /// The path in the data, outermost first; empty if the error is about the whole operation.
    public var path: [String]
    /// The code of the error, if the server gives one.
    public var code: String?

    /// Creates an error.
    public init(_ message: String, path: [String] = [], code: String? = nil) {
        self.message = message
        self.path = path
        self.code = code
    }

    public var description: String {
        (path.isEmpty ? "" : path.joined(separator: ".") + ": ") + message + (code.map { " (\($0))" } ?? "")
    }
}
