// A transfer: an easy handle, the data of its callbacks, and the conversion of its end to a
// response or failure.

import CCurl
import Foundation

/// A transfer. It stays on the engine's thread.
///
/// libcurl holds an unretained pointer to it while its handle is in the multi handle.
final class CurlTransfer {
    let submission: CurlSubmission
    let handle: CurlHandle
    let line: CurlLine
    /// The time limit from the start of the transfer.
    let timeLimit: Duration
    private(set) var headerList: UnsafeMutablePointer<curl_slist>?
    private var fields: [TransportHeaders.Field] = []
    /// Whether a head is being read. Interim responses have their own fields; trailers are ignored.
    private var isInHead = false
    /// The status of the head that is being read if it is an interim one; nil otherwise.
    private var interimStatus: Int?
    /// Whether the final head is complete. libcurl accepts an incomplete head.
    private var isHeadComplete = false
    private var body: [UInt8] = []
    private var isTooLarge = false
    /// Whether the body of a refusal was cut off at its limit.
    private var isCut = false
    /// The status of the head that is being read.
    private var status = 0
    private var headSize = 0
    private var isHeadTooLarge = false
    /// The declared lengths of the body if they are no single number; nil otherwise.
    private var malformedLength: String?
    /// Whether only the end of the connection ends the body.
    private var isCloseDelimited = false
    /// Whether the server has ended TLS, and not only the connection: see ``TLSClosure``. Nil if
    /// that is unknown.
    var isClosedSecurely: Bool?
    /// Whether the status line is one of HTTP/1, which can end a body with its connection.
    private var isHTTP1 = false
    /// Whether libcurl has begun to send a request whose method is not idempotent.
    private var isBegun = false
    /// Whether libcurl was about to send it again.
    private var isRepetition = false
    /// The decoder of the body; nil without a content coding.
    private var decoder: ContentDecoder?
    /// The number of decoded bytes, if the body keeps its coding.
    private var decodedSize = 0
    private var codingProblem: CodingProblem?
    /// Whether something was received since the idle time was measured last.
    private var hasReceived = true
    /// The number of bytes of the request's body that were sent by then.
    private var sentSize: curl_off_t = 0
    private var lastProgress = SuspendingClock.now
    /// The time in seconds that is added to the idle time while a body is sent.
    private static let sendingPause: Int64 = 5

    /// The reason why a coded body was refused.
    private enum CodingProblem {
        case unsupportedTransfer(String)
        case unsupported(String)
        case malformed(String)
    }

    init?(_ submission: CurlSubmission, _ handle: CurlHandle, _ line: CurlLine) {
        self.submission = submission
        self.handle = handle
        self.line = line
        timeLimit = submission.remainingTime
        guard configure() else { return nil }
    }

    deinit { curl_slist_free_all(headerList) }

    var easy: UnsafeMutableRawPointer { handle.easy }

    /// Appends a line to the header fields of the request; false without memory.
    func appendHeader(_ line: String) -> Bool {
        guard let list = curl_slist_append(headerList, line) else { return false }
        headerList = list
        return true
    }

    // MARK: During

    /// Receives a header line or a piece of the body from libcurl.
    ///
    /// - Returns: the number of accepted bytes; fewer than `count` end the transfer.
    static func receive(
        _ bytes: UnsafeMutablePointer<CChar>?, _ count: Int, _ context: UnsafeMutableRawPointer?, isHead: Bool
    ) -> Int {
        guard let bytes, let context else { return 0 }
        let transfer = Unmanaged<CurlTransfer>.fromOpaque(context).takeUnretainedValue()
        let buffer = UnsafeRawBufferPointer(start: bytes, count: count)
        transfer.hasReceived = true
        if isHead { return transfer.receiveHead(buffer) }
        return transfer.receiveBody(buffer)
    }

