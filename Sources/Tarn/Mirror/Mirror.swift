// A mirror: the endpoints of a description, walked page by page into a store, with checkpoints.

import Foundation
import TarnHTTP
import TarnImport
import TarnStore

/// Keeps the endpoints of a description in a store.
///
/// A page is one commit, if nothing else is said, or several pages are: their records, the responses' validators, and how far the
/// walk has come. So an interrupted sync goes on with the page after the last one that was committed, and a page that has not
/// changed costs one conditional request.
public struct Mirror: Sendable {
    public struct Options: Sendable {
        /// Where requests are sent instead of the description's base URL: a proxy, a gateway, a test server. Links to the
        /// base URL are followed there too. What is stored does not depend on it.
        public var base: String?
        /// Whether validators are ignored and everything is fetched again, from the first page on.
        public var refetches = false
        /// Whether an interrupted walk begins again.
        public var restarts = false
        /// Pages of one walk after which something must be wrong.
        public var pageLimit = 10_000
        /// What is committed together, whatever the endpoints say; nil for what they say.
        public var commitUnit: Endpoint.CommitUnit?
        /// Whether records that the server no longer lists are only reported: none is deleted or unlinked.
        public var reportsOrphansOnly = false
        /// Asked before such a record goes, in the transaction in which it would: false keeps it. Called on the store's writer thread; it
        /// must not use the store.
        public var mayDelete: (@Sendable (Record) -> Bool)?
        /// How many records a step of deleting deletes, at most.
        public var orphanStep = 1000
        /// How many records are asked for by themselves at the end of one walk, at most, where an endpoint says how.
        public var orphanCheckLimit = 100
        /// The hooks of an endpoint's imports: called once before it is walked. They are called on the thread of the walk, and on the store's
        /// writer thread. What they make of a response is not asked for again while the server answers 304.
        public var hooks: (@Sendable (Endpoint) -> ImportHooks)?

        public init() {}
    }

    public let description: Description
    public let store: Store
    let transport: any Transport
    let options: Options
    private let token: String?

    /// - Throws: `MirrorError.missingToken` if the description names an environment variable that is not set.
    public init(
        _ description: Description, store: Store, transport: any Transport, options: Options = Options(),
        environment: [String: String] = ProcessInfo.processInfo.environment
    ) throws(MirrorError) {
        self.description = description
        self.store = store
        self.transport = transport
        self.options = options
        if let variable = description.api.bearerEnvironment {
            guard let token = environment[variable], !token.isEmpty else { throw .missingToken(variable: variable) }
            self.token = token
        } else {
            token = nil
        }
    }

    /// Walks endpoints in the order of the description, those with the given names or all.
    ///
    /// A failure ends its walk and is in the report; other endpoints go on, unless they would fail for the same reason.
    /// Cancelling the task stops before the next page.
    public func sync(
        _ names: Set<String>? = nil, progress: @escaping @Sendable (SyncProgress) -> Void = { _ in }
    ) async -> SyncReport {
        var sync = SyncReport()
        let importer: Importer
        let scope: String
        do {
            importer = try Importer(description.importMapping, store.catalog)
            scope = try token.map { token in
                String(try store.read { SHA256.hexadecimal(try $0.incarnation + "\n" + token) }.prefix(32))
            } ?? ""
        } catch {
            var failed = SyncReport.Endpoint(name: "")
            failed.failures = [Mirror.mirrorError(error, url: "", place: description.file)]
            sync.endpoints = [failed]
            return sync
        }
        for endpoint in description.endpoints where names?.contains(endpoint.name) ?? true {
            var walk = Walk(
                mirror: self, endpoint: endpoint, importer: importer, authScope: scope,
                fingerprint: description.fingerprint(of: endpoint),
                progress: progress)
            let started = ContinuousClock.now
            await walk.run()
            let elapsed = (ContinuousClock.now - started).components
            walk.report.seconds = Double(elapsed.seconds) + Double(elapsed.attoseconds) / 1e18
            sync.endpoints.append(walk.report)
            if walk.report.failures.contains(where: \.endsEverything) { break }
        }
        return sync
    }

    /// The URL at which a URL of the API is requested.
    func requestURL(_ url: String) -> String {
        guard let base = options.base else { return url }
        if let moved = HTTPURL.rebase(link: url, from: [description.api.base], onto: base) { return moved }
        // A link may lead beside the path of the base URL. It must not lead to the real server all the same.
        guard let home = try? HTTPURL(description.api.base), let other = try? HTTPURL(base) else { return url }
        return HTTPURL.rebase(link: url, from: [home.origin], onto: other.origin) ?? url
    }

    /// The URL of the API that was requested at a URL: what links are relative to.
    func canonicalURL(_ url: String) -> String {
        guard let base = options.base else { return url }
        return HTTPURL.rebase(link: url, from: [base], onto: description.api.base) ?? url
    }

    func request(_ url: String) -> HTTPRequest {
        var request = HTTPRequest(url: requestURL(url), headers: HTTPHeaders(description.api.headers))
        if let token { request.headers["Authorization"] = "Bearer \(token)" }
        return request
    }

    static func mirrorError(_ error: any Error, url: String, place: String) -> MirrorError {
        switch error {
        case let error as MirrorError: error
        case let error as TransportError: error.kind == .cancelled ? .cancelled : .transport(error)
        case let error as ImportError: .response(error, url: url, place: place)
        case let error as PaginationError: .pagination(error, place: place)
        case let error as StoreError: .store(error)
        case is CancellationError: .cancelled
        default: .endpoint(place: place, message: "\(error)")
        }
    }
}
