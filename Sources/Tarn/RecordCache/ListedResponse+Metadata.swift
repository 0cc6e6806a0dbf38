import TarnStore

extension ListedResponse {
    /// The metadata of the response as JSON texts, by name: as in ``CachedAnswer``.
    public var metadata: [String: String] { PageMetadata.declared(in: encodedMetadata) }
}