    /// Parses a line of a head, a trailer or an interim response.
    private func receiveHead(_ line: UnsafeRawBufferPointer) -> Int {
        headSize += line.count
        guard headSize <= submission.options.maximumHeaderSize else {
            isHeadTooLarge = true
            return 0
        }
        let text = CurlTransfer.droppingLineEnd(line)
        if line.first == UInt8(ascii: "H"), line.starts(with: "HTTP/".utf8) {
            fields = []
            fields.reserveCapacity(16)
            isInHead = true
            isHeadComplete = false
            isHTTP1 = line.starts(with: "HTTP/1".utf8)
            status = CurlTransfer.status(text)
            interimStatus = (100..<200).contains(status) && status != 101 ? status : nil
        } else if text.isEmpty {
            isInHead = false
            if let interimStatus {
                submission.receiver.interim?(InterimResponse(status: interimStatus, headers: TransportHeaders(fields)))
                return line.count
            }
            isHeadComplete = true
            return beginBody() ? line.count : 0
        } else if isInHead {
            guard fields.count < submission.options.maximumHeaderFields else {
                isHeadTooLarge = true
                return 0
            }
            if text.first == 0x20 || text.first == 0x09, !fields.isEmpty {
                // RFC 9112 §5.2: obsolete line folding is replaced by a space.
                fields[fields.count - 1].value += " " + CurlTransfer.text(text.trimmingWhitespace())
            } else if let colon = text.firstIndex(of: UInt8(ascii: ":")) {
                fields.append(
                    TransportHeaders.Field(
                        CurlTransfer.text(text[..<colon].trimmingWhitespace()),
                        CurlTransfer.text(text[(colon + 1)...].trimmingWhitespace())))
            }
        }
        return line.count
    }

    /// The maximum length of a successful response's body in bytes, after decoding.
    private var bodyLimit: Int {
        min(submission.request.responseLimits?.body ?? .max, submission.options.maximumBodySize)
    }

    /// The length in bytes at which the body of a refusal is cut off; nil for a success.
    private var refusalLimit: Int? {
        (200..<300).contains(status) ? nil : submission.request.responseLimits.map { min($0.refusal, bodyLimit) }
    }

    /// Checks the fields that describe the body; false if they end the transfer.
    private func beginBody() -> Bool {
        var length: String?
        for field in fields where TransportHeaders.same(field.name, "Content-Length") {
            // RFC 9112 §6.3: a length that is no number, or two different ones, are invalid.
            // Recipients would disagree on the end of the body.
            guard let declared = HTTPSyntax.contentLength(field.value), length == nil || length == declared else {
                malformedLength = TransportHeaders(fields).all("Content-Length").joined(separator: ", ")
                return false
            }
            length = declared
        }
        let transferCodings = isHTTP1 ? transferCodings : []
        if transferCodings.contains("chunked") {
            // RFC 9112 §6.3: the chunks decide, and the length is removed.
            fields.removeAll { TransportHeaders.same($0.name, "Content-Length") }
            length = nil
        }
        let hasBody = submission.request.method != "HEAD" && status != 204 && status != 304
        // libcurl removes other transfer codings, and reports a success if the coded stream breaks
        // off. A server applies none that the request does not accept by `TE` (RFC 9110 §10.1.4).
        if hasBody, let coding = transferCodings.first(where: { !["chunked", "identity", ""].contains($0) }) {
            codingProblem = .unsupportedTransfer(coding)
            return false
        }
        isCloseDelimited =
            isHTTP1 && hasBody && length == nil
            && !fields.contains { TransportHeaders.same($0.name, "Transfer-Encoding") }
        if isCloseDelimited, submission.url.scheme == "https" { watchClosure() }
        // A part of a coded content cannot be checked.
        let isChecked = !submission.request.keepsCoding || status != 206
        if submission.decodesContent, hasBody, isChecked, fields.contains(where: ContentDecoder.isCoding) {
            do throws(ContentDecoder.Unsupported) {
                decoder = try ContentDecoder.of(TransportHeaders(fields).all("Content-Encoding"), limit: bodyLimit)
            } catch {
                codingProblem = .unsupported(error.coding)
            }
        }
        // RFC 9110 §8.6: a response to HEAD and a 304 declare a length without sending a body.
        return length.map { !hasBody || expectBody(Int($0) ?? .max) } ?? true
    }

    /// The names of the transfer codings, in lower case.
    private var transferCodings: [String] {
        TransportHeaders(fields).all("Transfer-Encoding").flatMap { $0.lowercased().utf8.split(separator: 0x2C) }.map {
            String(decoding: $0.prefix { $0 != UInt8(ascii: ";") }[...].trimmingWhitespace(), as: UTF8.self)
        }
    }

