// The contents of bodies and files, as JSON.

import Foundation
import Tarn

extension Sampler {
    /// The maximum size of a body that is looked at, in bytes.
    private static let bodyLimit = 64 << 20

    /// Parses a body.
    package static func parse(_ body: [UInt8], name: String) throws(SampleError) -> JSONValue {
        guard body.count <= bodyLimit else { throw .notJSON(name, reason: "larger than 64 MiB") }
        guard let text = String(validating: body, as: UTF8.self) else { throw .notJSON(name, reason: "invalid UTF-8") }
        do throws(ImportError) { return try JSONValue(text) } catch {
            throw .notJSON(name, reason: isLines(text) ? linesReason : "\(error)")
        }
    }

    private static let linesReason =
        "it has a JSON document in each line: give the URL of the server, whose lines a sync takes (format: lines), or store the lines with `tarn store import`"

    /// Whether a text has objects in its first two lines.
    private static func isLines(_ text: String) -> Bool {
        let lines = text.split(maxSplits: 2, whereSeparator: \.isNewline).prefix(2)
        return lines.count == 2
            && lines.allSatisfy { line in
                guard case .object? = try? JSONValue(String(line)) else { return false }
                return true
            }
    }

    /// Reads a file of at most 64 MiB.
    package static func contents(ofFile path: String) throws(SampleError) -> [UInt8] {
        var status = stat()
        guard stat(path, &status) == 0 else {
            let code = errno
            throw .unreadable(
                path,
                reason: [ENOENT, ENOTDIR].contains(code)
                    ? "no such file, and no http or https URL"
                    : "cannot read the file: \(String(cString: strerror(code)))")
        }
        guard status.st_mode & S_IFMT != S_IFDIR else {
            throw .unreadable(path, reason: "is a directory: name a file in it")
        }
        let data: Data
        do {
            let handle = try FileHandle(forReadingFrom: URL(fileURLWithPath: path))
            defer { try? handle.close() }
            // Nil at the end of an empty file.
            data = try handle.read(upToCount: bodyLimit + 1) ?? Data()
        } catch {
            throw .unreadable(path, reason: "cannot read the file: \(reason(error))")
        }
        guard !data.isEmpty else { throw .unreadable(path, reason: "the file is empty") }
        guard data.count <= bodyLimit else { throw .unreadable(path, reason: "larger than 64 MiB") }
        return [UInt8](data)
    }

    /// Returns the reason of an error of the file system, without the path.
    private static func reason(_ error: any Error) -> String {
        let known = error as NSError
        let cause = known.userInfo[NSUnderlyingErrorKey].flatMap { $0 as? any Error }.map { $0 as NSError } ?? known
        return cause.domain == NSPOSIXErrorDomain
            ? String(cString: strerror(Int32(cause.code))) : cause.localizedDescription
    }
}
