import CCurl

/// An easy handle of libcurl, for one transfer after another. Lives on the engine's thread only.
final class CurlHandle {
    let easy: UnsafeMutableRawPointer
    /// libcurl writes what went wrong into it.
    let errorText: UnsafeMutablePointer<CChar>

    init?() {
        guard let easy = curl_easy_init() else { return nil }
        self.easy = easy
        errorText = .allocate(capacity: Int(CURL_ERROR_SIZE))
        errorText.initialize(repeating: 0, count: Int(CURL_ERROR_SIZE))
        guard hasBuffer else { return nil }
    }

    deinit {
        curl_easy_cleanup(easy)
        errorText.deallocate()
    }

    /// Forgets all of the transfer before; connections stay, which are the multi handle's.
    ///
    /// - Returns: false if it cannot be used again: after a transfer over HTTP/2, libcurl may keep its buffer and take it for a small one.
    func clear() -> Bool {
        curl_easy_reset(easy)
        errorText.pointee = 0
        return hasBuffer
    }

    private var hasBuffer: Bool { tarn_curl_set_long(easy, CURLOPT_BUFFERSIZE, 256 * 1024) == CURLE_OK }
}