    /// Reserves memory for the declared body, so that the body is not moved while it grows.
    ///
    /// The reservation includes the padding of a parser. At most 16 MiB are reserved on a server's
    /// declaration alone.
    ///
    /// - Returns: false if the declared length exceeds the limit.
    private func expectBody(_ length: Int) -> Bool {
        if refusalLimit == nil, length > bodyLimit {
            isTooLarge = true
            return false
        }
        body.reserveCapacity(min(length, refusalLimit ?? bodyLimit, 16 << 20) + 64)
        return true
    }

    /// Receives a piece of the body as it was sent, and decodes it.
    private func receiveBody(_ piece: UnsafeRawBufferPointer) -> Int {
        if let decoder {
            let keepsCoding = submission.request.keepsCoding
            switch decoder.decode(piece, { keepsCoding ? count($0) : appendBody($0) == $0.count }) {
            case .decoded: return keepsCoding ? appendBody(piece) : piece.count
            case .stopped: return 0
            case .tooLarge:
                if refusalLimit == nil { isTooLarge = true } else { isCut = true }
                return 0
            case .malformed(let coding):
                codingProblem = .malformed(coding)
                return 0
            }
        }
        // An unsupported coding is no error of a response without a body.
        return codingProblem == nil ? appendBody(piece) : 0
    }

    /// Counts a decoded piece of a body that keeps its coding; false beyond the limit.
    private func count(_ piece: UnsafeRawBufferPointer) -> Bool {
        decodedSize += piece.count
        guard decodedSize > refusalLimit ?? bodyLimit else { return true }
        if refusalLimit == nil { isTooLarge = true } else { isCut = true }
        return false
    }

    /// Appends a piece of the body.
    ///
    /// The limit counts decoded bytes: a small body may expand to a large one.
    private func appendBody(_ piece: UnsafeRawBufferPointer) -> Int {
        let rest = (refusalLimit ?? bodyLimit) - body.count
        if piece.count <= rest {
            body.append(contentsOf: piece)
            return piece.count
        }
        guard refusalLimit != nil else {
            isTooLarge = true
            return 0
        }
        body.append(contentsOf: piece.prefix(rest))
        isCut = true
        return 0
    }

    // MARK: Idle time

    /// Returns whether, for the idle time, nothing was received and nothing of a body was sent.
    ///
    /// libcurl's own limit (CURLOPT_LOW_SPEED_TIME) does not count header fields and interim
    /// responses.
    func isIdle(at now: SuspendingClock.Instant) -> Bool {
        var sent: curl_off_t = 0
        tarn_curl_get_offset(easy, CURLINFO_SIZE_UPLOAD_T, &sent)
        // Before the request is sent, the time limit of connections applies.
        if hasReceived || sent != sentSize || time(CURLINFO_PRETRANSFER_TIME_T) == .zero {
            (hasReceived, sentSize, lastProgress) = (false, sent, now)
        }
        // Whole seconds, as documented.
        let (seconds, attoseconds) = submission.options.idleTimeout.components
        let limit = max(1, min(seconds, 1 << 31) + (attoseconds > 0 ? 1 : 0))
        // The system has taken a part of the body, and sends it for some time: see
        // `tarn_curl_open_socket`.
        let isSending = sentSize > 0 && !isHeadComplete
        return now - lastProgress >= .seconds(isSending ? limit + CurlTransfer.sendingPause : limit)
    }

    /// The failure of a transfer that is idle.
    var idleFailure: CurlFailure {
        let url = submission.url, limit = "\(submission.options.idleTimeout)\(setting("idle_timeout"))"
        return noted(CurlFailure(kind: .timeout, detail: "\(url.host):\(url.port) sent nothing for \(limit)"))
    }

    /// Notes that a failure may be that of a connection that was used before.
    private func noted(_ failure: CurlFailure) -> CurlFailure {
        var failure = failure
        failure.isOfUsedConnection = connectionCount == 0 && [.timeout, .cutShort].contains(failure.kind)
        return failure
    }

    // MARK: After

