// TLS is verified: a certificate of an unknown authority is refused, one of a named authority is
// accepted.

import Foundation
import Glibc
import TestSupport
import Testing

@testable import TarnHTTP

@Suite(
    "Curl transport and TLS", .timeLimit(.minutes(5)),
    .enabled(if: FileManager.default.isExecutableFile(atPath: TLSServer.openssl), "needs the openssl command"))
struct CurlTLSTests {
    @Test("a self-signed certificate is refused, and accepted when it is named as an authority")
    func verification() async throws {
        let server = try TLSServer(name: "localhost")
        let request = TransportRequest(url: "https://localhost:\(server.port)/")
        let error = await expectFailure(.tls) { try await CurlTransport().send(request) }
        #expect(
            error?.detail.hasSuffix("certificate (`authorities` under `transport`)") == true, "\(error?.detail ?? "")")

        var options = CurlTransport.Options()
        options.certificateAuthorities = server.certificate
        #expect(try await CurlTransport(options).send(request).status == 200)
    }

    @Test("a trusted certificate of another name is refused")
    func otherName() async throws {
        let server = try TLSServer(name: "forge.example")
        var options = CurlTransport.Options()
        options.certificateAuthorities = server.certificate
        let transport = CurlTransport(options)
        await expectFailure(.tls) {
            try await transport.send(TransportRequest(url: "https://localhost:\(server.port)/"))
        }
    }

    @Test(
        "through a proxy TLS is spoken with the server: the proxy sees where it is, its own credentials, and nothing else"
    )
    func tunnel() async throws {
        let server = try TLSServer(name: "localhost"), proxy = try TunnelServer()
        defer { proxy.close() }
        let request = TransportRequest(
            url: "https://localhost:\(server.port)/secret-path",
            headers: TransportHeaders([.init("Authorization", "Bearer hush")]))
        var options = CurlTransport.Options()
        options.proxy = proxy.base.replacing("http://", with: "http://ada:lovelace@")
        // The server behind the proxy is verified as without a proxy.
        await expectFailure(.tls) { try await CurlTransport(options).send(request) }
        options.certificateAuthorities = server.certificate
        #expect(try await CurlTransport(options).send(request).status == 200)
        #expect(proxy.requests.count == 2)
        for head in proxy.requests {
            #expect(head.hasPrefix("CONNECT localhost:\(server.port) HTTP/1.1\r\n"), "\(head)")
            #expect(
                head.contains("Proxy-Authorization: Basic YWRhOmxvdmVsYWNl\r\n") && !head.contains("hush")
                    && !head.contains("secret-path"))
        }
        let seen = String(decoding: proxy.bytes, as: UTF8.self)
        #expect(
            !proxy.bytes.isEmpty && !seen.contains("hush") && !seen.contains("secret-path")
                && !seen.contains("Proxy-Authorization"))
    }

    @Test(
        "a handshake that the network or the server breaks off is no connection, and is retried, also for a POST",
        arguments: [1, 1 << 14])
    func brokenHandshake(_ size: Int) async throws {
        // With bytes that were not read, the system resets the connection.
        let server = try RawServer(closing: 4, behind: size)
        let transport = RetryingTransport(CurlTransport(), policy: RetryPolicy(firstDelay: .milliseconds(20)))
        let error = await expectFailure(.connect) {
            try await transport.send(
                TransportRequest(method: "POST", url: "https://127.0.0.1:\(server.port)/", body: [1]))
        }
        #expect(
            error?.detail.hasPrefix("the connection to 127.0.0.1:\(server.port) broke off before it was secure: ")
                == true
                && error?.detail.hasSuffix(" (after 4 attempts)") == true && error?.isUnreachable == true,
            "\(String(describing: error))")
        #expect(server.requests.count == 4)
    }

    @Test("a handshake that is not answered is no connection, and is retried")
    func silentHandshake() async throws {
        let server = try HoldingServer()
        var options = CurlTransport.Options()
        options.connectTimeout = .seconds(1)
        let policy = RetryPolicy(attempts: 2, firstDelay: .milliseconds(20))
        let error = await expectFailure(.connect) {
            try await RetryingTransport(CurlTransport(options), policy: policy).send(
                TransportRequest(url: "https://127.0.0.1:\(server.port)/"))
        }
        #expect(
            error?.detail == "no secure connection to 127.0.0.1:\(server.port) within 1.0 seconds "
                + "(`connect_timeout` under `transport`) (after 2 attempts)")
    }

    @Test(
        "the setting that may help is named with what a server, or the check of its certificate, objects to",
        arguments: [
            // Codes and texts of libcurl 7.88 and 8.14: CURLE_RECV_ERROR is 56, CURLE_SSL_CONNECT_ERROR 35.
            (
                56,
                "OpenSSL SSL_read: OpenSSL/3.0.19: error:0A00045C:SSL routines::tlsv13 alert certificate required, errno 0",
                "`certificate` and `key`"
            ),
            (
                35,
                "TLS connect error: error:0A000418:SSL routines::tlsv1 alert unknown ca", "`certificate` and `key`"
            ),
            (
                60,
                "SSL certificate problem: unable to get local issuer certificate", "`authorities`"
            ),
            (60, "SSL certificate problem: certificate has expired", nil),
            (35, "OpenSSL/3.0.19: error:0A000102:SSL routines::unsupported protocol", nil),
        ] as [(UInt32, String, String?)])
    func settings(_ code: UInt32, _ said: String, _ setting: String?) {
        let failure = CurlTransfer.failureOfTLS(.init(rawValue: code), "forge.example:443", said)
        #expect(failure.kind == .tls)
        #expect(
            failure.detail == "no secure connection to forge.example:443: \(said)"
                + (setting.map { " (\($0) under `transport`)" } ?? ""))
        #expect(CurlTransfer.refusesClient(said) == (setting == "`certificate` and `key`"))
    }

    @Test("a server that wants to know its client is shown the certificate, from one file or from two")
    func clientCertificate() async throws {
        let authority = try TestAuthority(), server = try TLSServer(authority, asksForClient: true)
        let request = TransportRequest(url: "https://localhost:\(server.port)/")
        var options = CurlTransport.Options()
        options.certificateAuthorities = authority.certificate
        // TLS 1.3 reports a missing client certificate only after the handshake.
        let error = await #expect(throws: TransportError.self) { try await CurlTransport(options).send(request) }
        // The request may meet the end of the connection before the reason is read.
        #expect(
            error?.kind == .tls && error?.detail.hasSuffix("(`certificate` and `key` under `transport`)") == true
                || error?.kind == .cutShort && error?.detail.contains("alert") == false,
            "\(String(describing: error))")
        let client = try authority.issue("client")
        (options.clientCertificate, options.clientKey) = (client.certificate, client.key)
        #expect(try await CurlTransport(options).send(request).status == 200)
        let both = authority.folder + "/both.pem"
        try Data(
            (try String(contentsOfFile: client.certificate, encoding: .utf8)
                + String(contentsOfFile: client.key, encoding: .utf8)).utf8
        )
        .write(to: URL(fileURLWithPath: both))
        (options.clientCertificate, options.clientKey) = (both, nil)
        #expect(try await CurlTransport(options).send(request).status == 200)
        options.clientCertificate = "/nowhere.pem"
        let missing = await expectFailure(.tls) { try await CurlTransport(options).send(request) }
        #expect(
            missing?.detail.hasSuffix("(`certificate` and `key` under `transport`)") == true, "\(missing?.detail ?? "")"
        )
        options = CurlTransport.Options()
        options.certificateAuthorities = "/nowhere.pem"
        let unread = await expectFailure(.tls) { try await CurlTransport(options).send(request) }
        #expect(unread?.detail.hasSuffix("(`authorities` under `transport`)") == true, "\(unread?.detail ?? "")")
    }
}

