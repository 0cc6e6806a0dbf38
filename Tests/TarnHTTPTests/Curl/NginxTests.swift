// A real server from Debian's packages: HTTP/2 over TLS with a private authority, many streams,
// compression, large bodies.

import Foundation
import Glibc
import TestSupport
import Testing

@testable import TarnHTTP

@Suite(
    "Curl transport and nginx", .timeLimit(.minutes(5)),
    .enabled(
        if: NginxServer.isThere && FileManager.default.isExecutableFile(atPath: TLSServer.openssl),
        "needs nginx and openssl"))
struct NginxTests {
    @Test("HTTP/2 is spoken over TLS, over one connection for many requests, and HTTP/1.1 without TLS")
    func http2() async throws {
        let server = try NginxServer()
        let transport = CurlTransport(server.options)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<40 {
                group.addTask {
                    let response = try await transport.send(
                        TransportRequest(url: "https://localhost:\(server.tlsPort)/page.json?n=\(number)"))
                    #expect(
                        response.status == 200 && response.body == server.page
                            && response.headers["Content-Type"] == "application/json")
                }
            }
            try await group.waitForAll()
        }
        _ = try await transport.send(TransportRequest(url: "http://localhost:\(server.port)/page.json?plain"))
        let log = try await server.log(lines: 41)
        #expect(log.filter { $0.contains(" HTTP/2.0 200 ") }.count == 40, "\(log)")
        #expect(Set(log.filter { $0.contains("HTTP/2.0") }.compactMap { $0.split(separator: " ").last }).count <= 4)
        #expect(log.contains { $0.contains("/page.json?plain HTTP/1.1 200 ") })
    }

    @Test("a body is sent over HTTP/2, and a refusal comes back with the server's own words")
    func upload() async throws {
        let server = try NginxServer()
        let transport = CurlTransport(server.options)
        let body = [UInt8](repeating: UInt8(ascii: "x"), count: 300_000)
        let taken = try await transport.send(
            TransportRequest(method: "POST", url: "https://localhost:\(server.tlsPort)/echo", body: body))
        #expect(taken.status == 200 && String(decoding: taken.body, as: UTF8.self) == "POST 300000\n")
        let refused = try await transport.send(
            TransportRequest(
                method: "POST", url: "https://localhost:\(server.tlsPort)/echo",
                body: [UInt8](repeating: 0, count: 3 << 20)))
        #expect(refused.status == 413)
    }

    @Test(
        "a compressed body of real size is decoded, a bomb meets the limit, and a certificate of another authority is refused"
    )
    func compressionAndTrust() async throws {
        let server = try NginxServer()
        let large = try await CurlTransport(server.options).send(
            TransportRequest(url: "https://localhost:\(server.tlsPort)/large.json"))
        #expect(large.headers["Content-Encoding"] == "gzip" && large.body.count == server.largeSize)
        var small = server.options
        small.maximumBodySize = 1 << 20
        await expectFailure(.tooLarge) {
            try await CurlTransport(small).send(TransportRequest(url: "https://localhost:\(server.tlsPort)/large.json"))
        }
        await expectFailure(.tls) {
            try await CurlTransport().send(TransportRequest(url: "https://localhost:\(server.tlsPort)/page.json"))
        }
    }

    @Test("a server that ends in the middle is an error over HTTP/2 too")
    func endsInTheMiddle() async throws {
        var error: TransportError?
        // On a busy machine the first one ends before the middle: while the connection is made.
        for wait in [Duration.milliseconds(300), .seconds(2), .seconds(15)] {
            let server = try NginxServer()
            let transport = CurlTransport(server.options)
            let request = TransportRequest(url: "https://localhost:\(server.tlsPort)/slow.json")
            let task = Task { try await transport.send(request) }
            try await Task.sleep(for: wait)
            server.kill()
            error = await #expect(throws: TransportError.self) { try await task.value }
            if error?.kind != .tls, error?.kind != .connect { break }
        }
        #expect(error?.kind == .cutShort, "\(String(describing: error))")
    }
}

/// nginx with its own configuration and folder.
final class NginxServer: Sendable {
    private static let executable = "/usr/sbin/nginx"
    static var isThere: Bool { FileManager.default.isExecutableFile(atPath: executable) }

    let port: Int
    let tlsPort: Int
    let page = Array(#"[{"id":1}]"#.utf8)
    let largeSize: Int
    private let authority: TestAuthority
    private let folder: String
    private let child: LocalServer.Child

    var options: CurlTransport.Options {
        var options = CurlTransport.Options()
        options.certificateAuthorities = authority.certificate
        return options
    }

    init() throws {
        authority = try TestAuthority()
        folder = try LocalServer.makeFolder()
        let own = try authority.issue("localhost")
        let large = Array(
            ("[" + (0..<200_000).map { #"{"id":\#($0),"name":"item"}"# }.joined(separator: ",") + "]").utf8)
        largeSize = large.count
        try Data(page).write(to: URL(fileURLWithPath: folder + "/page.json"))
        try Data(large).write(to: URL(fileURLWithPath: folder + "/large.json"))
        // Two ports that nothing uses now; nginx cannot choose them itself.
        var ports = [DeadPort(), DeadPort()].map(\.port)
        (port, tlsPort) = (ports.removeFirst(), ports.removeFirst())
        let configuration = """
            daemon off; master_process off; pid \(folder)/pid; error_log stderr emerg;
            events { worker_connections 256; }
            http {
                types { application/json json; } default_type text/plain;
                log_format test '$request_method $request_uri $server_protocol $status $connection';
                access_log \(folder)/access.log test;
                client_body_temp_path \(folder)/body; proxy_temp_path \(folder)/proxy; fastcgi_temp_path \(folder)/fastcgi;
                uwsgi_temp_path \(folder)/uwsgi; scgi_temp_path \(folder)/scgi;
                gzip on; gzip_types application/json;
                server {
                    listen 127.0.0.1:\(port); listen 127.0.0.1:\(tlsPort) ssl http2;
                    server_name localhost; root \(folder);
                    ssl_certificate \(own.certificate); ssl_certificate_key \(own.key);
                    client_max_body_size 1m;
                    location /echo { client_body_in_single_buffer on; proxy_pass http://127.0.0.1:\(port)/said; proxy_set_header X-Length $content_length; }
                    location /said { return 200 "$request_method $http_x_length\\n"; }
                    location /slow.json { alias \(folder)/large.json; gzip off; limit_rate 10k; }
                }
            }
            """
        try Data(configuration.utf8).write(to: URL(fileURLWithPath: folder + "/nginx.conf"))
        child = try LocalServer.spawn(
            ["-c", folder + "/nginx.conf", "-p", folder, "-e", "stderr"], executable: NginxServer.executable)
        // It listens when its file is there: it is written behind listen().
        for _ in 0..<1000 where !FileManager.default.fileExists(atPath: folder + "/pid") { usleep(10_000) }
    }

    deinit {
        kill()
        _ = child.end()
        try? FileManager.default.removeItem(atPath: folder)
    }

    func kill() { _ = Glibc.kill(child.processID, SIGKILL) }

    /// The lines of its log: method, target, protocol, status, connection.
    func log(lines: Int) async throws -> [String] {
        for _ in 0..<500 {
            let text = (try? String(contentsOfFile: folder + "/access.log", encoding: .utf8)) ?? ""
            let found = text.split(separator: "\n").map(String.init)
            if found.count >= lines { return found }
            try await Task.sleep(for: .milliseconds(10))
        }
        return []
    }
}
