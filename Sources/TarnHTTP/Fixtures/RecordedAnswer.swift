/// The recorded response to one request, ready to be sent.
package struct RecordedAnswer: Sendable {
    package var status: Int
    package var statusLine: String
    package var fieldLines: [String]
    package var headers: TransportHeaders
    /// The body as on the wire.
    package var body: [UInt8]
    /// The body without transfer coding.
    package var content: [UInt8]
    /// The length that the head must declare although the recording does not; nil if there is none.
    package var undeclaredLength: Int?

    init(_ recording: Recording, withBody: Bool) {
        status = recording.status
        statusLine = recording.statusLine
        fieldLines = recording.fieldLines
        headers = recording.headers
        body = withBody ? recording.body : []
        content = withBody ? recording.content : []
        let isDeclared = headers["Content-Length"] != nil || headers["Transfer-Encoding"] != nil
        let hasNoBody = recording.method == "HEAD" || status == 204 || status == 304
        undeclaredLength = isDeclared || hasNoBody ? nil : recording.body.count
    }

    /// Creates a 304 from a recording, without header fields about the body (RFC 9110 §15.4.5).
    init(notModified recording: Recording) {
        status = 304
        statusLine = "HTTP/1.1 304 Not Modified"
        let keeps = recording.headers.fields.map { field in
            !["Content-Length", "Content-Type", "Transfer-Encoding"].contains { TransportHeaders.same($0, field.name) }
        }
        fieldLines = zip(recording.fieldLines, keeps).filter(\.1).map(\.0)
        headers = TransportHeaders(zip(recording.headers.fields, keeps).filter(\.1).map(\.0))
        body = []
        content = []
        undeclaredLength = nil
    }
}