/// A private authority, made for the moment.
final class TestAuthority: Sendable {
    let folder: String
    let certificate: String

    init() throws {
        folder = try LocalServer.makeFolder()
        certificate = folder + "/ca.pem"
        try TestAuthority.openssl([
            "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2",
            "-subj", "/CN=Test authority",
            "-keyout", folder + "/ca.key", "-out", certificate,
        ])
    }

    deinit { try? FileManager.default.removeItem(atPath: folder) }

    /// A certificate for a name.
    func issue(_ name: String) throws -> (certificate: String, key: String) {
        let base = folder + "/" + name
        try TestAuthority.openssl([
            "req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-subj", "/CN=\(name)",
            "-keyout", base + ".key", "-out", base + ".csr",
        ])
        try Data("subjectAltName=DNS:\(name)\n".utf8).write(to: URL(fileURLWithPath: base + ".ext"))
        try TestAuthority.openssl([
            "x509", "-req", "-in", base + ".csr", "-CA", certificate, "-CAkey", folder + "/ca.key", "-CAcreateserial",
            "-days", "2", "-extfile",
            base + ".ext", "-out", base + ".pem",
        ])
        return (base + ".pem", base + ".key")
    }

    private static func openssl(_ arguments: [String]) throws {
        let made = try LocalServer.spawn(arguments, executable: TLSServer.openssl).end()
        guard made.status == 0 else { throw LocalServer.Failure(description: made.text) }
    }
}

