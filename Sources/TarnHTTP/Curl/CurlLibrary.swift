import CCurl

/// The library that sends requests.
package enum CurlLibrary {
    /// The version of libcurl and of its libraries, such as `7.88.1 OpenSSL/3.0.17 nghttp2/1.52.0`.
    package static var version: String {
        let text = curl_version().map { String(cString: $0) } ?? "unknown"
        return text.hasPrefix("libcurl/") ? String(text.dropFirst("libcurl/".count)) : text
    }
}
