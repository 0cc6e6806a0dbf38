// A transport without a network: it answers from recorded files.

/// Answers requests from a directory of recordings (`*.http`; the format is described in `fixtures/README.md`).
///
/// A request is matched by method and target (path and query) of its URL; if nothing matches exactly, by the same path
/// with the same query parameters in any order. `If-None-Match` is honoured: a recorded 200 whose ETag matches is answered 304.
/// A request for which there is no recording is an error (`.noFixture`), not a 404: a recorded 404 is a recording.
public struct FixtureTransport: Transport {
    private let library: RecordingLibrary
    private let base: HTTPURL?

    /// - Parameters:
    ///   - directory: holds the recordings; all of them are read now.
    ///   - base: if given, only URLs of its origin are answered, as if the recordings were that server.
    /// - Throws: `RecordingError` for a recording that cannot be used, among them one whose body is compressed.
    public init(directory: String, base: String? = nil) throws(RecordingError) {
        library = try RecordingLibrary(directory: directory)
        for recording in library.recordings {
            if let coding = recording.headers["Content-Encoding"], !HTTPHeaders.same(coding, "identity") {
                throw RecordingError(
                    file: recording.file, "the body is compressed (\(coding)): record it without Content-Encoding")
            }
        }
        do throws(HTTPURLError) {
            self.base = if let base { try HTTPURL(base) } else { nil }
        } catch {
            throw RecordingError(file: directory, "\(error)")
        }
    }

    public func send(_ request: HTTPRequest) async throws(TransportError) -> HTTPResponse {
        func error(_ kind: TransportError.Kind, _ detail: String) -> TransportError {
            TransportError(kind, method: request.method, url: request.url, detail: detail)
        }
        if Task.isCancelled { throw error(.cancelled, "the task was cancelled") }
        let url: HTTPURL
        do throws(HTTPURLError) { url = try HTTPURL(request.url) } catch let problem {
            throw error(.url, problem.reason)
        }
        if let base, !url.hasSameOrigin(as: base) { throw error(.noFixture, "the recordings are of \(base.origin)") }
        guard let answer = library.answer(method: request.method, target: url.target, headers: request.headers) else {
            throw error(.noFixture, "there is no recording of this request")
        }
        return HTTPResponse(status: answer.status, headers: answer.headers, body: answer.content)
    }
}
