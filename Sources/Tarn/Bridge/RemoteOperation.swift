public import TarnHTTP
public import TarnImport

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
    /// A value that the operation carries to its response.
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
