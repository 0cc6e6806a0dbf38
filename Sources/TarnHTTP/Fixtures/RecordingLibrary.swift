// A directory of recordings and its matching rule, which FixtureTransport and FixtureServer share.

import Foundation

/// The recordings of one directory.
///
/// Requests are matched in three steps:
/// 1. by method and exact target;
/// 2. by the same path with the same query parameters in any order;
/// 3. by the most specific target with placeholders: the one with the fewest placeholders, then the
///   one with the most literal text. Two equally specific ones are an error.
///
/// HEAD is answered from the recording of GET, unless it has its own.
package struct RecordingLibrary: Sendable {
    let recordings: [Recording]
    private let byTarget: [String: Int]
    private let byParameters: [String: Int]
    private let patterns: [TargetPattern]

    /// Reads every `*.http` file of a directory, in the order of their names.
    ///
    /// - Throws: `RecordingError` for a file that cannot be read or parsed, for two recordings of
    ///   the same request, and for a directory without recordings.
    package init(directory: String) throws(RecordingError) {
        let names: [String]
        do {
            names = try FileManager.default.contentsOfDirectory(atPath: directory)
        } catch {
            throw RecordingError(file: directory, "cannot read the directory of recordings", error)
        }
        var recordings: [Recording] = []
        for name in names.filter({ $0.hasSuffix(".http") }).sorted() {
            let path = directory.hasSuffix("/") ? directory + name : directory + "/" + name
            let data: Data
            do { data = try Data(contentsOf: URL(fileURLWithPath: path)) } catch {
                throw RecordingError(file: path, "cannot read the recording", error)
            }
            recordings.append(try Recording(parsing: Array(data), file: path))
        }
        guard !recordings.isEmpty else {
            throw RecordingError(file: directory, "no recordings: the directory has no .http files")
        }
        try self.init(recordings)
    }

    /// Creates a library from parsed recordings.
    package init(_ recordings: [Recording]) throws(RecordingError) {
        var byTarget: [String: Int] = [:]
        var byParameters: [String: Int] = [:]
        var patterns: [TargetPattern] = []
        for (index, recording) in recordings.enumerated() {
            if recording.target.utf8.contains(where: { $0 == UInt8(ascii: "{") || $0 == UInt8(ascii: "}") }) {
                guard let pattern = TargetPattern(recording, index) else {
                    throw RecordingError(
                        file: recording.file, line: 1,
                        "invalid placeholder: write {name}, and {?name*} or {&name*} only at the end")
                }
                patterns.append(pattern)
            }
            let exact = RecordingLibrary.key(recording.method, recording.target, recording.bodyDigest)
            if let other = byTarget[exact] {
                throw RecordingError(
                    file: recording.file, line: 1, "the same request as in \(recordings[other].file): \(exact)")
            }
            byTarget[exact] = index
            let sorted = RecordingLibrary.key(
                recording.method, Self.sortingParameters(of: recording.target), recording.bodyDigest)
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

    /// Returns the recording that matches a request, or nil.
    ///
    /// - Throws: `RecordingError` if several match and none is more specific than the others.
    package func recording(method: String, target: String, body: [UInt8]? = nil) throws(RecordingError) -> Recording? {
        let methods = method == "HEAD" ? ["HEAD", "GET"] : [method]
        // A recording of this body takes precedence over one of any body.
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
                let found = patterns.filter {
                    recordings[$0.index].method == method && recordings[$0.index].bodyDigest == digest
                        && $0.matches(target)
                }
                guard let best = found.min(by: { $0.isMoreSpecific(than: $1) }) else { continue }
                if let other = found.first(where: { $0.index != best.index && !best.isMoreSpecific(than: $0) }) {
                    throw RecordingError(
                        file: recordings[best.index].file, line: 1,
                        "\(method) \(Redaction.url(target)) matches this target and that of \(recordings[other.index].file) equally well"
                    )
                }
                return recordings[best.index]
            }
        }
        return nil
    }

    /// Returns the response of a server with these recordings, or nil if none matches.
    ///
    /// If-None-Match is evaluated.
    package func answer(
        method: String, target: String, headers: TransportHeaders, body: [UInt8]? = nil
    ) throws(RecordingError) -> RecordedAnswer? {
        guard let recording = try recording(method: method, target: target, body: body) else { return nil }
        // RFC 9110 §13.2.1: a precondition counts only if the response without it would be a
        // success.
        if method == "GET" || method == "HEAD", recording.status == 200,
            let condition = IfNoneMatch(headers.all("If-None-Match")),
            condition.holds(recording.headers["ETag"].flatMap(EntityTag.init))
        {
            return RecordedAnswer(notModified: recording)
        }
        return RecordedAnswer(recording, withBody: method != "HEAD")
    }

    /// Returns the target with its parameters sorted.
    private static func sortingParameters(of target: String) -> String {
        guard let mark = target.utf8.firstIndex(of: UInt8(ascii: "?")) else { return target }
        let parameters = target[target.index(after: mark)...].split(separator: "&", omittingEmptySubsequences: false)
        return target[...mark] + parameters.sorted().joined(separator: "&")
    }
}
