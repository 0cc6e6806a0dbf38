// The content codings of responses that a cache stores as they were sent.

extension CurlTransport {
    /// The fields that the transport adds to a request without them: the response may vary by them.
    ///
    /// For a range, no coding is requested: a part of a coded content cannot be decoded.
    package func addedFields(to request: TransportRequest) -> [TransportHeaders.Field] {
        var added: [TransportHeaders.Field] = []
        if options.addsFields {
            added.append(.init("Accept", "*/*"))
            if !options.userAgent.isEmpty { added.append(.init("User-Agent", options.userAgent)) }
        }
        if options.decodesContent {
            let codings = request.headers["Range"] == nil ? ContentDecoder.accepted : nil
            added.append(.init("Accept-Encoding", codings ?? "identity"))
        }
        return added.filter { request.headers[$0.name] == nil }
    }

    /// Returns a response without its content codings, as ``send(_:)`` does without a cache.
    ///
    /// The header fields stay. A refusal that was cut off is decoded as far as it goes.
    ///
    /// - Parameter request: the request, with `keepsCoding`.
    /// - Throws: `TransportError` if the coding is unknown, if the content is damaged or is only a
    ///   part, or if it is too large.
    package func decoded(
        _ response: TransportResponse, of request: TransportRequest
    ) throws(TransportError) -> TransportResponse {
        guard options.decodesContent, request.method != "HEAD", !response.body.isEmpty else { return response }
        func error(_ kind: TransportError.Kind, _ detail: String) -> TransportError {
            var error = TransportError(kind, method: request.method, url: request.url, detail: detail)
            error.answer = TransportResponse(status: response.status, headers: response.headers)
            return error
        }
        let found: ContentDecoder?
        do throws(ContentDecoder.Unsupported) {
            found = try ContentDecoder.of(
                response.headers.all("Content-Encoding"),
                limit: min(request.responseLimits?.body ?? .max, options.maximumBodySize))
        } catch let problem {
            throw error(.protocol, "unsupported Content-Encoding: \(problem.coding.excerpt)")
        }
        guard let decoder = found else { return response }
        let limits = (200..<300).contains(response.status) ? nil : request.responseLimits
        let limit = min(request.responseLimits?.body ?? .max, limits?.refusal ?? .max, options.maximumBodySize)
        var decoded = response
        decoded.body = []
        let progress = response.body.withUnsafeBytes { bytes in
            decoder.decode(bytes) { piece in
                let room = limit - decoded.body.count
                decoded.body.append(contentsOf: piece.prefix(room))
                return piece.count <= room
            }
        }
        switch progress {
        case .decoded where decoder.isComplete || limits != nil: return decoded
        case .decoded where response.status == 206, .malformed where response.status == 206:
            let range = response.headers["Content-Range"].map { " (\($0.excerpt))" } ?? ""
            throw error(.protocol, "a range\(range) of \(decoder.coding) content cannot be decoded by itself")
        case .stopped where limits != nil, .tooLarge where limits != nil: return decoded
        case .decoded: throw error(.cutShort, "the stored \(decoder.coding) content has no end")
        case .stopped, .tooLarge: throw error(.tooLarge, "the body is larger than the limit of \(limit) bytes")
        case .malformed(let coding): throw error(.protocol, "the stored content is not valid \(coding)")
        }
    }
}
