// An interactive shell on a pseudo-terminal, which completes what a person types.

import Foundation
import TestSupport

/// A shell with the completions of `tarn`; each completion has a shell of its own.
struct InteractiveShell {
    private static let script = #"""
        import os, pty, re, select, sys, time
        shell, folder, typed = sys.argv[1:4]
        setups = {
            'bash': (['bash', '--norc', '--noprofile', '-i'], 'source <(tarn completions bash)'),
            'zsh': (['zsh', '-f', '-i'],
                'bindkey -e; autoload -Uz compinit; compinit -u -D; source <(tarn completions zsh)'),
            'fish': (['fish', '--no-config', '-i'], 'tarn completions fish | source'),
        }
        arguments, setup = setups[shell]
        child, master = pty.fork()
        if child == 0:
            os.chdir(folder)
            os.environ.update(HOME=folder, TERM='xterm', HISTFILE='/dev/null', INPUTRC='/dev/null')
            os.execvp(arguments[0], arguments)
        seen = b''
        def wait(pattern, seconds):
            global seen
            end = time.time() + seconds
            while not re.search(pattern, seen) and time.time() < end:
                if select.select([master], [], [], 0.2)[0]:
                    try:
                        seen += os.read(master, 65536)
                    except OSError:
                        return
        os.write(master, (setup + '; echo REA""DY\r').encode())
        wait(rb'READY\r?\n', 60)
        # The line as it is after Tab becomes the arguments of printf.
        os.write(master, typed.encode() + b'\t')
        wait(rb'never', 1.5)
        os.write(master, b"\x01printf '<%s>\\n' \x05 E''ND\r")
        wait(rb'<END>', 60)
        text = seen.decode('utf8', 'replace')
        if os.environ.get('SHOW'):
            sys.stderr.write(repr(text))
        print(chr(10).join(re.findall(r'<([^<>\r\n]*)>\r?\n', text)))
        os.close(master)
        """#

    private let name: String, folder: String

    init(_ name: String, in folder: String) throws {
        self.name = name
        self.folder = folder
        let programs = folder + "/programs"
        try FileManager.default.createDirectory(atPath: programs, withIntermediateDirectories: true)
        try FileManager.default.createSymbolicLink(
            atPath: programs + "/tarn", withDestinationPath: TarnProcess.executable)
        try InteractiveShell.script.write(toFile: programs + "/shell.py", atomically: true, encoding: .utf8)
    }

    /// The words of the command line after Tab at its end.
    func words(completing typed: String) async throws -> [String] {
        let path = folder + "/programs:" + (ProcessInfo.processInfo.environment["PATH"] ?? "")
        let result = try await TarnProcess(
            ["python3", folder + "/programs/shell.py", name, folder, typed], environment: ["PATH": path],
            program: "/usr/bin/env"
        ).end()
        return result.lines.filter { !$0.isEmpty && $0 != "END" }
    }
}