    /// Converts the end of the transfer to a response or a failure.
    func result(_ code: CURLcode) -> Result<CurlAnswer, CurlFailure> {
        // A cut-off refusal ends with a write error, but is complete enough.
        guard code == CURLE_OK || isCut && code == CURLE_WRITE_ERROR else { return .failure(noted(failure(code))) }
        guard isHeadComplete else {
            return .failure(
                CurlFailure(
                    kind: .cutShort,
                    detail:
                        "\(submission.url.host):\(submission.url.port) closed the connection within the header fields"))
        }
        // libcurl knows the end of the message, not that of the coded content within it.
        if let decoder, !isCut, !decoder.isComplete, decoder.hasBegun || isCloseDelimited {
            return .failure(
                CurlFailure(
                    kind: .cutShort,
                    detail:
                        "the response of \(submission.url.host):\(submission.url.port) was cut short: its \(decoder.coding) content has no end",
                    answer: answer([])))
        }
        if isCloseDelimited, let problem = problemOfEnd {
            return .failure(
                CurlFailure(
                    kind: .cutShort,
                    detail: "the response of \(submission.url.host):\(submission.url.port) \(problem)",
                    answer: answer([])))
        }
        // The body is moved out: its only owner may parse it in place.
        var response = answer(takeBody())
        response.hasUnknownEnd = isCloseDelimited && decoder == nil && isClosedSecurely != true
        return .success(CurlAnswer(response: response, duration: time(CURLINFO_TOTAL_TIME_T)))
    }

    /// The sign that a success without a length was cut off; nil without one.
    private var problemOfEnd: String? {
        guard (200..<300).contains(status), !isCut, decoder == nil else { return nil }
        let request = submission.request
        return CurlTransfer.problem(
            ofEnd: body, isRead: request.isRead || RetryPolicy.safe.contains(request.method), isClosedSecurely)
    }

    /// Returns the sign that a body without a length was cut off; nil without one.
    ///
    /// Only the end of its connection ends it. RFC 9112 §9.8: over TLS, an alert completes it.
    /// Some servers never send one: a JSON text shows its end by itself, and a write has its
    /// effect if nothing follows the head.
    static func problem(ofEnd body: [UInt8], isRead: Bool, _ isClosedSecurely: Bool?) -> String? {
        switch JSONEnd.of(body) {
        case .reached: return nil
        case .missing: return "was cut short: it has no length, and its JSON has no end"
        case .unknown:
            return isClosedSecurely == false && (isRead || !body.isEmpty)
                ? "may be cut short: it has no length, and the server has closed the connection without ending TLS"
                : nil
        }
    }

    /// The answer, with another body.
    private func answer(_ body: [UInt8]) -> TransportResponse {
        var status = 0
        tarn_curl_get_long(easy, CURLINFO_RESPONSE_CODE, &status)
        return TransportResponse(status: status, headers: TransportHeaders(fields), body: body)
    }

    /// The number of connections that the transfer has opened.
    var connectionCount: Int {
        var count = 0
        tarn_curl_get_long(easy, CURLINFO_NUM_CONNECTS, &count)
        return count
    }

    private func takeBody() -> [UInt8] {
        defer { body = [] }
        return body
    }

    /// Decides whether libcurl may send the request: once (`CURLOPT_PREREQFUNCTION`).
    static func begin(_ context: UnsafeMutableRawPointer?) -> Int32 {
        guard let context else { return CURL_PREREQFUNC_ABORT }
        let transfer = Unmanaged<CurlTransfer>.fromOpaque(context).takeUnretainedValue()
        // After 417, libcurl repeats a request that the server has not read (RFC 9110 §15.5.18).
        transfer.isRepetition = transfer.isBegun && transfer.status != 417
        transfer.isBegun = true
        return transfer.isRepetition ? CURL_PREREQFUNC_ABORT : CURL_PREREQFUNC_OK
    }

