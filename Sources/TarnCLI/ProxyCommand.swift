// `tarn proxy`: the cache's rules for clients in any language.

import ArgumentParser
import Foundation
import Tarn

struct ProxyCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "proxy",
        abstract: "Serve one upstream over HTTP/1.1 through the cache.",
        discussion: """
            Whole responses are kept in the store and answered by the rules of RFC 9111; every answer has Age and Cache-Status (RFC 9211). \
            Content codings, redirects, methods, header fields and interim responses (1xx) go through as they are. Ends at SIGTERM or \
            SIGINT, when the requests under way are answered, or after ten seconds.

            Examples:
              tarn proxy --upstream https://api.example.org --store cache.tarn
              tarn proxy --upstream http://127.0.0.1:8080 --listen 127.0.0.1:9000 --store cache.tarn --shared
              curl -i http://127.0.0.1:9000/issues
            """)

    @Option(help: ArgumentHelp("Where requests go; its path is put before theirs.", valueName: "url")) var upstream: String
    @Option(help: ArgumentHelp("Where to listen; port 0 for any that is free.", valueName: "host:port")) var listen = "127.0.0.1:8080"
    @Option(help: ArgumentHelp("The store; made if it is not there.", valueName: "path")) var store: String
    @Flag(help: "Serve all users from one cache: what is private, or authorised without leave, is not stored.") var shared = false
    @Option(help: ArgumentHelp("Bytes of a request's body, at most.", valueName: "bytes")) var maximumBody = 16 << 20
    @Option(help: ArgumentHelp("Connections of clients at the same time, at most.", valueName: "count")) var maximumConnections = 1024
    @Option(help: ArgumentHelp("How long nothing may move on a connection before it is closed; waiting for the upstream does not count.", valueName: "seconds"))
    var idleTimeout = 60

    func run() async throws {
        guard let target = try? HTTPURL(upstream), target.query == nil else {
            throw Failure(.usage, "--upstream \(upstream): not an http or https URL without a query")
        }
        guard let colon = listen.lastIndex(of: ":"), let port = Int(listen[listen.index(after: colon)...]), (0...65535).contains(port) else {
            throw Failure(.usage, "--listen \(listen): expected HOST:PORT, such as 127.0.0.1:8080")
        }
        guard maximumBody >= 0, maximumConnections > 0, idleTimeout > 0 else { throw Failure(.usage, "limits are positive numbers") }
        let host = String(listen[..<colon]).trimmingCharacters(in: CharacterSet(charactersIn: "[]"))
        // Before anybody can know that it listens.
        let (interrupted, interrupt) = AsyncStream.makeStream(of: Void.self)
        let interrupts = Interrupts { interrupt.yield() }
        let server = try makeServer(target)
        let bound: Int
        do { bound = try await server.start(host: host, port: port) } catch { throw Failure(.failed, "--listen \(listen): \(error)") }
        Output.line("listening on http://\(listen[..<colon]):\(bound)")
        Output.flush()
        for await _ in interrupted { break }
        await server.stop()
        interrupts.stop()
    }

    private func makeServer(_ target: HTTPURL) throws -> ProxyServer {
        var options = CurlTransport.Options(), caching = CachedTransport.Options()
        options.followsRedirects = false
        options.decodesContent = false
        options.addsFields = false
        options.concurrencyPerHost = 64
        caching.rules.isShared = shared
        let direct = CurlTransport(options)
        return ProxyServer(
            transport: CachedTransport(direct, store: try RawStore.open(store), options: caching), direct: direct, upstream: target,
            maximumBody: maximumBody, maximumConnections: maximumConnections, idleTimeout: idleTimeout)
    }
}
