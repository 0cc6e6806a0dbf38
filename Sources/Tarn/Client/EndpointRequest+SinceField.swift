// The header field in which a scan sends the value for the changes.

import TarnHTTP

extension EndpointRequest {
    /// The header field that requests the changes; nil if the value is sent elsewhere, and for the
    /// whole list.
    var sinceField: TransportHeaders.Field? {
        guard let name = endpoint.incremental?.headerField, let since else { return nil }
        return .init(name, since)
    }

    /// Checks that the value can be that of a header field.
    ///
    /// - Throws: `MirrorError.endpoint` for a line break, which would begin another field (RFC 9110
    ///   §5.5), and other control characters.
    func checkSinceField() throws(MirrorError) {
        guard let field = sinceField,
            field.value.isEmpty
                || field.value.unicodeScalars.contains(where: { $0.value < 0x20 || $0.value == 0x7F })
        else { return }
        throw .endpoint(
            place: place,
            message: "since: the value \(field.value.excerpt) cannot be sent in the header field \(field.name)")
    }
}
