// The standard input: reading a line tells no error from its end.

import Foundation

enum StandardInput {
    /// Throws if the standard input cannot be read: it is closed, or a directory. From then on,
    /// reading waits for the next line.
    static func require() throws(Failure) {
        // Without a byte to read.
        guard read(STDIN_FILENO, nil, 0) == 0 else {
            throw Failure(.failed, "standard input cannot be read: \(String(cString: strerror(errno)))")
        }
        let flags = fcntl(STDIN_FILENO, F_GETFL)
        // Set by a program that shares the pipe: a line that is not there yet would be the end.
        guard flags >= 0, flags & O_NONBLOCK != 0 else { return }
        var status = stat()
        guard fstat(STDIN_FILENO, &status) == 0, status.st_mode & S_IFMT != S_IFREG else { return }
        // The link opens the pipe or the terminal anew (proc_pid_fd(5)), and a socket not at all.
        // To open a named pipe that all writers have closed would wait for another one.
        let own = open("/proc/self/fd/\(STDIN_FILENO)", O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
        guard own >= 0 else {
            _ = fcntl(STDIN_FILENO, F_SETFL, flags & ~O_NONBLOCK)
            return
        }
        _ = fcntl(own, F_SETFL, fcntl(own, F_GETFL) & ~O_NONBLOCK)
        dup2(own, STDIN_FILENO)
        close(own)
    }
}
