// A client of an API: its transports, addresses and credentials, below mirrors and caches.

public import Foundation
import Locking
public import Logging
public import TarnHTTP
public import TarnStore

/// A client of the API that a description declares: sends its requests.
///
/// Requests follow the pace, the credentials and the retry policy of the description. Known limits
/// of servers are restored from the store. An ``APIMirror`` and a ``RecordCache`` work over a
/// client; those that share one also share its pace, its credentials and the known limits.
///
/// If the description has several APIs, it is the client of the first one, and has a client for
/// each of the others: with its own pace, retry policy, credentials and addresses.
public struct APIClient: Sendable {
    /// The options of a client.
    public struct Options: Sendable {
        /// The URL that replaces the description's base URL: a proxy, a gateway or a test server.
        ///
        /// Links to the base URL are requested there, too. Stored data does not depend on it.
        public var base: String?
        /// The URLs that replace the base URLs of a description with several APIs, by name.
        package var bases: [String: String] = [:]
        /// The page limit of a list whose endpoint has none: a guard against endless pagination.
        public var pageLimit = 10_000
        /// The retry policy that replaces the description's; nil keeps the description's.
        public var retry: RetryPolicy?
        /// Whether requests are sent even if a server's limit is used up.
        ///
        /// Stored limits are ignored, and limits that servers announce before they refuse are not
        /// obeyed.
        public var ignoresLimits = false
        /// Called when requests begin to wait: for a limit, for the pace, or before a retry.
        public var onWait: (@Sendable (RequestWait) -> Void)?
        /// The directory where exchanges are recorded for a `FixtureTransport`; nil for none.
        ///
        /// Recordings contain no secrets. Conditions are not sent while recording.
        package var recordsTo: String?
        /// The logger of requests, waits, retries and imports, without secrets; nil for none.
        ///
        /// Requests are logged at `debug`, imports at `info`, their diagnostics and retries at
        /// `notice`.
        public var logger: Logger?
        /// Whether the client requires that secrets can be read when it is created.
        ///
        /// Without it, a missing secret is the failure of the first request that needs it.
        package var requiresSecrets = true
        /// The maximum number of keys that the report of an import names for each outcome; 0 for
        /// none.
        ///
        /// See `ImportReport.keys(_:)`.
        public var keyLimit = 100
        /// The clock of waits and of stored times, and the random source of waits.
        public var time = TimeSource.system
        /// Keeps the access tokens of clients for later clients of the process; nil for none.
        package var tokens: TokenKeeper?
        /// Called wherever a sync or a cache is suspended: tests of races delay it there.
        package var interleave: (@Sendable () async -> Void)?

        /// Creates the default options.
        public init() {}
    }

    /// The parts of a client. They are shared by its copies, of which a scan makes many.
    private final class Parts: Sendable {
        let description: Description
        let store: Store
        let options: Options
        let address: Address
        let transports: Transports
        let budgets: BudgetKeeper
        let others: [String: APIClient]
        /// The digest of the schema and the mapping, when it was first needed.
        private let digest = Guarded<String?>(nil)
        /// That of the keys of records.
        private let keyDigest = Guarded<String?>(nil)
        /// The store's ``StoreReader/responseOrigin``, once it was read.
        private let origin = Guarded<String?>(nil)

        /// The key of hashes of credentials.
        var responseOrigin: String {
            get throws {
                if let known = origin.withLock(\.self) { return known }
                let read = try store.read { try $0.responseOrigin }
                origin.withLock { $0 = read }
                return read
            }
        }

        var mappingDigest: String {
            if let known = digest.withLock(\.self) { return known }
            let new = description.fingerprint
            digest.withLock { $0 = new }
            return new
        }

        var keyFingerprint: String {
            if let known = keyDigest.withLock(\.self) { return known }
            let new = description.keyFingerprint
            keyDigest.withLock { $0 = new }
            return new
        }

        init(
            _ context: Context, _ address: Address, _ transports: Transports, _ budgets: BudgetKeeper,
            others: [String: APIClient]
        ) {
            description = context.description
            store = context.store
            options = context.options
            self.address = address
            self.transports = transports
            self.budgets = budgets
            self.others = others
        }