/// `openssl s_server` with a certificate made for the moment.
final class TLSServer: Sendable {
    static let openssl = "/usr/bin/openssl"

    let port: Int
    let certificate: String
    private let folder: String
    private let child: LocalServer.Child

    /// A server with an authority's certificate for `localhost`.
    convenience init(_ authority: TestAuthority, asksForClient: Bool) throws {
        let own = try authority.issue("localhost")
        try self.init(
            certificate: own.certificate, key: own.key, folder: try LocalServer.makeFolder(),
            asksForClient ? ["-Verify", "1", "-verify_return_error", "-CAfile", authority.certificate] : [])
    }

    convenience init(name: String) throws {
        let folder = try LocalServer.makeFolder()
        let certificate = folder + "/certificate.pem"
        let key = folder + "/key.pem"
        let made = try LocalServer.spawn(
            [
                "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2",
                "-subj", "/CN=\(name)", "-addext", "subjectAltName=DNS:\(name)", "-keyout", key, "-out", certificate,
            ], executable: TLSServer.openssl
        ).end()
        guard made.status == 0 else { throw LocalServer.Failure(description: made.text) }
        try self.init(certificate: certificate, key: key, folder: folder, [])
    }

    /// A server with an authority's certificate for `localhost` that answers `/response` with bytes.
    convenience init(_ authority: TestAuthority, response: [UInt8]) throws {
        let own = try authority.issue("localhost"), folder = try LocalServer.makeFolder()
        try Data(response).write(to: URL(fileURLWithPath: folder + "/response"))
        try self.init(certificate: own.certificate, key: own.key, folder: folder, [], answers: "-HTTP")
    }

    private init(
        certificate: String, key: String, folder: String, _ arguments: [String], answers: String = "-www"
    ) throws {
        // With -HTTP, it answers with the files of the folder in which it runs.
        let child = try LocalServer.spawn(
            [
                "-c", "cd \"$0\" && exec \"$@\"", folder, TLSServer.openssl, "s_server", "-accept", "127.0.0.1:0",
                "-cert", certificate, "-key", key, answers,
            ] + arguments, executable: "/bin/sh")
        // Printed when it listens: ACCEPT 127.0.0.1:PORT
        var port: Int?
        var line: [UInt8] = []
        var byte: UInt8 = 0
        while port == nil, read(child.output, &byte, 1) == 1 {
            line.append(byte)
            guard byte == UInt8(ascii: "\n") else { continue }
            let text = String(decoding: line.dropLast(), as: UTF8.self)
            if text.hasPrefix("ACCEPT") { port = text.split(separator: ":").last.flatMap { Int($0) } }
            line = []
        }
        guard let port else {
            kill(child.processID, SIGKILL)
            throw LocalServer.Failure(description: "openssl s_server does not listen: \(child.end().text)")
        }
        self.folder = folder
        self.certificate = certificate
        self.child = child
        self.port = port
    }

    deinit {
        kill(child.processID, SIGKILL)
        _ = child.end()
        try? FileManager.default.removeItem(atPath: folder)
    }
}
