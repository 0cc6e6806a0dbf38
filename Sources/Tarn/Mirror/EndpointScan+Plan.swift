// The digests that tell whether two scans are of the same list.

import TarnHTTP

extension EndpointScan {
    /// The digest of a scan's first request, of its mapping, of the initial value, and of its
    /// credentials, if any.
    ///
    /// The list of another account is another one. Another initial value lists other records.
    static func plan(of page: PageRequest, _ request: EndpointRequest) -> String {
        digest(of: page, request, mapping: request.fingerprint)
    }

    /// The digest of what determines which records a list has; nil without a rule for orphans.
    ///
    /// It is the plan without the fields of records other than those of their keys.
    static func listing(of page: PageRequest, _ request: EndpointRequest) -> String? {
        request.listing.map { listing(of: page, request, records: $0) }
    }

    /// - Parameter records: the digest of what determines, besides the request, which records are
    ///   listed.
    static func listing(of page: PageRequest, _ request: EndpointRequest, records: String) -> String {
        digest(of: page, request, mapping: records)
    }

    private static func digest(of page: PageRequest, _ request: EndpointRequest, mapping: String) -> String {
        // Tokens in header fields of typed requests make no other list.
        let scope = request.authScope + (request.endpoint.isTypedRequest ? "" : request.variant)
        let initial = request.endpoint.incremental?.initial.map { "\ninitial \($0)" } ?? ""
        return SHA256.hexadecimal(
            EndpointRequest.text(of: page) + "\n" + mapping + initial + (scope.isEmpty ? "" : "\n" + scope))
    }
}
