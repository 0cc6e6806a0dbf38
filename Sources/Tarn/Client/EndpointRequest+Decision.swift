// The decision about a response: by the description's rules first, then by its status.

import TarnHTTP

extension EndpointRequest {
    /// The decision about a response.
    enum Decision {
        /// The stored response is still valid (RFC 9110 §15.4.5).
        case notModified
        /// The response has records, or by a rule none.
        case records(isEmpty: Bool)
        /// A rule drops the response, and the list stops here.
        case ignored
        /// A rule takes the response as the end of the list: the previous page was the last one.
        case last
        /// A rule, or the response itself, makes it a failure.
        case failed(message: String?)
        /// The server refuses the request.
        case refused
    }

    /// Decides about a response to a request with these header fields.
    func decision(about response: TransportResponse, sent fields: TransportHeaders) -> Decision {
        let rule = client.rules(of: endpoint).first(for: response)
        switch rule?.action {
        case .ignore: return .ignored
        case .empty: return .records(isEmpty: true)
        case .stop: return .last
        case .fail, .retry, .refreshToken: return .failed(message: rule?.message)
        case nil: break
        }
        if let reason = response.partReason(askedWith: fields) { return .failed(message: reason) }
        switch response.status {
        case 304: return .notModified
        case 200..<300: return .records(isEmpty: false)
        default: return .refused
        }
    }
}
