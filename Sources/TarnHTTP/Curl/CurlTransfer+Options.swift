// The options of the easy handle of a transfer.

import CCurl

/// The options of an easy handle. After libcurl has rejected one, the others are not set.
private struct CurlOptions {
    let easy: UnsafeMutableRawPointer
    var isAccepted = true

    mutating func set(_ option: CURLoption, _ value: Int) {
        isAccepted = isAccepted && tarn_curl_set_long(easy, option, value) == CURLE_OK
    }

    mutating func set(_ option: CURLoption, _ value: String) {
        isAccepted = isAccepted && tarn_curl_set_string(easy, option, value) == CURLE_OK
    }

    mutating func set(_ option: CURLoption, pointer: UnsafeMutableRawPointer?) {
        isAccepted = isAccepted && tarn_curl_set_pointer(easy, option, pointer) == CURLE_OK
    }
}

extension CurlTransfer {
    /// Sets the options of the handle; false if libcurl rejects one.
    func configure() -> Bool {
        var options = CurlOptions(easy: easy)
        options.set(CURLOPT_URL, submission.url.description)
        options.set(CURLOPT_TIMEOUT_MS, timeLimit.milliseconds)
        if !handle.isPrepared {
            setRequest(&options)
            setLimits(&options)
            setConnection(&options)
            setReceivers(&options)
        }
        if submission.hasUnusableProxy { options.set(CURLOPT_PROXY, ProxySetting.unusable) }
        // RFC 9110 §8.6: a method that anticipates content declares a length of 0 if there is none.
        let method = submission.request.method
        let body = submission.request.body ?? (["POST", "PUT", "PATCH"].contains(method) ? [] : nil)
        if let body { set(body, &options) }
        guard appendHeaders(hasBody: body != nil) else { return false }
        setTransfer(&options)
        handle.isPrepared = options.isAccepted && submission.isPlain && !submission.hasUnusableProxy
        return options.isAccepted
    }

    private func setRequest(_ options: inout CurlOptions) {
        options.isAccepted = options.isAccepted && tarn_curl_allow_http(easy) == CURLE_OK
        // The request target is sent unchanged; references were resolved before.
        options.set(CURLOPT_PATH_AS_IS, 1)
        // Without zlib, libcurl decodes. An empty list requests every coding that it can decode.
        if submission.options.decodesContent, !submission.decodesContent, !submission.request.keepsCoding {
            options.set(CURLOPT_ACCEPT_ENCODING, "")
        }
        options.set(CURLOPT_FOLLOWLOCATION, 0)
        options.set(CURLOPT_SUPPRESS_CONNECT_HEADERS, 1)
        options.set(CURLOPT_USERAGENT, submission.options.userAgent)
        switch submission.request.method {
        case "GET": break
        case "HEAD": options.set(CURLOPT_NOBODY, 1)
        default: options.set(CURLOPT_CUSTOMREQUEST, submission.request.method)
        }
    }

    private func setLimits(_ options: inout CurlOptions) {
        // libcurl's alarm signals would affect the whole process.
        options.set(CURLOPT_NOSIGNAL, 1)
        // A cancelled transfer does not wait for the resolver's thread, which ends on its own.
        options.set(CURLOPT_QUICK_EXIT, 1)
        options.set(CURLOPT_CONNECTTIMEOUT_MS, submission.options.connectTimeout.milliseconds)
    }

    private func setConnection(_ options: inout CurlOptions) {
        let connection = submission.options
        options.isAccepted =
            options.isAccepted && tarn_curl_set_private_sockets(easy, handle.socketError) == CURLE_OK
        if let file = connection.certificateAuthorities { options.set(CURLOPT_CAINFO, file) }
        if let file = connection.clientCertificate { options.set(CURLOPT_SSLCERT, file) }
        if let file = connection.clientKey ?? connection.clientCertificate { options.set(CURLOPT_SSLKEY, file) }
        if let proxy = connection.proxy { options.set(CURLOPT_PROXY, proxy) }
    }

