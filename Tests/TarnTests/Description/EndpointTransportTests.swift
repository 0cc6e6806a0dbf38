// The parts of a description that reach the transport of an endpoint.

import TarnDescription
import TestSupport
import Testing

@testable import Tarn
@testable import TarnHTTP

@Suite("Clients: the transport of an endpoint")
struct EndpointTransportTests {
    private static func client(_ yaml: String, base: String? = nil) throws -> APIClient {
        let mirror = try MirrorStore(yaml: yaml)
        var options = APIClient.Options()
        options.base = base
        return try APIClient(mirror.description, store: try mirror.open(), transport: CurlTransport(), options: options)
    }

    @Test("a file in gzip has the limit of the API's bodies, and lines are those of the endpoint")
    func limits() throws {
        let client = try Self.client(itemsYAML("format: lines", api: "  transport: { largest_body: 1000000 }"))
        let transport = client.transport(for: try #require(client.description.endpoints.first))
        #expect(transport.largestFile == client.api.transport.maximumBodySize)
        #expect(client.api.transport.maximumBodySize <= 1 << 20 && transport.form == .lines)
    }

    @Test("a program that requests the work itself takes the 202 as its answer; a list is waited for")
    func waits() throws {
        let client = try Self.client(itemsYAML("wait: { at_most: 1h }"))
        var endpoint = try #require(client.description.endpoints.first)
        #expect(client.transport(for: endpoint).answerWait == endpoint.wait && !endpoint.wait.isNever)
        endpoint.isTypedRequest = true
        for (method, isNever) in [("GET", false), ("QUERY", false), ("POST", true)] {
            endpoint.method = method
            #expect(client.transport(for: endpoint).answerWait.isNever == isNever)
        }
    }

    @Test("a monitor is asked at the base URL by which the API is reached, and at no other server")
    func monitors() throws {
        let client = try Self.client(itemsYAML(), base: "http://127.0.0.1:8/v1")
        let transport = client.transport(for: try #require(client.description.endpoints.first))
        let permit = try #require(transport.permit)
        for reference in ["/v1/jobs/7", "jobs/7", "https://api.test.example/v1/jobs/7"] {
            #expect(try permit(reference, "http://127.0.0.1:8/v1/items") == "http://127.0.0.1:8/v1/jobs/7")
        }
        #expect(throws: PaginationError.self) { try permit("https://evil.example/7", "http://127.0.0.1:8/v1/items") }
    }

    @Test("a login and an assertion are sent again after a failure of the connection, a refresh token never")
    func tokenRequests() {
        func methods(_ authentication: Authentication) -> Set<String> {
            APIClient.tokenRetry(RetryPolicy(), authentication).methods
        }
        let secret = SecretSource.value(Secret("s"))
        #expect(methods(.session(SessionLogin("/login", tokens: [.init(.body(path: "t"))]))) == ["POST"])
        var settings = OAuth2(tokenURL: "https://auth.example/t", clientID: secret, clientSecret: secret)
        #expect(methods(.oauth2(settings)) == ["POST"])
        settings.grant = .assertion(JSONWebToken(.hs256, key: secret))
        #expect(methods(.oauth2(settings)) == ["POST"])
        settings.grant = .refreshToken(secret)
        #expect(methods(.oauth2(settings)) == [])
    }
}
