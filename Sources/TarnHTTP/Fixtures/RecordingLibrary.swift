// A directory of recordings, and which of them answers a request. FixtureTransport and FixtureServer share this rule.

import Foundation

/// The recordings of one directory.
///
/// A request is matched by method and exact target; if nothing matches, by the same path with the same query parameters
/// in any order; else by a target with placeholders, of which the most specific one counts: the one with the fewest placeholders, then the
/// one with the most other text. Two that are equally specific are an error. HEAD is answered from the recording of GET, unless there is one of its own.
package struct RecordingLibrary: Sendable {
    package let recordings: [Recording]
    private let byTarget: [String: Int]
    private let byParameters: [String: Int]
    private let patterns: [TargetPattern]

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
        var patterns: [TargetPattern] = []
        for (index, recording) in recordings.enumerated() {
            if recording.target.utf8.contains(where: { $0 == UInt8(ascii: "{") || $0 == UInt8(ascii: "}") }) {
                guard let pattern = TargetPattern(recording, index) else {
                    throw RecordingError(
                        file: recording.file, line: 1, "a placeholder is written {name}; {?name*} or {&name*} may stand at the end")
                }
                patterns.append(pattern)
            }
            let exact = RecordingLibrary.key(recording.method, recording.target, recording.bodyDigest)
            if let other = byTarget[exact] {
                throw RecordingError(
                    file: recording.file, line: 1, "the same request as in \(recordings[other].file): \(exact)")
            }
            byTarget[exact] = index
            let sorted = RecordingLibrary.key(recording.method, Self.sortingParameters(of: recording.target), recording.bodyDigest)
            if byParameters[sorted] == nil { byParameters[sorted] = index }
        }
        self.recordings = recordings
        self.byTarget = byTarget
        self.byParameters = byParameters
        self.patterns = patterns
    }

    private static func key(_ method: String, _ target: String, _ digest: String?) -> String {
        "\(method) \(target)" + (digest.map { " body=\($0)" } ?? "")
    }

    /// The recording that matches, or nil.
    ///
    /// - Throws: `RecordingError` if several do, and none is more specific than the others.
    package func recording(method: String, target: String, body: [UInt8]? = nil) throws(RecordingError) -> Recording? {
        let methods = method == "HEAD" ? ["HEAD", "GET"] : [method]
        // One that is about this body goes before one that is about any.
        let digests = body.map { [BodyDigest.text($0), nil] } ?? [nil]
        for method in methods {
            for digest in digests {
                if let index = byTarget[Self.key(method, target, digest)] { return recordings[index] }
            }
        }
        let sorted = Self.sortingParameters(of: target)
        for method in methods {
            for digest in digests {
                if let index = byParameters[Self.key(method, sorted, digest)] { return recordings[index] }
            }
        }
        for method in methods {
            for digest in digests {
                let found = patterns.filter { recordings[$0.index].method == method && recordings[$0.index].bodyDigest == digest && $0.matches(target) }
                guard let best = found.min(by: { $0.isMoreSpecific(than: $1) }) else { continue }
                if let other = found.first(where: { $0.index != best.index && !best.isMoreSpecific(than: $0) }) {
                    throw RecordingError(
                        file: recordings[best.index].file, line: 1,
                        "\(method) \(Redaction.url(target)) fits this target and that of \(recordings[other.index].file) equally well")
                }
                return recordings[best.index]
            }
        }
        return nil
    }

    /// What a server that holds the recordings answers, conditions taken into account; nil if nothing matches.
    package func answer(
        method: String, target: String, headers: HTTPHeaders, body: [UInt8]? = nil
    ) throws(RecordingError) -> RecordedAnswer? {
        guard let recording = try recording(method: method, target: target, body: body) else { return nil }
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
