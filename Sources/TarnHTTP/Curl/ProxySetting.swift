// The proxy of a transfer: the setting that names it, and texts without its user and password.

import Foundation

/// A proxy as libcurl finds it: that of the options, otherwise that of the environment.
struct ProxySetting: Sendable, Hashable {
    /// The setting, for messages: `http_proxy`.
    let name: String
    private let url: String
    private let isOption: Bool

    /// A URL that libcurl refuses. It does not look at it for a host in `no_proxy`.
    static let unusable = "refused://proxy"

    /// Returns the variable of the environment; nil if there is none.
    static func variable(_ name: String) -> String? { getenv(name).map { String(cString: $0) } }

    /// Returns nil if there is no proxy for URLs with this scheme.
    ///
    /// - Parameter option: the proxy of the options: see ``CurlTransport/Options/proxy``.
    init?(
        forScheme scheme: String, option: String?,
        environment variable: (String) -> String? = ProxySetting.variable
    ) {
        if let option {
            guard !option.isEmpty else { return nil }
            (name, url, isOption) = ("`proxy` under `transport`", option, true)
            return
        }
        // libcurl ignores HTTP_PROXY, which a request to a CGI program can set, and empty values.
        let names = [scheme + "_proxy"] + (scheme == "http" ? [] : ["HTTPS_PROXY"]) + ["all_proxy", "ALL_PROXY"]
        for name in names {
            guard let value = variable(name), !value.isEmpty else { continue }
            (self.name, url, isOption) = ("`\(name)`", value, false)
            return
        }
        return nil
    }

    /// The user and the password as written; nil without them.
    private var userinfo: Substring? {
        let rest = url.range(of: "://").map { url[$0.upperBound...] } ?? url[...]
        return rest.lastIndex(of: "@").map { rest[..<$0] }
    }

    /// Whether libcurl reads the URL as it is meant.
    ///
    /// A `/`, `?` or `#` in a password makes its beginning the host and the port. If the user or
    /// the password has the encoding of a control character, libcurl sends the request without the
    /// proxy.
    var isUsable: Bool {
        let isEncoded = userinfo.map { part in !part.contains { "/?#@ ".contains($0) } } ?? true
        return isEncoded && !hasEncodedControl
    }

    private var hasEncodedControl: Bool {
        let bytes = Array(url.utf8)
        return bytes.indices.dropLast(2).contains { index in
            let digits = String(decoding: bytes[(index + 1)...(index + 2)], as: UTF8.self)
            guard bytes[index] == UInt8(ascii: "%"), digits.allSatisfy(\.isHexDigit),
                let byte = UInt8(digits, radix: 16)
            else { return false }
            return byte < 0x20
        }
    }

    /// The message about a URL that cannot be used. It does not repeat the URL.
    var refusal: String {
        "the proxy URL in \(name) cannot be used: it must be SCHEME://HOST:PORT or SCHEME://USER:PASSWORD@HOST:PORT; "
            + "the scheme is http, https, socks4, socks5 or socks5h, the port is at most 65535, and special characters "
            + "of user and password are percent-encoded (`@` as %40, `#` as %23, `/` as %2F), no control characters"
    }

    /// The reason of a proxy that returns 407 (RFC 9110 §15.5.8).
    ///
    /// A description has no secrets: the variable that names a proxy may have them.
    var demand: String {
        userinfo == nil
            ? "it demands a user and a password (407): write SCHEME://USER:PASSWORD@HOST:PORT in "
                + (isOption ? "`https_proxy`, and remove \(name)" : name)
            : "it refuses the user or the password in \(name) (407)"
    }

    /// Returns a text of libcurl without the user and the password of the proxy.
    ///
    /// libcurl cuts its texts, which may end within the password: of a proxy with a user, all words
    /// that look like a part of a URL are removed.
    func redacting(_ text: String) -> String {
        guard let userinfo, !userinfo.isEmpty else { return text }
        return text.replacingOccurrences(of: url, with: "***")
            .replacingOccurrences(of: String(userinfo), with: "***")
            .split(separator: " ", omittingEmptySubsequences: false)
            .map { $0.contains("@") || $0.contains("://") ? "***" : $0 }.joined(separator: " ")
    }
}
