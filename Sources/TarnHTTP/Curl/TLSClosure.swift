// The end of TLS: the alert `close_notify` (RFC 8446 §6.1), without which a response may have been
// cut off.
//
// libcurl 7.88 takes the end of the connection for that of a body without a length; later versions
// report an error if OpenSSL does. The function is loaded by name: libcurl has loaded its library.

import CCurl

/// The alert by which a server ends TLS.
enum TLSClosure {
    private typealias Shutdown = @convention(c) @Sendable (UnsafeRawPointer) -> Int32

    /// The function of the library that libcurl uses; nil if it uses another one.
    ///
    /// To libcurl, LibreSSL, BoringSSL and AWS-LC are OpenSSL as well: only their names tell that
    /// their connections are other structures.
    private static let shutdown: Shutdown? = {
        guard let name = tarn_curl_tls_library(), String(cString: name).contains("OpenSSL/3.") else { return nil }
        return SharedLibrary("libssl.so.3", isLoaded: true)?.function("SSL_get_shutdown", as: Shutdown.self)
    }()

    /// Returns whether the server of a transfer that is under way has sent the alert; nil if that
    /// is unknown.
    static func isReceived(_ easy: UnsafeMutableRawPointer) -> Bool? {
        guard let shutdown, let connection = tarn_curl_get_openssl(easy) else { return nil }
        // ssl.h: SSL_RECEIVED_SHUTDOWN.
        return shutdown(connection) & 2 != 0
    }
}
