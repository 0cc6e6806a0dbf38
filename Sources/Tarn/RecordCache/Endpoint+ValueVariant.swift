// The part of a request that determines the values of the records, besides its URL.

import TarnHTTP
import TarnStore

extension Endpoint {
    /// Returns a digest of the endpoint's header fields and of hooks; nil if there are none.
    ///
    /// Responses to one URL with different digests have different values for the same records. The
    /// values of credentials are left out: a store contains no digest of a secret, and the digest
    /// is part of names, which stay when a token is replaced by the next one.
    func valueVariant(_ hooks: RequestHooks) -> String? {
        guard !headers.isEmpty || !hooks.isEmpty else { return nil }
        let fields = headers.map { field in
            "\(field.name.lowercased()): \(CacheRules.isCredential(field.name) ? "" : field.value)"
        }
        return SHA256.shortHexadecimal((fields.sorted() + hooks.places).joined(separator: "\n"))
    }
}