        /// Creates the parts of a client that differs in its description.
        init(_ parts: Parts, _ description: Description, others: [String: APIClient]) {
            self.description = description
            store = parts.store
            options = parts.options
            address = parts.address
            transports = parts.transports
            budgets = parts.budgets
            self.others = others
        }
    }

    /// The API of a client.
    private struct Address {
        let api: APIDescription
        let name: String?
        let base: String?
    }

    /// The transports of a client, each over the one before.
    private struct Transports {
        let paced: PacedTransport
        let authorized: AuthorizedTransport
        /// The recorder of exchanges; nil if none are recorded.
        let recording: RecordingTransport?
    }

    private var parts: Parts

    /// The description of the API, with its endpoints.
    public var description: Description { parts.description }
    /// The digest of the description's schema and mapping, computed once.
    var mappingDigest: String { parts.mappingDigest }
    /// The digest of what the keys and the kinds of records depend on, computed once.
    var keyFingerprint: String { parts.keyFingerprint }
    /// The API that this client sends requests to.
    package var api: APIDescription { parts.address.api }
    /// The name of the API; nil for the only one of the description.
    var apiName: String? { parts.address.name }
    /// The URL that replaces the base URL; nil for none.
    package var base: String? { parts.address.base }
    /// The store that receives the records.
    public var store: Store { parts.store }
    /// The options of the client.
    package var options: Options { parts.options }
    /// The clients of the description's further APIs, by name. They share nothing but the store,
    /// and the tokens of equal authentications.
    private var others: [String: APIClient] { parts.others }
    private var paced: PacedTransport { parts.transports.paced }
    private var authorized: AuthorizedTransport { parts.transports.authorized }
    private var recording: RecordingTransport? { parts.transports.recording }
    private var budgets: BudgetKeeper { parts.budgets }

    /// Creates a client that sends its requests over a transport.
    ///
    /// Commands that print secrets run only when a request needs them.
    ///
    /// - Throws: `MirrorError.missingToken` if the description names an environment variable that
    ///   is not set, `.secret` if a file that it names cannot be read.
    public init(
        _ description: Description, store: Store, transport: any Transport, options: Options = Options(),
        environment: [String: String] = ProcessInfo.processInfo.environment
    ) throws(MirrorError) {
        try self.init(description, store: store, options: options, environment: environment) { _, _ in transport }
    }

    /// Creates a client with a transport for each API of the description.
    ///
    /// - Parameter transport: creates the transport of an API. Its certificates and its proxy are
    ///   for this API only.
    /// - Throws: as ``init(_:store:transport:options:environment:)``.
    package init(
        _ description: Description, store: Store, options: Options = Options(),
        environment: [String: String] = ProcessInfo.processInfo.environment,
        transport: (_ name: String?, APIDescription) -> any Transport
    ) throws(MirrorError) {
        var options = options
        if !description.furtherAPIs.isEmpty, options.tokens == nil { options.tokens = TokenKeeper() }
        let context = Context(description: description, store: store, options: options, environment: environment)
        let limits = BudgetKeeper.limits(of: store)
        var others: [String: APIClient] = [:]
        for further in description.furtherAPIs {
            others[further.name] = try APIClient(
                context, further.api, further.name, transport(further.name, further.api), limits)
        }
        try self.init(
            context, description.api, description.apiName, transport(description.apiName, description.api), limits,
            others: others)
    }

    /// The values that the clients of all APIs have in common.
    private struct Context {
        var description: Description
        var store: Store
        var options: Options
        var environment: [String: String]
    }

