// A transport without a network: its responses are recorded files.

/// A transport whose responses are a directory of recordings (`*.http`; see `fixtures/README.md`).
///
/// Requests are matched in three steps:
/// 1. by method and target (path and query);
/// 2. by the same path with the same query parameters in any order;
/// 3. by the most specific target with placeholders.
///
/// `If-None-Match` is evaluated: if the ETag of a recorded 200 matches, the response is a 304. A
/// request without a recording is an error (`.noFixture`), not a 404: a 404 can be recorded.
public struct FixtureTransport: Transport {
    private let library: RecordingLibrary
    private let base: HTTPURL?
    private let faults: FixtureFaults
    private let time: TimeSource

    /// Creates a transport and reads all recordings.
    ///
    /// - Parameters:
    ///   - directory: the directory of the recordings.
    ///   - base: if given, only URLs of its origin are answered, as if the recordings were that
    ///     server.
    ///   - faults: the injected faults.
    /// - Throws: `RecordingError` for an invalid recording, including one whose body is compressed.
    public init(
        directory: String, base: String? = nil, faults: [FixtureFault] = [], time: TimeSource = .system
    ) throws(RecordingError) {
        self.faults = FixtureFaults(faults)
        self.time = time
        library = try RecordingLibrary(directory: directory)
        for recording in library.recordings {
            if let coding = recording.headers["Content-Encoding"], !TransportHeaders.same(coding, "identity") {
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

    /// Returns the recorded response to a request, after the faults that affect it.
    public func send(_ request: TransportRequest) async throws(TransportError) -> TransportResponse {
        func error(_ kind: TransportError.Kind, _ detail: String) -> TransportError {
            self.error(request, kind, detail)
        }
        if Task.isCancelled { throw error(.cancelled, "the task was cancelled") }
        let url: HTTPURL
        do throws(HTTPURLError) { url = try HTTPURL(request.url) } catch let problem {
            throw error(.url, problem.reason)
        }
        if let base, !url.hasSameOrigin(as: base) { throw error(.noFixture, "the recordings are for \(base.origin)") }
        for fault in faults.next(for: url.target) {
            switch fault {
            case .delay(let duration):
                do { try await time.sleep(duration) } catch {
                    throw self.error(request, .cancelled, "the task was cancelled")
                }
            case .failure(let kind): throw error(kind, "injected fault")
            case .status(let status, let headers):
                return TransportResponse(
                    status: status, headers: headers, body: Array(#"{"message":"injected fault"}"#.utf8))
            }
        }
        let found: RecordedAnswer?
        do throws(RecordingError) {
            found = try library.answer(
                method: request.method, target: url.target, headers: request.headers, body: request.body)
        } catch let problem {
            throw error(.noFixture, "\(problem)")
        }
        guard let answer = found else { throw error(.noFixture, "no recording of this request") }
        return TransportResponse(status: answer.status, headers: answer.headers, body: answer.content)
    }

    private func error(_ request: TransportRequest, _ kind: TransportError.Kind, _ detail: String) -> TransportError {
        TransportError(kind, method: request.method, url: request.url, detail: detail)
    }
}
