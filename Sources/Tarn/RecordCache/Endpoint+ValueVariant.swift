// The part of a request that determines the values of the records, besides its URL.

import TarnHTTP
import TarnStore

extension Endpoint {
    /// Returns a digest of the endpoint's header fields and of hooks; nil if there are none.
    ///
    /// Responses to one URL with different digests have different values for the same records.
    func valueVariant(_ hooks: RequestHooks) -> String? { digest(hooks) { $0.value } }

    /// Returns a digest like ``valueVariant(_:)``, without the values of credentials.
    ///
    /// It is part of names, and so it stays when a token is replaced by the next one.
    func listVariant(_ hooks: RequestHooks) -> String? {
        digest(hooks) { CacheRules.isCredential($0.name) ? "" : $0.value }
    }

    private func digest(_ hooks: RequestHooks, _ value: (TransportHeaders.Field) -> String) -> String? {
        guard !headers.isEmpty || !hooks.isEmpty else { return nil }
        let fields = headers.map { "\($0.name.lowercased()): \(value($0))" }.sorted()
        return SHA256.shortHexadecimal((fields + hooks.places).joined(separator: "\n"))
    }
}