    private init(
        _ context: Context, _ api: APIDescription, _ name: String?, _ transport: any Transport,
        _ limits: [String: RateBudget], others: [String: APIClient] = [:]
    ) throws(MirrorError) {
        let options = context.options, environment = context.environment
        let isFirst = name == context.description.apiName
        let base = name.flatMap { options.bases[$0] } ?? (isFirst ? options.base : nil)
        if options.requiresSecrets { try APIClient.check(api.authentication, environment) }
        let secrets = api.authentication.secretParameters
        var pace = api.pace
        if options.ignoresLimits { pace.obeysHeaders = false }
        let origins = Set([api.base, base].compactMap { $0.flatMap { try? HTTPURL($0) }?.origin })
        let store = context.store
        let budgets = BudgetKeeper(limits, scope: APIClient.scope(of: api, store, environment), origins: origins)
        let paced = PacedTransport(
            ObservedTransport(transport, logger: options.logger, secretParameters: secrets), pace: pace,
            budgets: options.ignoresLimits ? [:] : budgets.restored, time: options.time, onWait: options.onWait)
        let authorized = AuthorizedTransport(
            paced, api.authentication, account: api.account, origins: origins,
            tokens: RetryingTransport(
                paced, policy: APIClient.tokenRetry(options.retry ?? api.retry, api.authentication), time: options.time,
                logger: options.logger, secretParameters: secrets),
            base: api.base, moved: base, environment: environment, time: options.time, keeper: options.tokens,
            onScope: { secret in
                // If the store cannot be read, it takes no limits either.
                guard let origin = try? store.read({ try $0.responseOrigin }) else { return }
                budgets.renew(scope: secret.map { APIClient.hash(ofCredentials: $0.exposed, origin) } ?? "")
            })
        let recording: RecordingTransport?
        do throws(RecordingError) {
            // The recordings of a further API are in a directory of their own: its paths may be the
            // same.
            recording =
                if let directory = options.recordsTo {
                    try RecordingTransport(
                        authorized, directory: isFirst ? directory : "\(directory)/\(name ?? "")", hiding: secrets)
                } else {
                    nil
                }
        } catch {
            let place = error.line.map { "\(error.file):\($0)" } ?? error.file
            throw .endpoint(place: place, message: error.message)
        }
        parts = Parts(
            context, Address(api: api, name: name, base: base),
            Transports(paced: paced, authorized: authorized, recording: recording), budgets, others: others)
    }

    /// Returns the retry policy of token requests.
    static func tokenRetry(_ policy: RetryPolicy, _ authentication: Authentication) -> RetryPolicy {
        var policy = policy
        policy.methods = []
        policy.repeatsRefused = true
        // A refresh token may be valid once: a second attempt could present one that the first has
        // already used up.
        switch authentication {
        case .oauth2(let settings):
            if case .refreshToken = settings.grant { break }
            policy.methods = ["POST"]
        // A second session is as good as the first one.
        case .session: policy.methods = ["POST"]
        default: break
        }
        return policy
    }

    /// The client of the API that an endpoint belongs to.
    package func client(of endpoint: Endpoint) -> APIClient { endpoint.api.flatMap { others[$0] } ?? self }

    /// The clients of all APIs, this one first.
    var all: [APIClient] { [self] + description.furtherAPIs.compactMap { others[$0.name] } }

    /// Checks that secrets can be read, except those that commands print.
    private static func check(
        _ authentication: Authentication, _ environment: [String: String]
    ) throws(MirrorError) {
        for source in authentication.sources {
            if case .command = source { continue }
            do throws(SecretError) { _ = try authentication.read(source, environment: environment) } catch {
                if case .environment(let variable) = source, environment[variable]?.isEmpty ?? true {
                    throw .missingToken(variable: variable)
                }
                throw .secret(error)
            }
        }
    }

    /// Returns the client with requests of entities in place of those of the description.
    func replacing(_ writes: [String: WriteRequests]) -> APIClient {
        guard !writes.isEmpty else { return self }
        var client = self, description = description
        description.writes.merge(writes) { $1 }
        client.parts = Parts(parts, description, others: others.mapValues { $0.replacing(writes) })
        return client
    }

    // MARK: Sending

