// Requests and responses as values: no connection, no I/O.

/// Header fields in the order in which they came, names compared without case (RFC 9110 §5.1).
public struct HTTPHeaders: Sendable, Hashable {
    /// One line of header fields.
    public struct Field: Sendable, Hashable {
        /// As it was written; compared without case.
        public var name: String
        /// Without the white space around it.
        public var value: String

        /// A field with a value.
        public init(_ name: String, _ value: String) {
            self.name = name
            self.value = value
        }
    }

    /// In their order; a name may stand several times.
    public var fields: [Field]

    /// A list of fields.
    public init(_ fields: [Field] = []) {
        self.fields = fields
    }

    /// The first value of a field, or nil. Setting replaces all of that name; setting nil removes them.
    public subscript(name: String) -> String? {
        get { fields.first { HTTPHeaders.same($0.name, name) }?.value }
        set {
            fields.removeAll { HTTPHeaders.same($0.name, name) }
            if let newValue { fields.append(Field(name, newValue)) }
        }
    }

    /// Every value of a field, in order.
    public func all(_ name: String) -> [String] {
        fields.filter { HTTPHeaders.same($0.name, name) }.map(\.value)
    }

    /// ASCII case-insensitive equality, as for tokens (RFC 9110 §5.1).
    static func same(_ a: String, _ b: String) -> Bool {
        a.utf8.count == b.utf8.count
            && zip(a.utf8, b.utf8).allSatisfy { x, y in
                x == y || ((x ^ y) == 0x20 && (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(x | 0x20))
            }
    }
}

/// What is asked of a server.
public struct HTTPRequest: Sendable, Hashable {
    /// Such as `GET`; case counts (RFC 9110 §9.1).
    public var method: String
    /// Absolute, `http` or `https`, already percent-encoded.
    public var url: String
    /// Beside those that the transport adds.
    public var headers: HTTPHeaders
    /// What is sent along; its type is in ``headers``. Nil for nothing, which is not the same as nothing of length 0.
    public var body: [UInt8]?
    /// Where redirects may lead, beside the request's own origin; nil for anywhere.
    public var redirects: RedirectScope?
    /// How much of the answer's body is read, beside the limits of the transport; nil for all of it.
    package var responseLimits: ResponseLimits?

    /// How much of a body is of use.
    package struct ResponseLimits: Sendable, Hashable {
        /// A longer body is an error; nil for the transport's limit.
        package var body: Int?
        /// Of a body that comes with another status than 2xx, what is beyond is not read, and no error.
        package var refusal: Int

        package init(body: Int? = nil, refusal: Int) {
            self.body = body
            self.refusal = refusal
        }

        /// For requests of which only the records of a success are of use: of a refusal, as much as ``ResponseRule`` looks at.
        package static let records = ResponseLimits(refusal: 64 << 10)
    }

    /// A request; GET without a body if nothing else is said.
    public init(method: String = "GET", url: String, headers: HTTPHeaders = HTTPHeaders(), body: [UInt8]? = nil) {
        self.method = method
        self.url = url
        self.headers = headers
        self.body = body
    }
}

/// The servers to which redirects may lead. Credentials go to none of them but the request's own.
public struct RedirectScope: Sendable, Hashable {
    /// Base URLs; a redirect below one of them is followed as it stands.
    public var bases: [String]
    /// A server that is reached at another URL: a redirect to the first is followed at the second.
    public var moved: Moved?

    /// A base URL, and the one by which it is reached.
    public struct Moved: Sendable, Hashable {
        public var from: String
        public var to: String

        public init(from: String, to: String) {
            self.from = from
            self.to = to
        }
    }

    public init(bases: [String] = [], moved: Moved? = nil) {
        self.bases = bases
        self.moved = moved
    }
}

/// What a server answered.
public struct HTTPResponse: Sendable, Hashable {
    /// The status code.
    public var status: Int
    /// As they were received, in order.
    public var headers: HTTPHeaders
    /// The complete body, content codings removed.
    public var body: [UInt8]
    /// The URL that answered, if redirects led away from the requested one; what relative links are relative to.
    public var redirectedTo: String?

    /// A response.
    public init(
        status: Int, headers: HTTPHeaders = HTTPHeaders(), body: [UInt8] = [], redirectedTo: String? = nil
    ) {
        self.status = status
        self.headers = headers
        self.body = body
        self.redirectedTo = redirectedTo
    }
}

/// A response that comes before the response, such as 103 (RFC 9110 §15.2).
public struct InterimResponse: Sendable, Hashable {
    /// The status code: 100 to 199, but for 101.
    public var status: Int
    /// Its own: the response's come later.
    public var headers: HTTPHeaders

    /// An interim response.
    public init(status: Int, headers: HTTPHeaders = HTTPHeaders()) {
        self.status = status
        self.headers = headers
    }

    /// Lets a closure send requests, and tells another one of the interim responses to them: of each in its order, before the request's answer
    /// is returned, on a thread of the transport, which it must not hold up. Of 101 nobody is told.
    ///
    /// ``CurlTransport`` does so; who shares the transfer of somebody else (`CachedTransport`) is told of nothing. What is still under way when the
    /// closure has returned, such as a revalidation in the background, is told of all the same.
    ///
    ///     let page = try await InterimResponse.receiving { print($0.status) } while: { try await transport.send(request) }
    public static func receiving<Result>(
        _ receive: @escaping @Sendable (InterimResponse) -> Void, isolation: isolated (any Actor)? = #isolation, while body: () async throws -> Result
    ) async rethrows -> Result {
        try await $receiver.withValue(Receiver(receive), operation: body)
    }

    /// A class: the optimizer of Swift 6.3 loses the type of a closure that is a task-local value, and the process dies.
    final class Receiver: Sendable {
        let receive: @Sendable (InterimResponse) -> Void

        init(_ receive: @escaping @Sendable (InterimResponse) -> Void) { self.receive = receive }
    }

    @TaskLocal static var receiver: Receiver?
}
