import Foundation
import Locking
public import TarnHTTP
public import TarnImport
public import TarnStore

/// A client of an API that answers typed requests with records, from its store or from the server.
///
/// ```swift
/// let forge = try RecordClient(
///     base: "https://api.forge.example", records: Issue.self, User.self, Label.self,
///     store: "forge.tarn")
/// let issues = try await forge.all(.issues("acme/anvil"))           // [Issue], every page
/// let issue = try await forge.one(.issue(17, in: "acme/anvil"))     // Issue
/// for try await page in forge.pages(.issues("acme/anvil")) { print(page.records.count) }
/// let open = try forge.store.read { try $0.fetch(Issue.where { $0.state == .open }) }
/// ```
///
/// The rules of HTTP decide whether the store answers (RFC 9111): a fresh response is answered
/// without the network, a stale one is confirmed by a conditional request, and without the network
/// a stale answer is returned and marked. Every response is imported in one transaction with its
/// entry. Any number of tasks and processes may use clients over one store.
public final class RecordClient: Sendable {
    /// The client that sends the requests.
    public let client: APIClient
    /// The cache that answers requests.
    public let cache: RecordCache
    /// The store of the records.
    public var store: Store { client.store }
    let domains = RequestDomains()
    private let fingerprints = Guarded<[Endpoint: String]>([:])

    /// Creates a client over a client of the API.
    ///
    /// The description of the API may have no endpoints: requests name their paths.
    ///
    /// - Parameter options: the options of the cache; nil for those of the description.
    public init(_ client: APIClient, options: RecordCache.Options? = nil) {
        self.client = client
        cache = RecordCache(client, options: options)
    }

    /// Creates a client of an API whose records a program declares.
    ///
    /// The store is created if it does not exist, and its schema is changed to that of the records,
    /// as ``Store/open(at:schema:options:progress:)`` describes.
    ///
    /// - Parameters:
    ///   - base: the base URL of the API: absolute, without query and fragment.
    ///   - records: the record types, also those of targets of relationships.
    ///   - path: the path of the store.
    ///   - transport: the transport; nil for libcurl with the options of the API.
    ///   - options: the options of the client.
    ///   - configure: changes the description of the API: authentication, header fields, pace,
    ///     retry, the rules of its cache, the naming of its JSON.
    /// - Throws: `StoreOpenError`; `MirrorError.missingToken` if an
    ///   environment variable of the authentication is not set; `MirrorError.endpoint` if the base
    ///   URL is not valid or the mapping does not fit the records.
    public convenience init(
        base: String, records: any MappedRecord.Type..., store path: String, transport: (any Transport)? = nil,
        options: APIClient.Options = APIClient.Options(), configure: (inout Description) throws -> Void = { _ in }
    ) throws {
        var description = Description(
            file: base, storePath: path,
            api: APIDescription(base: base.hasSuffix("/") ? String(base.dropLast()) : base),
            schema: Schema(records: records), mapping: Mapping(records: records), endpoints: [])
        try configure(&description)
        try RecordClient.check(base: description.api.base)
        let problems = description.mapping.problems(for: description.schema)
        guard problems.isEmpty else {
            throw MirrorError.endpoint(
                place: "records", message: problems.map { "\($0)" }.joined(separator: "; "))
        }
        let store = try Store.open(at: path, schema: description.schema)
        self.init(
            try APIClient(
                description, store: store, transport: transport ?? CurlTransport(description.api.transport),
                options: options))
    }

    /// - Throws: `MirrorError.endpoint` if a text is not the base URL of an API.
    private static func check(base url: String) throws(MirrorError) {
        do throws(HTTPURLError) {
            // Paths are appended to the base: after a `?` they would be part of the query.
            guard try HTTPURL(url).query == nil, !url.contains("#") else {
                throw HTTPURLError(
                    url, "a base URL has no query and no fragment: `api.parameters` are sent with every request")
            }
        } catch {
            throw MirrorError.endpoint(place: "base", message: "\(error)")
        }
    }

    /// Cancels the calls of all requests in a domain, with their transfers.
    ///
    /// Sequences of pages and batches end, too, and throw: ``CacheError/isCancelled`` is true then.
    /// Later calls in the domain are not affected, and neither is a transfer that callers outside
    /// of the domain wait for.
    ///
    /// - Returns: the number of cancelled calls.
    @discardableResult
    public func cancel(domain name: String) -> Int { domains.cancel(name) }

    /// The fingerprint of the import of a request's responses, with the places of its hooks.
    func fingerprint<Value>(of request: RecordRequest<Value>) -> String {
        let plain = fingerprint(of: request.endpoint), hooks = request.options.transfer.hooks
        guard !hooks.isEmpty else { return plain }
        return SHA256.shortHexadecimal(plain + "\n" + hooks.places.joined(separator: "\n"))
    }

    /// A digest of what a request adds to the mapping: its hooks, header fields and metadata, and
    /// the places of its records.
    func variant<Value>(of request: RecordRequest<Value>) -> String {
        let plain = Description.fingerprint(of: request.endpoint.onlyImporting, mappedBy: "")
        let places = request.options.transfer.hooks.places
        return SHA256.shortHexadecimal(plain + "\n" + places.joined(separator: "\n"))
    }

    /// The fingerprint of the import of an endpoint's responses, computed once.
    func fingerprint(of endpoint: Endpoint) -> String {
        let key = endpoint.onlyImporting
        if let known = fingerprints.withLock({ $0[key] }) { return known }
        let new = client.description.fingerprint(of: key)
        fingerprints.withLock { known in
            // Header fields may differ from request to request.
            if known.count >= RecordClient.mostFingerprints { known = [:] }
            known[key] = new
        }
        return new
    }

    private static let mostFingerprints = 256
}

extension Endpoint {
    /// The endpoint without what does not concern the import of its responses.
    fileprivate var onlyImporting: Endpoint {
        var plain = self
        plain.parameters = []
        plain.body = nil
        (plain.name, plain.path, plain.place) = ("", "", "")
        return plain
    }
}

extension RecordClient: CustomDebugStringConvertible {
    /// One line: the API and the store.
    public var debugDescription: String { "RecordClient(\(Redaction.url(client.api.base)), \(store.path))" }
}