    private func set(_ body: [UInt8], _ options: inout CurlOptions) {
        options.isAccepted =
            options.isAccepted
            && tarn_curl_set_offset(easy, CURLOPT_POSTFIELDSIZE_LARGE, curl_off_t(body.count)) == CURLE_OK
        // A copy, so that the transfer does not retain the request's memory.
        body.withUnsafeBytes { bytes in
            var none: UInt8 = 0
            withUnsafeMutableBytes(of: &none) { empty in
                let start = UnsafeMutableRawPointer(mutating: bytes.baseAddress) ?? empty.baseAddress
                options.set(CURLOPT_COPYPOSTFIELDS, pointer: start)
            }
        }
        options.set(CURLOPT_CUSTOMREQUEST, submission.request.method)
    }

    /// Collects the lines of the request's header fields; false without memory.
    private func appendHeaders(hasBody: Bool) -> Bool {
        let headers = submission.request.headers
        // libcurl would declare any body a form.
        var removed = hasBody ? ["Content-Type"] : []
        if !submission.options.addsFields { removed += ["Accept", "Expect", "User-Agent"] }
        for name in removed where headers[name] == nil {
            guard appendHeader(name + ":") else { return false }
        }
        if submission.decodesContent, let accepted = ContentDecoder.accepted, headers["Accept-Encoding"] == nil {
            guard appendHeader("Accept-Encoding: " + accepted) else { return false }
        }
        for field in headers.fields {
            // In libcurl, "Name:" removes a field and "Name;" sends it empty.
            guard appendHeader(field.value.isEmpty ? "\(field.name);" : "\(field.name): \(field.value)") else {
                return false
            }
        }
        return true
    }

    /// Sets the options whose memory belongs to the transfer, and those of requests that must not
    /// be sent twice.
    ///
    /// If a connection that was used before ends without a response, libcurl sends any request
    /// again on another one. The server may have received it (RFC 9110 §9.2.2). Requests that are
    /// not idempotent get a connection of their own; those with an idempotency key fail, and their
    /// sender decides.
    private func setTransfer(_ options: inout CurlOptions) {
        let context = Unmanaged.passUnretained(self).toOpaque()
        options.isAccepted =
            options.isAccepted && tarn_curl_set_list(easy, CURLOPT_HTTPHEADER, headerList) == CURLE_OK
        if !submission.request.isRead, !RetryPolicy.idempotent.contains(submission.request.method) {
            if submission.request.headers["Idempotency-Key"] == nil {
                options.set(CURLOPT_FRESH_CONNECT, 1)
                // No later one of them uses it: kept, each would leave an idle connection.
                options.set(CURLOPT_FORBID_REUSE, 1)
            } else {
                options.isAccepted =
                    options.isAccepted
                    && tarn_curl_set_prerequest(easy, { context, _, _, _, _ in CurlTransfer.begin(context) }, context)
                        == CURLE_OK
            }
        }
        if submission.request.needsNewConnection { options.set(CURLOPT_FRESH_CONNECT, 1) }
        options.set(CURLOPT_HEADERDATA, pointer: context)
        options.set(CURLOPT_WRITEDATA, pointer: context)
    }

    private func setReceivers(_ options: inout CurlOptions) {
        options.set(CURLOPT_ERRORBUFFER, pointer: handle.errorText)
        options.isAccepted =
            options.isAccepted
            && tarn_curl_set_receive(
                easy, CURLOPT_HEADERFUNCTION, { CurlTransfer.receive($0, $1 * $2, $3, isHead: true) }) == CURLE_OK
            && tarn_curl_set_receive(
                easy, CURLOPT_WRITEFUNCTION, { CurlTransfer.receive($0, $1 * $2, $3, isHead: false) }) == CURLE_OK
    }
}

extension Duration {
    /// The duration in milliseconds; at least 1, since 0 means no limit to libcurl.
    fileprivate var milliseconds: Int {
        let (seconds, attoseconds) = components
        let limited = min(max(seconds, 0), 1 << 31)
        // All versions of libcurl accept at most Int32.max: 24 days.
        return min(max(1, Int(limited) * 1000 + Int(attoseconds / 1_000_000_000_000_000)), Int(Int32.max))
    }
}
