// The recording of exchanges with a live server, without secrets, for FixtureTransport.

import Foundation
import Locking

/// A transport that writes every exchange to a file, in the format that ``FixtureTransport`` reads.
///
/// It wraps the transport that adds credentials, so it never sees them. Of a request, only the
/// method, the target and a digest of the body are written. Query parameters with secret names are
/// omitted, and cookies are not written. The given secrets are removed from fields and bodies.
/// Preconditions are not sent: a recording has the complete response. A request that was already
/// recorded, also by another run into the same directory, is sent but not written again. A
/// transient failure, such as a 503, is an exception: the response to a retry replaces it. So is
/// the 202 of a request that reads: the answer comes later.
public final class RecordingTransport: Transport, Sendable {
    private let inner: any Transport
    private let directory: String
    private let scrubber: Scrubber
    private let hidden: Set<String>
    /// Called before a response is written, by tests.
    private let beforeWriting: (@Sendable (TransportResponse) async -> Void)?
    /// The first lines of the recordings that stay.
    private let written: Guarded<Set<String>>

    /// Creates a transport and its directory.
    ///
    /// - Parameters:
    ///   - secrets: removed from everything that is written.
    ///   - hidden: query parameters that are omitted, in addition to those with secret names.
    /// - Throws: `RecordingError` if the directory cannot be created, or has an invalid recording.
    public convenience init(
        _ inner: any Transport, directory: String, secrets: [Secret] = [], hiding hidden: Set<String> = []
    ) throws(RecordingError) {
        try self.init(inner, directory: directory, secrets: secrets, hiding: hidden, beforeWriting: nil)
    }

    /// Creates a transport with a function that is called before a response is written.
    init(
        _ inner: any Transport, directory: String, secrets: [Secret], hiding hidden: Set<String>,
        beforeWriting: (@Sendable (TransportResponse) async -> Void)?
    ) throws(RecordingError) {
        self.inner = inner
        self.beforeWriting = beforeWriting
        self.directory = directory
        self.hidden = hidden
        scrubber = Scrubber(secrets.map(\.exposed), parameter: nil)
        do {
            try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
        } catch {
            throw RecordingError(file: directory, "cannot create the directory for recordings", error)
        }
        let names: [String]
        do { names = try FileManager.default.contentsOfDirectory(atPath: directory) } catch {
            // Recordings that are not known would be replaced.
            throw RecordingError(file: directory, "cannot list the directory for recordings", error)
        }
        var known: Set<String> = []
        if names.contains(where: { $0.hasSuffix(".http") }) {
            for recording in try RecordingLibrary(directory: directory).recordings {
                let first = RecordingTransport.line(recording.method, recording.target, recording.bodyDigest)
                // A file with another name is not replaced: the request would have two recordings.
                let isOwn = recording.file.hasSuffix("/" + RecordingTransport.name(first) + ".http")
                if isOwn, RecordingTransport.isInterim(recording.method, recording.status, recording.headers) {
                    continue
                }
                known.insert(first)
            }
        }
        written = Guarded(known)
    }

    /// Whether a later response to the same request takes the place of a response.
    private static func isInterim(_ method: String, _ status: Int, _ headers: TransportHeaders) -> Bool {
        status == 202 && RetryPolicy.safe.contains(method)
            || RetryPolicy.isPassing(.answer(status: status, headers: headers))
    }

    /// Returns the first line of a recording, which identifies the request.
    private static func line(_ method: String, _ target: String, _ digest: String?) -> String {
        "\(method) \(target)" + (digest.map { " body=\($0)" } ?? "")
    }

    /// Returns the reason of an error; of an error of the file system, the path and the
    /// system's text.
    private static func text(_ error: any Error, _ path: String) -> String {
        RecordingError.reason(error).map { "\(path): \($0)" } ?? "\(error)"
    }

