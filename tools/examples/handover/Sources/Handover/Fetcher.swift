import AsyncHTTPClient
import NIOCore
import TarnMacros

/// Fetches with async-http-client, and keeps what it has fetched as records.
struct Fetcher: Sendable {
    let http: HTTPClient
    let forge: RecordClient

    /// Fetches a URL, and returns its records; nil if the URL belongs to no request of the program.
    func fetch(_ url: String) async throws -> [any MappedRecord]? {
        let response = try await http.execute(HTTPClientRequest(url: url), timeout: .seconds(30))
        let body = try await response.body.collect(upTo: 64 << 20)
        return try await forge.accept(
            url: url, status: Int(response.status.code),
            headers: TransportHeaders(response.headers.map { .init($0.name, $0.value) }), body: Array(body.readableBytesView),
            by: .forge)
    }
}
