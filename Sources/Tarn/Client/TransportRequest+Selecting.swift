// The request fields that select a stored response (RFC 9111 §4.1).

import TarnHTTP

extension TransportRequest {
    /// Returns the fields that `Vary` of a response names, as they may be stored: name, value, …
    ///
    /// Credentials are left out. They are part of the request's key, as a hash.
    func selecting(_ response: TransportHeaders) -> [String] {
        CacheRules.selectingFields(of: headers, by: response).fields.filter { !CacheRules.isCredential($0.name) }
            .flatMap { [$0.name, $0.value] }
    }
}
