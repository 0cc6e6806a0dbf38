// The lines of earlier sessions, in a file of the user.

import Foundation

/// The history of a line editor.
struct LineHistory {
    private var lines: [String] = []
    private let path: String?
    /// The index of the line that is shown; that of the draft is `lines.count`.
    private var position = 0
    private var draft = ""
    /// The most lines that are kept.
    private static let limit = 1000

    /// Reads the history from a file; nil for one that is not kept.
    init(path: String?) {
        self.path = path
        guard let path, let data = FileManager.default.contents(atPath: path) else { return }
        lines = String(decoding: data.suffix(1 << 20), as: UTF8.self).split(separator: "\n").suffix(LineHistory.limit)
            .map(String.init)
        position = lines.count
        guard data.count > 1 << 20 else { return }
        try? Data((lines.joined(separator: "\n") + "\n").utf8).write(to: URL(fileURLWithPath: path))
    }

    /// The path of the history file: `TARN_HISTORY`, else in the XDG state directory. Nil for none.
    static func path(_ environment: [String: String]) -> String? {
        if let path = environment["TARN_HISTORY"] { return path.isEmpty ? nil : path }
        // A text with U+FFFD stands for bytes that are not UTF-8, and would be another folder.
        func folder(_ name: String) -> String? {
            environment[name].flatMap { $0.hasPrefix("/") && !$0.unicodeScalars.contains("\u{FFFD}") ? $0 : nil }
        }
        if let state = folder("XDG_STATE_HOME") { return state + "/tarn/inspect-history" }
        return folder("HOME").map { $0 + "/.local/state/tarn/inspect-history" }
    }

    /// Adds a line, unless it repeats the last one or begins with a blank.
    mutating func add(_ line: String) {
        defer { position = lines.count }
        guard !line.isEmpty, line.first != " ", line != lines.last else { return }
        lines.append(line)
        if lines.count > LineHistory.limit { lines.removeFirst() }
        save(line)
    }

    /// Returns the line before the shown one that begins as the draft; nil if there is none.
    mutating func previous(_ shown: String) -> String? {
        if position == lines.count { draft = shown }
        guard let index = lines[..<position].lastIndex(where: { $0.hasPrefix(draft) }) else { return nil }
        position = index
        return lines[index]
    }

    /// Returns the line after the shown one that begins as the draft, at last the draft.
    mutating func next() -> String? {
        guard position < lines.count else { return nil }
        position = lines[(position + 1)...].firstIndex { $0.hasPrefix(draft) } ?? lines.count
        return position < lines.count ? lines[position] : draft
    }

    /// Appends a line to the file; a session without a writable file has a history of its own.
    private func save(_ line: String) {
        guard let path else { return }
        let directory = (path as NSString).deletingLastPathComponent
        try? FileManager.default.createDirectory(
            atPath: directory, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        // Values in conditions may be private.
        let file = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
        guard file >= 0 else { return }
        defer { close(file) }
        let bytes = Array((line + "\n").utf8)
        _ = bytes.withUnsafeBytes { Glibc.write(file, $0.baseAddress, $0.count) }
    }
}