    /// Converts a code of libcurl to a failure.
    private func failure(_ code: CURLcode) -> CurlFailure {
        let url = submission.url
        let place = "\(url.host):\(url.port)"
        let said = said(code)
        if let failure = failureOfMessage(code, place) ?? failureOfProxy(place, said) { return failure }
        switch code {
        case CURLE_GOT_NOTHING,
            CURLE_ABORTED_BY_CALLBACK where isRepetition:
            return CurlFailure(
                kind: .cutShort, detail: "\(place) closed the connection without a response",
                isUnanswered: isRepetition)
        case CURLE_OUT_OF_MEMORY where !isHeadComplete, CURLcode(rawValue: 100) where !isHeadComplete:
            // libcurl reports a line longer than its limit of 100 KB with this code (lib/dynbuf.c);
            // since 8.6 with code 100.
            return CurlFailure(kind: .tooLarge, detail: "a header field from \(place) is longer than 100 KB")
        case CURLE_PROXY: return CurlFailure(kind: .connect, detail: "the proxy cannot reach \(place): \(said)")
        case CURLE_URL_MALFORMAT: return CurlFailure(kind: .url, detail: said)
        case CURLE_COULDNT_RESOLVE_HOST:
            return CurlFailure(kind: .resolve, detail: "could not resolve the host \(url.host)")
        case CURLE_COULDNT_RESOLVE_PROXY:
            return CurlFailure(kind: .resolve, detail: proxySetting.map { "\(said) (\($0.name))" } ?? said)
        case CURLE_COULDNT_CONNECT where [EMFILE, ENFILE].contains(handle.socketError.pointee):
            return CurlFailure(
                kind: .resources,
                detail:
                    "too many open files for a connection to \(place): close some, or raise the limit (`ulimit -n`)")
        case CURLE_COULDNT_CONNECT:
            var number = 0
            tarn_curl_get_long(easy, CURLINFO_OS_ERRNO, &number)
            let reason = number != 0 ? String(cString: strerror(Int32(truncatingIfNeeded: number))) : said
            return CurlFailure(
                kind: .connect,
                detail: "could not connect to \(proxy(said).map { "the proxy \($0)" } ?? place): \(reason)")
        case CURLE_OPERATION_TIMEDOUT: return timeout(place, said)
        case CURLE_RECV_ERROR where CurlTransfer.refusesClient(said),
            CURLE_SEND_ERROR where CurlTransfer.refusesClient(said):
            return CurlTransfer.failureOfTLS(code, place, said)
        case CURLE_PARTIAL_FILE, CURLE_RECV_ERROR, CURLE_SEND_ERROR, CURLE_HTTP2_STREAM, CURLE_HTTP2:
            return CurlFailure(kind: .cutShort, detail: "the response of \(place) was cut short: \(said)")
        case CURLE_SSL_CONNECT_ERROR, CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_CERTPROBLEM, CURLE_SSL_CIPHER,
            CURLE_SSL_CACERT_BADFILE, CURLE_SSL_CRL_BADFILE, CURLE_SSL_ISSUER_ERROR, CURLE_SSL_PINNEDPUBKEYNOTMATCH,
            CURLE_SSL_INVALIDCERTSTATUS, CURLE_SSL_CLIENTCERT, CURLE_SSL_ENGINE_NOTFOUND,
            CURLE_SSL_ENGINE_SETFAILED, CURLE_SSL_ENGINE_INITFAILED, CURLE_SSL_SHUTDOWN_FAILED, CURLE_USE_SSL_FAILED:
            return CurlTransfer.failureOfTLS(code, place, said)
        default:
            return CurlFailure(kind: .protocol, detail: "invalid HTTP from \(place): \(said)")
        }
    }

    /// The failure of a response that Tarn has refused; nil if it has refused none.
    private func failureOfMessage(_ code: CURLcode, _ place: String) -> CurlFailure? {
        let options = submission.options
        if isTooLarge || code == CURLE_FILESIZE_EXCEEDED {
            return CurlFailure(
                kind: .tooLarge,
                detail: "the body is larger than the limit of \(bodyLimit) bytes"
                    + (bodyLimit == options.maximumBodySize ? setting("largest_body") : ""),
                answer: isHeadComplete ? answer([]) : nil)
        }
        if isHeadTooLarge {
            return CurlFailure(
                kind: .tooLarge,
                detail:
                    "more than \(options.maximumHeaderFields) header fields, or more than \(options.maximumHeaderSize) bytes of them"
            )
        }
        if let malformedLength {
            return CurlFailure(
                kind: .protocol,
                detail: "invalid HTTP from \(place): malformed Content-Length: \(malformedLength.excerpt)")
        }
        switch codingProblem {
        case .unsupportedTransfer(let coding):
            return CurlFailure(
                kind: .protocol,
                detail: "invalid HTTP from \(place): unsupported Transfer-Encoding: \(coding.excerpt)",
                answer: answer([]))
        case .unsupported(let coding) where code == CURLE_WRITE_ERROR:
            return CurlFailure(
                kind: .protocol,
                detail: "invalid HTTP from \(place): unsupported Content-Encoding: \(coding.excerpt)",
                answer: answer([]))
        case .malformed(let coding):
            return CurlFailure(
                kind: .protocol, detail: "invalid HTTP from \(place): the content is not valid \(coding)",
                answer: answer([]))
        default: return nil
        }
    }
}
