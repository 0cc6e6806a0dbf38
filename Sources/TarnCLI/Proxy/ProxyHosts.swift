import NIOHTTP1
import Tarn

/// The hosts as which clients may address the proxy.
struct ProxyHosts: Sendable {
    /// The hosts that the user names, in lower case; an IPv6 address has its brackets.
    private let named: Set<String>
    /// The host on which the proxy listens.
    private let listening: String
    private let upstream: HTTPURL
    /// Whether requests with another `Host` are refused.
    private let isClosed: Bool

    /// Creates the hosts of a proxy.
    ///
    /// A web page can lead its own name to a loopback address (DNS rebinding), and so read what a
    /// proxy of this machine's user has: such a proxy refuses foreign names.
    ///
    /// - Parameters:
    ///   - named: as ``host(_:)`` returns them.
    ///   - listening: the host on which the proxy listens, without brackets.
    init(named: [String], listening: String, upstream: HTTPURL, isPrivate: Bool) {
        self.named = Set(named)
        self.listening = listening.contains(":") ? "[\(listening)]" : listening.lowercased()
        self.upstream = upstream
        isClosed = !named.isEmpty || isPrivate && ProxyHosts.isLoopback(self.listening)
    }

    /// Returns a host in lower case; nil if the text is no host.
    static func host(_ text: String) -> String? {
        guard let url = try? HTTPURL("http://\(text)/"), url.host == text.lowercased() else { return nil }
        return url.host
    }

    /// Returns the reason why a request is for another server, or nil (RFC 9110 §7.4).
    ///
    /// - Parameter port: the port on which the proxy listens.
    func problem(of head: HTTPRequestHead, port: @autoclosure () -> Int?) -> String? {
        if !head.uri.hasPrefix("/"), let url = try? HTTPURL(head.uri) {
            // The Host field has no meaning beside this form (RFC 9112 §3.2.2).
            let isUpstream = url.host == upstream.host && url.port == upstream.port
            // The names of a machine that listens on all its addresses are not known.
            let isPossible = isOwn(url.host) || isEverywhere && !isClosed
            return isUpstream || named.contains(url.host) || isPossible && url.port == port() ?? url.port
                ? nil : "this proxy serves one upstream only, and not \(url.host)"
        }
        guard isClosed, let host = head.headers["Host"].first, let url = try? HTTPURL("http://\(host)/") else {
            return nil
        }
        return named.contains(url.host) || isOwn(url.host) || url.host == upstream.host
            ? nil : "the proxy is not known as \(url.host); --host names it"
    }

    private var isEverywhere: Bool { listening == "0.0.0.0" || listening == "[::]" }

    /// Whether a host is the one on which the proxy listens.
    private func isOwn(_ host: String) -> Bool {
        host == listening
            || (isEverywhere || ProxyHosts.isLoopback(listening)) && ProxyHosts.isLoopback(host)
    }

    /// Whether a host is a loopback address or its name.
    private static func isLoopback(_ host: String) -> Bool {
        guard host != "localhost", host != "localhost.", host != "[::1]" else { return true }
        let parts = host.split(separator: ".", omittingEmptySubsequences: false)
        return parts.count == 4 && parts[0] == "127" && parts.allSatisfy { UInt8($0) != nil }
    }
}
