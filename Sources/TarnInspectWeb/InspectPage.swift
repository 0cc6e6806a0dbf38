// The inspector as a page for a browser of this machine.

import Foundation
import TarnInspect

/// A page that shows a store to a browser of this machine. Read-only.
///
/// It answers requests; a server of the caller receives them, at a loopback address only. The URL
/// contains a random token, which other users of the machine cannot guess. A request whose `Host`
/// is not the server is refused, so that a page of another site cannot reach it under a name of its
/// own (DNS rebinding). Everything that the page needs is in the program, and a strict content
/// security policy forbids the browser any other request.
public struct InspectPage: Sendable {
    /// The path of the page, with the token: `/3f…/`.
    public var path: String { "/\(token)/" }

    private let token: String
    private let views: InspectViews

    /// Creates the page of a store, which each request opens.
    ///
    /// - Parameter path: The path of a store, of its `data.mdb`, or of any other LMDB data file.
    public init(store path: String) {
        var random = SystemRandomNumberGenerator()
        token = Hexadecimal.text((0..<16).map { _ in UInt8.random(in: .min ... .max, using: &random) })
        views = InspectViews(StoreInspector(at: path))
    }

    /// Answers a request. It may read much of the store.
    ///
    /// - Parameters:
    ///   - method: The method; only `GET` and `HEAD` are answered.
    ///   - target: The path and the query.
    ///   - host: The field `Host`; nil if it is missing or repeated.
    ///   - port: The port of the server.
    public func answer(_ method: String, _ target: String, host: String?, port: Int) -> PageAnswer {
        guard let request = PageRequest(target: target) else { return .failure(400, "the target is malformed") }
        guard method == "GET" || method == "HEAD" else { return .failure(405, "only GET and HEAD are answered") }
        guard let host = host?.lowercased(), Self.names(port).contains(host) else {
            return .failure(403, "the field Host does not name this server")
        }
        guard let first = request.path.first, hasToken(first) else {
            return .failure(
                404, "not found: open the address that tarn inspect web printed; an earlier run had another one")
        }
        // The page's own links are relative to the path with a slash at its end.
        guard request.path.count > 1 else {
            return PageAnswer(status: 308, type: "text/plain; charset=utf-8", location: path, body: [])
        }
        let rest = request.path.dropFirst().joined(separator: "/")
        guard rest.hasPrefix("api/") else { return PageAssets.answer(rest) ?? .failure(404, "not found") }
        do {
            return try views.answer(String(rest.dropFirst(4)), request) ?? .failure(404, "not found")
        } catch let error as ParameterError {
            return .failure(400, "\(error)")
        } catch {
            return .failure(500, "\(error)")
        }
    }

    /// The values of `Host` for this server. Browsers leave out the port 80 (RFC 9110 §4.2.1).
    private static func names(_ port: Int) -> [String] {
        ["127.0.0.1", "localhost"].flatMap { port == 80 ? [$0, "\($0):80"] : ["\($0):\(port)"] }
    }

    /// Compares without telling by its duration how much is right.
    private func hasToken(_ text: String) -> Bool {
        let given = Array(text.utf8), wanted = Array(token.utf8)
        guard given.count == wanted.count else { return false }
        return zip(given, wanted).reduce(0) { $0 | ($1.0 ^ $1.1) } == 0
    }
}
