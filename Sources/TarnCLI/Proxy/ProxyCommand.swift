// `tarn proxy`: an HTTP cache for clients in any language.

import ArgumentParser
import Foundation
import Tarn

struct ProxyCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "proxy",
        abstract: "Serve one upstream over HTTP/1.1 through a cache.",
        discussion: """
            Whole and partial responses are kept in the store and served by the rules of RFC 9111. Responses have \
            Cache-Status (RFC 9211), stored ones also Age. Content codings, redirects, methods, header fields and interim responses \
            (1xx) are passed on unchanged; URLs are normalised. SIGTERM, SIGINT and SIGHUP end the proxy after the requests \
            in progress are answered, or after ten seconds.

            By default one cache serves all users: private responses are not kept, and a request with a credential \
            (Cookie, X-Api-Key, PRIVATE-TOKEN and the like) bypasses the cache, unless --scope-by names its field. A \
            response to a request with Authorization is kept only if it is declared public. Set-Cookie is never kept.

            A target of another server is answered with 421. With --host, and with --private on a loopback address, so \
            is a Host that is neither a --host nor a name of this address or the upstream.

            Examples:
              tarn proxy --upstream https://api.example.org --store cache.tarn
              tarn proxy --upstream http://127.0.0.1:8080 --listen 127.0.0.1:9000 --store cache.tarn --scope-by Authorization
              tarn proxy --upstream https://forge.example --store cache.tarn --scope-by PRIVATE-TOKEN --scope-by Cookie
              tarn proxy --upstream https://api.example.org --store cache.tarn --private
              curl -i http://127.0.0.1:9000/issues

            Exit codes: 0 after SIGTERM, SIGINT or SIGHUP; 1 cannot listen; 2 usage; 6 the store cannot be opened.
            """)

    /// The kind of the cache.
    enum Rules: String, EnumerableFlag {
        case shared, `private`

        static func help(for value: Rules) -> ArgumentHelp? {
            switch value {
            case .shared: "One cache for all users (shared)."
            case .private:
                "Cache of one user: private responses are kept. Requests with different credentials do not share responses."
            }
        }
    }

    @Option(
        help: ArgumentHelp("URL of the upstream; its path is prepended to the path of each request.", valueName: "url"))
    var upstream: String
    @Option(help: ArgumentHelp("Address to listen on; port 0 selects a free port.", valueName: "host:port"))
    var listen =
        "127.0.0.1:8080"
    @Option(help: ArgumentHelp("Store directory; created if missing.", valueName: "path")) var store: String
    @Flag var rules = Rules.shared
    @Option(
        parsing: .singleValue,
        help: ArgumentHelp(
            "Request field whose value identifies a user with responses of their own. May be repeated.",
            valueName: "field"
        ))
    var scopeBy: [String] = []
    @Option(
        name: .customLong("host"), parsing: .singleValue,
        help: ArgumentHelp(
            "Host name by which clients address the proxy. May be repeated. Requests for unknown hosts then get 421.",
            valueName: "name"))
    var hosts: [String] = []
    @Option(
        help: ArgumentHelp(
            "Maximum size of the stored responses, in bytes, or with a unit: KiB, MiB, GiB or TiB (default: 1GiB).",
            valueName: "size"))
    var cacheBytes: ByteSize?
    @Option(help: ArgumentHelp("Maximum size of a request's body, in bytes.", valueName: "bytes")) var maximumBody =
        16 << 20
    @Option(
        help: ArgumentHelp(
            "Maximum size of a response's body, in bytes, or with a unit (default: a 64th of the memory, 8MiB to 256MiB); then the response is 502.",
            valueName: "size"))
    var maximumResponse: ByteSize?
    @Option(
        help: ArgumentHelp(
            "Time without data from the upstream, in seconds; then the response is 504.", valueName: "seconds"))
    var upstreamIdleTimeout = 30
    @Option(
        help: ArgumentHelp(
            "Time limit for a complete response of the upstream, in seconds; then the response is 504.",
            valueName: "seconds"))
    var upstreamTimeout = 300
    @Option(help: ArgumentHelp("Maximum number of client connections.", valueName: "count"))
    var maximumConnections = 1024
    @Option(
        help: ArgumentHelp(
            "Maximum number of connections per address, or per IPv6 /64 network. Behind another proxy, use its number of connections.",
            valueName: "count"))
    var maximumConnectionsPerAddress = 256
    @Option(
        help: ArgumentHelp(
            "Time without traffic after which a connection is closed, in seconds; waiting for the upstream does not count.",
            valueName: "seconds"))
    var idleTimeout = 60
    @Option(
        help: ArgumentHelp(
            "Time limit for a request's header fields, in seconds; then the response is 408.", valueName: "seconds"))
    var headerTimeout = 20
    @Option(
        help: ArgumentHelp(
            "Time limit for a request's body, in seconds, plus one second for each 16 KiB; then the response is 408.",
            valueName: "seconds"))
    var bodyTimeout = 60

    func run() async throws {
        let target: HTTPURL
        do throws(HTTPURLError) { target = try HTTPURL(upstream) } catch {
            throw Failure(.usage, "--upstream \(Redaction.shown(upstream)): \(error.reason)")
        }
        guard target.query == nil else {
            throw Failure(.usage, "--upstream \(Redaction.shown(upstream)): the URL must not have a query")
        }
        guard let colon = listen.lastIndex(of: ":"), let port = Int(listen[listen.index(after: colon)...]),
            (0...65535).contains(port)
        else {
            throw Failure(.usage, "--listen \(listen): expected HOST:PORT, such as 127.0.0.1:8080")
        }
        let numbers = [
            maximumConnections, maximumConnectionsPerAddress, idleTimeout, headerTimeout, bodyTimeout,
            upstreamIdleTimeout, upstreamTimeout,
        ]
        guard maximumBody >= 0, numbers.allSatisfy({ $0 > 0 }) else {
            throw Failure(.usage, "limits and timeouts must be positive numbers")
        }
        if let field = scopeBy.first(where: { !HTTPSyntax.isToken($0) }) {
            throw Failure(.usage, "--scope-by \(field): not the name of a header field")
        }
        if let name = hosts.first(where: { ProxyHosts.host($0) == nil }) {
            throw Failure(.usage, "--host \(name): expected a host name or address, without a port")
        }
        let host = String(listen[..<colon]).trimmingCharacters(in: CharacterSet(charactersIn: "[]"))
        // Without descriptors for the upstream, responses would be 502 before the limit is reached.
        let files = UInt(maximumConnections) + ProxyServer.Limits.ownDescriptors,
            limit = Descriptors.raiseLimit(to: files)
        if limit < files {
            Output.note(
                "\(maximumConnections) connections need \(files) open files, and the process may have \(limit): "
                    + "raise the limit (`ulimit -n`), or lower --maximum-connections")
        }
        // Signal handlers come first: a client may send a signal as soon as the proxy listens.
        let (interrupted, interrupt) = AsyncStream.makeStream(of: Void.self)
        let interrupts = Interrupts { interrupt.yield() }
        let server = try makeServer(target, host)
        let bound: Int
        do { bound = try await server.start(host: host, port: port) } catch {
            throw Failure(.failed, "--listen \(listen): \(Failure.listening(error))")
        }
        Output.line("listening on http://\(listen[..<colon]):\(bound)")
        Output.flush()
        for await _ in interrupted { break }
        await server.stop()
        interrupts.stop()
    }

    private func makeServer(_ target: HTTPURL, _ host: String) throws -> ProxyServer {
        var options = CurlTransport.Options(), caching = CachedTransport.Options()
        options.followsRedirects = false
        options.decodesContent = false
        options.addsFields = false
        options.concurrencyPerHost = 64
        options.countsWaits = true
        options.namesSettings = false
        // libcurl counts times in milliseconds, in a `long`: 2^20 seconds are twelve days.
        options.idleTimeout = .seconds(min(upstreamIdleTimeout, 1 << 20))
        options.totalTimeout = .seconds(min(upstreamTimeout, 1 << 20))
        if let maximumResponse { options.maximumBodySize = maximumResponse.bytes }
        caching.rules.isShared = rules == .shared
        caching.scopeFields = scopeBy
        if let cacheBytes { caching.limits.bytes = cacheBytes.bytes }
        var limits = ProxyServer.Limits()
        (limits.maximumBody, limits.maximumConnections) = (maximumBody, maximumConnections)
        limits.maximumResponse = options.maximumBodySize
        limits.maximumConnectionsPerAddress = maximumConnectionsPerAddress
        // NIO counts deadlines in nanoseconds, in 64 bits.
        (limits.idleTimeout, limits.headerTimeout, limits.bodyTimeout) = (
            min(idleTimeout, 1 << 31), min(headerTimeout, 1 << 31), min(bodyTimeout, 1 << 31)
        )
        let upstream = WellFormedTransport(inner: CurlTransport(options))
        return ProxyServer(
            transport: CachedTransport(upstream, store: try RawStore.open(store), options: caching), upstream: target,
            limits: limits,
            hosts: ProxyHosts(
                named: hosts.compactMap(ProxyHosts.host), listening: host, upstream: target,
                isPrivate: rules == .private))
    }
}
