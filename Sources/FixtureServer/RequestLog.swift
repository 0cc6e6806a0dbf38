// The request log: one line a request, written at once, so that tests can count requests meanwhile.

import Glibc

struct RequestLog: Sendable {
    private let descriptor: Int32?

    /// Opens a log; without a path, lines are discarded.
    init(path: String?) throws(SocketError) {
        guard let path else {
            descriptor = nil
            return
        }
        let opened = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0o644)
        guard opened >= 0 else { throw SocketError("cannot write the log \(path)") }
        descriptor = opened
    }

    /// Appends a line in one write, with O_APPEND: lines of several threads do not mix.
    func append(_ line: String) {
        guard let descriptor else { return }
        let bytes = Array(line.utf8)
        _ = Glibc.write(descriptor, bytes, bytes.count)
    }
}
