// The part of a request that determines the values of the records, besides its URL.

import TarnStore

extension Endpoint {
    /// Returns a digest of the endpoint's header fields and of hooks; nil if there are none.
    ///
    /// Responses to one URL with different digests have different values for the same records.
    func valueVariant(_ hooks: RequestHooks) -> String? {
        guard !headers.isEmpty || !hooks.isEmpty else { return nil }
        let fields = headers.map { "\($0.name.lowercased()): \($0.value)" }.sorted()
        return SHA256.shortHexadecimal((fields + hooks.places).joined(separator: "\n"))
    }
}