    /// Sends a request without preconditions and records the exchange.
    ///
    /// - Throws: `TransportError`, also with the kind ``TransportError/Kind/noFixture`` if the
    ///   response cannot be written.
    public func send(_ request: TransportRequest) async throws(TransportError) -> TransportResponse {
        var whole = request
        for name in ["If-None-Match", "If-Modified-Since"] { whole.headers[name] = nil }
        let response = try await inner.send(whole)
        guard let url = try? HTTPURL(request.url) else { return response }
        let first = RecordingTransport.line(request.method, target(of: url), request.body.map(BodyDigest.text))
        let isInterim = RecordingTransport.isInterim(request.method, response.status, response.headers)
        if written.withLock({ $0.contains(first) }) { return response }
        await beforeWriting?(response)
        let text = recording(first, response)
        let path = directory + "/" + RecordingTransport.name(first) + ".http"
        do {
            // Equal requests may be under way: a transient failure does not replace an answer.
            try written.withLock { written in
                guard isInterim ? !written.contains(first) : written.insert(first).inserted else { return }
                // Another process may have recorded it since this one has begun.
                guard !RecordingTransport.hasAnswer(path) else { return }
                // A recording that cannot be parsed is not written.
                _ = try Recording(parsing: text, file: path)
                try Data(text).write(to: URL(fileURLWithPath: path), options: .atomic)
            }
        } catch {
            throw TransportError(
                .noFixture, method: request.method, url: request.url,
                detail: "cannot record the response: \(RecordingTransport.text(error, path))")
        }
        return response
    }

    /// Returns whether a file has a recording that stays.
    private static func hasAnswer(_ path: String) -> Bool {
        guard let data = FileManager.default.contents(atPath: path),
            let known = try? Recording(parsing: Array(data), file: path)
        else { return false }
        return !isInterim(known.method, known.status, known.headers)
    }

    /// Returns the target without secrets.
    private func target(of url: HTTPURL) -> String {
        guard let query = url.query else { return url.path }
        let kept = query.split(separator: "&", omittingEmptySubsequences: false).filter { part in
            let name = QueryParameters.name(of: part)
            return !hidden.contains(name) && !Redaction.isSecret(name)
        }
        return scrubber.text(url.path + (kept.isEmpty ? "" : "?" + kept.joined(separator: "&")))
    }

    /// The header fields that are not written: secrets, and fields of the connection or coding.
    private static let left = [
        "Connection", "Keep-Alive", "Transfer-Encoding", "Trailer", "Upgrade", "Proxy-Authenticate", "Content-Encoding",
        "Content-Length", "Set-Cookie",
        "Set-Cookie2", "Authorization", "Alt-Svc",
    ]

    /// Returns the bytes of a recording.
    private func recording(_ first: String, _ response: TransportResponse) -> [UInt8] {
        let secrets = response.secrets
        var head = first + "\nHTTP/1.1 \(response.status) \n"
        for field in response.headers.fields
        where !RecordingTransport.left.contains(where: { TransportHeaders.same($0, field.name) }) {
            // Control characters are replaced: a recording cannot hold them.
            let shown = secrets.map { String(decoding: $0.recorded(Array(field.value.utf8)), as: UTF8.self) }
            let value = String(
                scrubber.text(Redaction.links(shown ?? field.value)).unicodeScalars.map {
                    $0.value < 0x20 || $0.value == 0x7F ? " " : Character($0)
                })
            head += "\(field.name): \(value)\n"
        }
        let body = scrubber.bytes(secrets?.recorded(response.body) ?? response.body)
        return Array((head + "\n").utf8)
            + (first.hasPrefix("HEAD ") || [204, 304].contains(response.status) ? [] : body)
    }

    /// Returns a file name that is readable and unique to the request.
    private static func name(_ first: String) -> String {
        let words = first.lowercased().utf8.map { byte -> Character in
            (0x61...0x7A).contains(byte) || (0x30...0x39).contains(byte) ? Character(UnicodeScalar(byte)) : "-"
        }
        let plain = String(words).split(separator: "-").joined(separator: "-")
        return plain.prefix(80) + "-" + BodyDigest.text(Array(first.utf8)).prefix(8)
    }
}
