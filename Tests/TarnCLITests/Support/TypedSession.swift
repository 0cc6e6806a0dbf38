// A session of `tarn` on a pseudo-terminal, to which keys are sent as a person types them.

import Foundation
import TestSupport

/// A program on a terminal of 80 columns; each step waits for a text, then sends keys.
struct TypedSession {
    private static let script = #"""
        import fcntl, json, os, pty, re, select, struct, sys, termios, time
        steps = json.loads(sys.argv[1])
        child, master = pty.fork()
        if child == 0:
            os.environ.update(TERM=os.environ.get('SESSION_TERM', 'xterm'))
            os.execv(sys.argv[2], sys.argv[2:])
        fcntl.ioctl(master, termios.TIOCSWINSZ, struct.pack('HHHH', 24, 80, 0, 0))
        seen, start = b'', 0
        for pattern, keys in steps:
            end = time.time() + 20
            while time.time() < end:
                found = re.search(pattern.encode(), seen[start:], re.S)
                if found:
                    start += found.end()
                    break
                if select.select([master], [], [], 0.2)[0]:
                    try:
                        seen += os.read(master, 65536)
                    except OSError:
                        break
            else:
                print('MISSING', repr(pattern), repr(seen[start:]))
                os.kill(child, 9)
                break
            if keys.startswith('\0'):
                time.sleep(2)
            os.write(master, keys.lstrip('\0').encode())
        end = time.time() + 20
        while True:
            if not select.select([master], [], [], max(0, end - time.time()))[0]:
                print('MISSING the end')
                os.kill(child, 9)
            try:
                piece = os.read(master, 65536)
            except OSError:
                break
            if not piece:
                break
            seen += piece
        status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        sys.stdout.write(seen.decode('utf8', 'replace'))
        sys.exit(status)
        """#

    /// A text to wait for, as a regular expression, and the keys to send then; with a NUL before
    /// them, two seconds later.
    typealias Step = (wait: String, keys: String)

    /// Runs `tarn` with the steps.
    ///
    /// - Parameter environment: with `SESSION_TERM`, the type of the terminal (default: `xterm`).
    /// - Returns: All that appeared on the terminal, and the exit code.
    static func run(
        _ arguments: [String], _ steps: [Step], environment: [String: String] = [:]
    ) async throws -> TarnProcess.Result {
        let folder = try TemporaryFolder(), file = try folder.write("session.py", script)
        let text = String(decoding: try JSONEncoder().encode(steps.map { [$0.wait, $0.keys] }), as: UTF8.self)
        return try await TarnProcess(
            ["python3", file, text, TarnProcess.executable] + arguments, environment: environment,
            program: "/usr/bin/env"
        ).end()
    }
}
