// The cases over HTTP: a whole mirror of an API, and many small responses.

import Foundation
import Tarn

/// The figures and checks of one run of `mirror.cold`.
struct MirrorMeasurement: Encodable {
    var seconds: Double
    var megabytes: Double
    /// The most RssAnon of the process meanwhile, in MB, looked at every 5 ms.
    var anonymous: Double
    var counts: [String: Int]
    var pages: Int
    /// For the next sync, with only 304 responses.
    var again: Double
    /// For single pages through a cache, with only 304 responses.
    var each: Double
    var durability = "full"
    var compression: String
}

/// The figures of one run of `http.get`.
struct RequestsMeasurement: Encodable {
    var seconds: Double
    var requests: Int
    var durability = "none"
    var compression = "none"
}

enum TarnMirror {
    /// A sync of an empty store, as `tarn sync` does it, from a server that lists the workload's
    /// pages.
    static func measure(_ options: Options, _ compression: EntityDefinition.Compression) async throws -> MirrorMeasurement {
        let store = try TarnCases.open(options, compression)
        var endpoint = Endpoint(
            name: "issues", path: "/issues", parameters: [.init("page", "1")], entity: "Issue", pagination: .headerLink())
        endpoint.commitUnit = .pages(options.pagesPerCommit)
        let description = Description(
            file: "bench", storePath: options.store.path, api: APIDescription(base: options.base),
            schema: TarnModel.schema(compression), mapping: TarnModel.mapping, endpoints: [endpoint])
        let mirror = try APIMirror(description, store: store, transport: CurlTransport())
        let clock = ContinuousClock(), peak = MemoryPeak(), start = clock.now
        let report = await mirror.sync()
        let seconds = (clock.now - start) / .seconds(1)
        let anonymous = try peak.end()
        guard report.failures.isEmpty, report.report.diagnosticCount == 0 else {
            throw BenchmarkError("Tarn did not mirror everything: \(report.failures.map(\.description)) \(report.report.diagnostics.prefix(3))")
        }
        let files = try FileManager.default.contentsOfDirectory(at: options.pages, includingPropertiesForKeys: [.fileSizeKey])
        guard report.pages == files.count else { throw BenchmarkError("Tarn asked for \(report.pages) pages of \(files.count)") }
        let counts = try store.read(TarnModel.counts), then = clock.now
        let second = await mirror.sync()
        let again = (clock.now - then) / .seconds(1)
        // The last page of a list by Link is requested once more, without a condition: its 304 names no next page.
        guard second.failures.isEmpty, second.pages == files.count, second.notModified >= files.count - 1 else {
            throw BenchmarkError("of \(files.count) pages \(second.notModified) were answered 304: \(second.failures.map(\.description))")
        }
        var settings = CurlTransport.Options()
        settings.concurrencyPerHost = Self.atATime
        let cache = try RecordCache(description, store: store, transport: CurlTransport(settings))
        let each = try await revalidate(files.count, cache, options.base)
        guard try store.read(TarnModel.counts) == counts else { throw BenchmarkError("asking again changed what is in the store") }
        return MirrorMeasurement(
            seconds: seconds, megabytes: Double(try sizeOfFiles(in: options.pages)) / 1e6, anonymous: anonymous,
            counts: counts, pages: files.count, again: again, each: each, compression: compression.rawValue)
    }

    /// Asks for every page once more, as many at a time as `requests`; returns the seconds.
    private static func revalidate(_ pages: Int, _ cache: RecordCache, _ base: String) async throws -> Double {
        let clock = ContinuousClock(), start = clock.now
        try await withThrowingTaskGroup(of: Void.self) { group in
            for task in 0..<Self.atATime {
                group.addTask {
                    for page in stride(from: task + 1, through: pages, by: Self.atATime) {
                        let request = CacheRequest("issues", url: "\(base)/issues?page=\(page)")
                        let answer = try await cache.fetch(request, policy: .networkFirst, copying: .keys)
                        guard answer.source == .revalidated || page == pages, !answer.listed.isEmpty else {
                            throw BenchmarkError("page \(page) was \(answer.source), not revalidated")
                        }
                    }
                }
            }
            try await group.waitForAll()
        }
        return (clock.now - start) / .seconds(1)
    }

    /// The number of requests, and of concurrent ones.
    static let requests = 20_000, atATime = 16

    /// Small answers, 16 at a time, each looked at.
    static func requests(_ options: Options) async throws -> RequestsMeasurement {
        var settings = CurlTransport.Options()
        settings.concurrencyPerHost = Self.atATime
        let transport = CurlTransport(settings), base = options.base
        let clock = ContinuousClock(), start = clock.now
        try await withThrowingTaskGroup(of: Int.self) { group in
            for task in 0..<Self.atATime {
                group.addTask {
                    var bytes = 0
                    for number in stride(from: task, to: Self.requests, by: Self.atATime) {
                        let response = try await transport.send(TransportRequest(url: "\(base)/small/\(number)"))
                        guard response.status == 200 else { throw BenchmarkError("request \(number) was answered \(response.status)") }
                        bytes += response.body.count
                    }
                    return bytes
                }
            }
            let bytes = try await group.reduce(0, +)
            guard bytes > 0, bytes % Self.requests == 0 else { throw BenchmarkError("\(bytes) bytes came") }
        }
        return RequestsMeasurement(seconds: (clock.now - start) / .seconds(1), requests: Self.requests)
    }
}
