import CCurl

/// An easy handle of libcurl, reused for transfers. It stays on the engine's thread.
final class CurlHandle {
    let easy: UnsafeMutableRawPointer
    /// The buffer for libcurl's error messages.
    let errorText: UnsafeMutablePointer<CChar>
    /// The code of the system if it has refused a socket; otherwise 0.
    let socketError: UnsafeMutablePointer<Int32>
    /// Whether the options of a plain request are set, from the previous transfer.
    var isPrepared = false

    init?() {
        guard let easy = curl_easy_init() else { return nil }
        self.easy = easy
        errorText = .allocate(capacity: Int(CURL_ERROR_SIZE))
        errorText.initialize(repeating: 0, count: Int(CURL_ERROR_SIZE))
        socketError = .allocate(capacity: 1)
        socketError.initialize(to: 0)
        guard hasBuffer else { return nil }
    }

    deinit {
        curl_easy_cleanup(easy)
        errorText.deallocate()
        socketError.deallocate()
    }

    /// Resets the options of the previous transfer, unless they serve the next one.
    ///
    /// Connections belong to the multi handle and stay open.
    ///
    /// - Parameter isPlain: whether the next request is plain: see ``CurlSubmission/isPlain``.
    /// - Returns: false if the handle cannot be reused: after a transfer over HTTP/2, libcurl may
    ///   keep its buffer and treat it as a small one.
    func clear(isPlain: Bool) -> Bool {
        isPrepared = isPrepared && isPlain
        if !isPrepared { curl_easy_reset(easy) }
        errorText.pointee = 0
        socketError.pointee = 0
        return hasBuffer
    }

    /// Whether libcurl accepts the buffer size.
    private var hasBuffer: Bool { tarn_curl_set_long(easy, CURLOPT_BUFFERSIZE, 64 * 1024) == CURLE_OK }
}
