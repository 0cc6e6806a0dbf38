/// The request and the scan that a stored response belongs to.
package struct ResponseOrigin: Sendable {
    package let request: RequestKey
    /// The identity of the list; nil in entries from before identities were stored.
    package let identity: String?
    /// The number of the scan that has stored or confirmed the response last; nil without a scan.
    package let scan: UInt64?
    package let validatedAt: Timestamp
    /// The approximate time of the last use by a cache; that of the validation without one.
    package let usedAt: Timestamp
    /// See ``ResponseEntry/valueVariant``.
    package let valueVariant: String?
}
