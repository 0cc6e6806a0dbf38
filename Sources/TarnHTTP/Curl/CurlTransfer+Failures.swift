// The failures of proxies and time limits, and libcurl's messages about others.

import CCurl
import Foundation

extension CurlTransfer {
    /// The proxy of the transfer; nil if there is none.
    var proxySetting: ProxySetting? {
        ProxySetting(forScheme: submission.url.scheme, option: submission.options.proxy)
    }

    /// The failure of a proxy whose URL cannot be used, or that refuses a tunnel (RFC 9110 §9.3.6);
    /// nil if there is none.
    func failureOfProxy(_ place: String, _ said: String) -> CurlFailure? {
        // libcurl's messages repeat the URL, with its password (lib/url.c).
        if said.hasPrefix("Unsupported proxy") {
            return CurlFailure(kind: .connect, detail: proxySetting?.refusal ?? "libcurl cannot use the proxy")
        }
        if said == "Proxy CONNECT aborted" {
            return CurlFailure(kind: .connect, detail: "the proxy has closed the connection for \(place)")
        }
        var status = 0
        tarn_curl_get_long(easy, CURLINFO_HTTP_CONNECTCODE, &status)
        guard status != 0, status / 100 != 2 else { return nil }
        let reason = status == 407 ? proxySetting?.demand : nil
        return CurlFailure(
            kind: .connect, detail: "the proxy refuses a connection to \(place): \(reason ?? "it returned \(status)")")
    }

    /// Returns the failure of the time limit that ended the transfer.
    func timeout(_ place: String, _ said: String) -> CurlFailure {
        let options = submission.options
        if time(CURLINFO_PRETRANSFER_TIME_T) == .zero {
            let limit = min(options.connectTimeout, submission.timeout)
            let within = "within \(limit)\(limit == options.connectTimeout ? setting("connect_timeout") : "")"
            // The wait for a free slot has left too little: that says nothing about the server.
            if timeLimit * 2 < limit { return submission.overdueFailure }
            if time(CURLINFO_NAMELOOKUP_TIME_T) == .zero {
                return CurlFailure(
                    kind: .resolve, detail: "could not resolve the host \(submission.url.host) \(within)")
            }
            if isAtProxy, let proxySetting {
                return CurlFailure(
                    kind: .connect, detail: "the proxy of \(proxySetting.name) has not connected to \(place) \(within)")
            }
            // libcurl measures the connection only after the handshake.
            if time(CURLINFO_CONNECT_TIME_T) == .zero, !said.hasPrefix("SSL connection timeout") {
                let reached = proxy(said).map { "the proxy \($0)" } ?? place
                return CurlFailure(kind: .connect, detail: "could not connect to \(reached) \(within)")
            }
            // Nothing was wrong with TLS: the network, or the server, has not answered.
            return CurlFailure(kind: .connect, detail: "no secure connection to \(place) \(within)")
        }
        return CurlFailure(
            kind: .timeout,
            detail: "no complete response from \(place) within \(options.totalTimeout)\(setting("total_timeout"))")
    }

    /// Whether the transfer has a connection, and not to the port of its URL.
    private var isAtProxy: Bool {
        var port = 0
        tarn_curl_get_long(easy, CURLINFO_PRIMARY_PORT, &port)
        return port != 0 && port != submission.url.port
    }

    /// The setting that a limit has, for messages.
    func setting(_ name: String) -> String {
        submission.options.namesSettings ? " (`\(name)` under `transport`)" : ""
    }

    /// Returns libcurl's error message on one line, without the password of a proxy.
    func said(_ code: CURLcode) -> String {
        let specific = String(cString: handle.errorText)
        let text = specific.isEmpty ? String(cString: curl_easy_strerror(code)) : specific
        let line = text.split(whereSeparator: \.isNewline).joined(separator: " ")
        return proxySetting?.redacting(line) ?? line
    }

    /// Returns a duration that libcurl has measured.
    func time(_ info: CURLINFO) -> Duration {
        var microseconds: curl_off_t = 0
        tarn_curl_get_offset(easy, info, &microseconds)
        return .microseconds(microseconds)
    }
}
