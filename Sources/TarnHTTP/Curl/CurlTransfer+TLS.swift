// The failures of TLS. libcurl's codes do not tell them apart, its messages do.

import CCurl

extension CurlTransfer {
    /// Notes from now on if the server ends TLS.
    ///
    /// libcurl calls the function after each read, also the last one, and has closed the connection
    /// when it reports the end of the transfer.
    func watchClosure() {
        handle.isPrepared = false
        tarn_curl_set_progress(
            easy,
            { context, _, _, _, _ in
                guard let context else { return 0 }
                let transfer = Unmanaged<CurlTransfer>.fromOpaque(context).takeUnretainedValue()
                transfer.isClosedSecurely = TLSClosure.isReceived(transfer.easy)
                return 0
            }, Unmanaged.passUnretained(self).toOpaque())
    }

    /// Returns the failure of a secure connection that was not made, or that its server has ended.
    static func failureOfTLS(_ code: CURLcode, _ place: String, _ said: String) -> CurlFailure {
        if code == CURLE_SSL_CONNECT_ERROR, isBrokenHandshake(said) {
            return CurlFailure(
                kind: .connect, detail: "the connection to \(place) broke off before it was secure: \(said)")
        }
        let setting =
            switch code {
            case CURLE_SSL_CACERT_BADFILE: " (`authorities` under `transport`)"
            case CURLE_PEER_FAILED_VERIFICATION where isUnknownAuthority(said): " (`authorities` under `transport`)"
            case CURLE_SSL_CERTPROBLEM: " (`certificate` and `key` under `transport`)"
            case _ where refusesClient(said): " (`certificate` and `key` under `transport`)"
            default: ""
            }
        return CurlFailure(kind: .tls, detail: "no secure connection to \(place): \(said)\(setting)")
    }

    /// Whether a server has ended a connection because of this client's certificate.
    ///
    /// Of certificates, an alert of the peer means its peer's (RFC 8446 §6.2). In TLS 1.3 it comes
    /// after the handshake, as an error of the first read.
    static func refusesClient(_ said: String) -> Bool {
        said.contains(" alert ") && (said.contains("certificate") || said.contains("unknown ca"))
    }

    /// Whether the network, or the server without an alert, has ended a handshake.
    ///
    /// libcurl names the peer if OpenSSL has no error of its own (lib/vtls/openssl.c).
    private static func isBrokenHandshake(_ said: String) -> Bool {
        said.hasPrefix("OpenSSL SSL_connect: ") && said.contains(" in connection to ")
            || ["Recv failure: ", "Send failure: "].contains { said.hasPrefix($0) }
            || said.contains("unexpected eof while reading")
    }

    /// Whether nothing leads from the server's certificate to an authority that is trusted.
    private static func isUnknownAuthority(_ said: String) -> Bool {
        ["self-signed certificate", "self signed certificate", "local issuer certificate"].contains {
            said.contains($0)
        }
    }
}
