// The standard input: reading a line tells no error from its end.

import Foundation

enum StandardInput {
    /// Throws if the standard input cannot be read: it is closed, or a directory.
    static func require() throws(Failure) {
        // Without a byte to read.
        guard read(STDIN_FILENO, nil, 0) == 0 else {
            throw Failure(.failed, "standard input cannot be read: \(String(cString: strerror(errno)))")
        }
    }
}
