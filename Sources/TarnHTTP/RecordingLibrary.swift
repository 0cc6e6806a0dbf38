// A directory of recordings, and which of them answers a request. FixtureTransport and FixtureServer share this rule.

import Foundation

/// The recordings of one directory.
///
/// A request is matched by method and exact target; if nothing matches, by the same path with the same query parameters
/// in any order. HEAD is answered from the recording of GET, unless there is one of its own.
package struct RecordingLibrary: Sendable {
    package let recordings: [Recording]
    private let byTarget: [String: Int]
    private let byParameters: [String: Int]

    /// Reads every `*.http` file of the directory, in the order of their names.
    ///
    /// - Throws: `RecordingError` for what cannot be read or parsed, for two recordings of the same request, and for a
    ///   directory without recordings.
    package init(directory: String) throws(RecordingError) {
        let names: [String]
        do {
            names = try FileManager.default.contentsOfDirectory(atPath: directory)
        } catch {
            throw RecordingError(file: directory, "the directory of recordings cannot be read")
        }
        var recordings: [Recording] = []
        for name in names.filter({ $0.hasSuffix(".http") }).sorted() {
            let path = directory.hasSuffix("/") ? directory + name : directory + "/" + name
            guard let data = FileManager.default.contents(atPath: path) else {
                throw RecordingError(file: path, "the recording cannot be read")
            }
            recordings.append(try Recording(parsing: Array(data), file: path))
        }
        guard !recordings.isEmpty else {
            throw RecordingError(file: directory, "the directory holds no recording: no file ends in .http")
        }
        try self.init(recordings)
    }

    package init(_ recordings: [Recording]) throws(RecordingError) {
        var byTarget: [String: Int] = [:]
        var byParameters: [String: Int] = [:]
        for (index, recording) in recordings.enumerated() {
            let exact = recording.method + " " + recording.target
            if let other = byTarget[exact] {
                throw RecordingError(
                    file: recording.file, line: 1, "the same request as in \(recordings[other].file): \(exact)")
            }
            byTarget[exact] = index
            let sorted = recording.method + " " + Self.sortingParameters(of: recording.target)
            if byParameters[sorted] == nil { byParameters[sorted] = index }
        }
        self.recordings = recordings
        self.byTarget = byTarget
        self.byParameters = byParameters
    }

    /// The recording that matches, or nil.
    package func recording(method: String, target: String) -> Recording? {
        let methods = method == "HEAD" ? ["HEAD", "GET"] : [method]
        for method in methods {
            if let index = byTarget[method + " " + target] { return recordings[index] }
        }
        let sorted = Self.sortingParameters(of: target)
        for method in methods {
            if let index = byParameters[method + " " + sorted] { return recordings[index] }
        }
        return nil
    }

    /// What a server that holds the recordings answers, conditions taken into account; nil if nothing matches.
    package func answer(method: String, target: String, headers: HTTPHeaders) -> RecordedAnswer? {
        guard let recording = recording(method: method, target: target) else { return nil }
        // RFC 9110 §13.2.1: a condition counts only where the answer without it would be a success.
        if method == "GET" || method == "HEAD", recording.status == 200,
            let condition = IfNoneMatch(headers.all("If-None-Match")),
            condition.holds(recording.headers["ETag"].flatMap(EntityTag.init))
        {
            return RecordedAnswer(notModified: recording)
        }
        return RecordedAnswer(recording, withBody: method != "HEAD")
    }

    private static func sortingParameters(of target: String) -> String {
        guard let mark = target.utf8.firstIndex(of: UInt8(ascii: "?")) else { return target }
        let parameters = target[target.index(after: mark)...].split(separator: "&", omittingEmptySubsequences: false)
        return target[...mark] + parameters.sorted().joined(separator: "&")
    }
}

/// The answer to one request, ready to be written.
package struct RecordedAnswer: Sendable {
    package var status: Int
    package var statusLine: String
    package var fieldLines: [String]
    package var headers: HTTPHeaders
    /// As on the wire.
    package var body: [UInt8]
    /// The body without transfer coding.
    package var content: [UInt8]
    /// The length that the head must declare although the recording does not, or nil.
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

    /// 304 with the recorded fields, without those that speak of a body (RFC 9110 §15.4.5).
    init(notModified recording: Recording) {
        status = 304
        statusLine = "HTTP/1.1 304 Not Modified"
        let keeps = recording.headers.fields.map { field in
            !["Content-Length", "Content-Type", "Transfer-Encoding"].contains { HTTPHeaders.same($0, field.name) }
        }
        fieldLines = zip(recording.fieldLines, keeps).filter(\.1).map(\.0)
        headers = HTTPHeaders(zip(recording.headers.fields, keeps).filter(\.1).map(\.0))
        body = []
        content = []
        undeclaredLength = nil
    }
}
