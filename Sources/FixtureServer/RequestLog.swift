// One line a request, appended at once, so that a test can count requests while the server runs.

import Glibc

struct RequestLog: Sendable {
    private let descriptor: Int32?

    /// A log that goes nowhere without a path.
    init(path: String?) throws(SocketError) {
        guard let path else {
            descriptor = nil
            return
        }
        let opened = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0o644)
        guard opened >= 0 else { throw SocketError("cannot write the log \(path)") }
        descriptor = opened
    }

    /// O_APPEND and a single write: lines of several threads do not mix.
    func append(_ line: String) {
        guard let descriptor else { return }
        let bytes = Array(line.utf8)
        _ = Glibc.write(descriptor, bytes, bytes.count)
    }
}
