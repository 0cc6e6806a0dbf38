// Values that a program takes from the whole JSON of a response.

public import TarnImport

extension RecordClient {
    /// Returns every record that a request lists, with a value from the JSON of each page.
    ///
    /// ```swift
    /// let (issues, totals) = try await forge.all(.issues("acme/anvil")) { json in json["total"] }
    /// ```
    ///
    /// The store does not keep the bodies of responses: the server is asked without a condition,
    /// and a stored response does not answer, not even if the server fails. A value that stored
    /// answers shall have is a ``ResponseValue``.
    ///
    /// - Parameter value: returns the value of a page, whose records have been imported. It
    ///   receives the whole document, null if the response has no body.
    /// - Returns: the records of all pages, and the values in the order of the pages.
    /// - Throws: as ``all(_:)``; errors of the closure; `MirrorError.endpoint` for a request with
    ///   the policy `cacheOnly`.
    public func all<Value, Custom: Sendable>(
        _ request: RecordRequest<Value>, value: @escaping @Sendable (JSONValue) throws -> Custom
    ) async throws -> (records: [Value], values: [Custom]) {
        var records: [Value] = [], values: [Custom] = []
        let pages = ResponsePages(
            client: self, request: try request.keepingBody(), deadline: request.options.deadline)
        for try await page in pages {
            try page.checkWhole()
            records += page.records
            values.append(try value(page.document()))
        }
        return (records, values)
    }

    /// Returns the one record of a response, with a value from its JSON.
    ///
    /// - Throws: as ``one(_:)`` and ``all(_:value:)``.
    public func one<Value, Custom: Sendable>(
        _ request: RecordRequest<Value>, value: @escaping @Sendable (JSONValue) throws -> Custom
    ) async throws -> (record: Value, value: Custom) {
        let page = try await page(request.keepingBody())
        return (try page.theOne(request), try value(page.document()))
    }

    /// Returns the pages of a request, each with a value from its JSON.
    ///
    /// See ``all(_:value:)``.
    public func pages<Value, Custom: Sendable>(
        _ request: RecordRequest<Value>, value: @escaping @Sendable (JSONValue) throws -> Custom
    ) throws -> AsyncThrowingMapSequence<ResponsePages<Value>, (page: ResponsePage<Value>, value: Custom)> {
        pages(try request.keepingBody()).map { page in (page, try value(page.document())) }
    }
}

extension RecordRequest {
    /// The request whose answers have the body of the response.
    fileprivate func keepingBody() throws -> RecordRequest {
        guard options.policy != .cacheOnly else {
            throw MirrorError.endpoint(
                place: endpoint.place,
                message: "a value of the response needs its body, which the store does not keep: ask the server")
        }
        return with {
            $0.options.policy = .networkOnly
            $0.options.transfer.keepsBody = true
        }
    }
}

extension ResponsePage {
    /// The whole document; null if the response has no body.
    fileprivate func document() throws -> JSONValue {
        guard let body, !body.isEmpty else { return .null }
        return try JSONValue(String(decoding: body, as: UTF8.self))
    }
}