    /// The chain of transports for the requests of an endpoint.
    ///
    /// - Parameters:
    ///   - retry: the retry policy that replaces that of the options.
    ///   - logger: the logger of retries that replaces that of the options.
    func transport(for endpoint: Endpoint, retry: RetryPolicy? = nil, logger: Logger? = nil) -> RetryingTransport {
        var transport = RetryingTransport(
            RedirectGuard(recording ?? authorized, redirects), policy: retry ?? options.retry ?? api.retry,
            rules: rules(of: endpoint),
            refresh: { [authorized] (used: Int?) async throws(TransportError) in
                try await authorized.refresh(instead: used)
            },
            time: options.time, logger: logger ?? options.logger)
        transport.form = endpoint.format
        transport.largestFile = api.transport.maximumBodySize
        // A program may request the work itself: its record is the answer then.
        let mayBegin = endpoint.isTypedRequest && endpoint.method != "GET" && endpoint.method != "QUERY"
        transport.answerWait = mayBegin ? .never : endpoint.wait
        let bounds = bounds(of: endpoint)
        transport.permit = { [self] reference, url throws(PaginationError) in
            sentURL(try bounds.permitted(reference, relativeTo: canonicalURL(url)))
        }
        if let onWait = options.onWait {
            let name = endpoint.name
            transport.onWait = { (wait: RequestWait) in
                var named = wait
                named.endpoint = name
                onWait(named)
            }
        }
        return transport
    }

    /// The rules for responses; the first one that matches applies.
    func rules(of endpoint: Endpoint) -> [ResponseRule] { endpoint.responses + api.responses }

    /// Whether tests delay the client at its suspension points.
    var isInterleaved: Bool { options.interleave != nil }

    /// A suspension point where tests interleave other tasks.
    func pause() async { await options.interleave?() }

    /// The time for stored entries and checkpoints.
    var now: Timestamp { Timestamp(options.time.now()) }

    /// The last commit of the store; 0, as if every record were newer, if it cannot be read.
    var lastCommit: UInt64 { (try? store.read { try $0.access.settings.sequence }) ?? 0 }

    /// The auth scope as a keyed hash: responses stored for one scope are not served to another.
    func authScope() async throws -> String {
        try await authorized.scope().map { secret in
            try hash(ofCredentials: secret.exposed)
        } ?? ""
    }

    /// A keyed hash of the credentials in the header fields of a request; empty without any.
    ///
    /// It separates the responses of users whose credentials are no part of the authentication. If
    /// the API names its account, that name counts: tokens may change.
    func variant(of headers: TransportHeaders) -> String {
        let credentials = headers.fields.filter { CacheRules.isCredential($0.name) }
        guard !credentials.isEmpty else { return "" }
        let text =
            api.account.map { "account\n\($0)" }
            ?? credentials.map { "\($0.name.lowercased()): \($0.value)" }.sorted().joined(separator: "\n")
        // If the store cannot be read, what follows fails. A key of its own is shared with nobody.
        return (try? hash(ofCredentials: text)) ?? UUID().uuidString
    }

    private func hash(ofCredentials text: String) throws -> String {
        APIClient.hash(ofCredentials: text, try parts.responseOrigin)
    }

    private static func hash(ofCredentials text: String, _ origin: String) -> String {
        String(SHA256.hexadecimal(origin + "\n" + text).prefix(32))
    }

    // MARK: Limits of servers

    /// The hash of the credentials for which limits are kept: as ``authScope()``, but it neither
    /// runs programs nor sends requests. Empty without authentication, nil if it is unknown.
    private static func scope(of api: APIDescription, _ store: Store, _ environment: [String: String]) -> String? {
        do {
            guard let secret = try api.authentication.scope(account: api.account, environment: environment) else {
                return ""
            }
            return hash(ofCredentials: secret.exposed, try store.read { try $0.responseOrigin })
        } catch {
            // The first request fails, or reads what can be read only once, such as a pipe.
            return nil
        }
    }

    /// Writes new rate limits of servers within the transaction of other changes.
    func saveBudgets(_ writer: inout StoreWriter) throws {
        try budgets.save(paced.budgets, now: options.time.now(), &writer)
    }

    /// Saves rate limits that were learned after the last commit, such as from a refusal.
    func saveBudgets() async throws {
        for client in all where client.budgets.isNew(client.paced.budgets) {
            try await store.write(alone: true) { try client.saveBudgets(&$0) }
        }
    }
}

extension APIClient: CustomDebugStringConvertible {
    /// One line: the API and the store.
    public var debugDescription: String { "APIClient(\(description.file), \(store.path))" }
}
