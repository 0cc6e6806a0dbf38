// Runs `tarn` on a real pseudo-terminal of 60 columns and 24 lines.

import Foundation
import TestSupport

enum Terminal {
    private static let script = """
        import fcntl, os, pty, struct, sys, termios
        master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack('HHHH', 24, 60, 0, 0))
        mode = termios.tcgetattr(slave)
        mode[1] &= ~termios.OPOST
        termios.tcsetattr(slave, termios.TCSANOW, mode)
        child = os.fork()
        if child == 0:
            if os.environ.get('CONTROLLING'):
                os.setsid()
                fcntl.ioctl(slave, termios.TIOCSCTTY, 0)
                os.dup2(slave, 0)
            os.dup2(slave, 2)
            os.dup2(os.open(sys.argv[1], os.O_WRONLY | os.O_CREAT) if sys.argv[1] else slave, 1)
            os.execv(sys.argv[2], sys.argv[2:])
        os.close(slave)
        seen = b''
        while True:
            try:
                piece = os.read(master, 65536)
            except OSError:
                break
            if not piece:
                break
            seen += piece
        status = os.waitpid(child, 0)[1]
        sys.stdout.buffer.write(seen)
        sys.exit(os.waitstatus_to_exitcode(status))
        """

    /// Runs a command with standard error on the terminal, and standard output too if it is not to
    /// go to a file.
    ///
    /// - Returns: what arrived on the terminal, as its output; line breaks are those that the
    ///   command wrote.
    ///
    /// - Parameter isControlling: whether the terminal is the process's own, as in a shell.
    static func run(
        _ arguments: [String], output: String = "", isControlling: Bool = false, environment: [String: String] = [:]
    ) async throws -> TarnProcess.Result {
        let folder = try TemporaryFolder()
        let file = try folder.write("terminal.py", script)
        return try await TarnProcess(
            ["python3", file, output, TarnProcess.executable] + arguments,
            environment: (isControlling ? ["CONTROLLING": "1", "TERM": "xterm"] : [:]).merging(environment) { $1 },
            program: "/usr/bin/env"
        ).end()
    }
}
