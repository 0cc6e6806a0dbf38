import TarnStore

extension ListedResponse {
    /// The metadata that the endpoint declares: JSON texts by name, as in ``CachedAnswer``.
    public var metadata: [String: String] { PageMetadata.declared(in: encodedMetadata) }
}
