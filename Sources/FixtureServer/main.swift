// A local API server on raw sockets with recorded responses, for the demo, the tests and
// benchmarks.

import Foundation
import Glibc
import TarnHTTP

func fail(_ message: String, status: Int32) -> Never {
    FileHandle.standardError.write(Data("FixtureServer: \(message)\n".utf8))
    exit(status)
}

func write(port: UInt16, to path: String) {
    let temporary = path + ".\(getpid()).tmp"
    do {
        try Data("\(port)\n".utf8).write(to: URL(fileURLWithPath: temporary))
    } catch {
        fail("cannot write the port file \(path)", status: 1)
    }
    // Renamed into place: a reader sees either no file or the complete one.
    guard rename(temporary, path) == 0 else { fail("cannot write the port file \(path)", status: 1) }
}

/// Ends the process with status 0 on SIGTERM and SIGINT.
func endOnSignals() {
    // Blocked before any other thread starts, so that only sigwait receives them.
    var signals = sigset_t()
    sigemptyset(&signals)
    sigaddset(&signals, SIGTERM)
    sigaddset(&signals, SIGINT)
    pthread_sigmask(SIG_BLOCK, &signals, nil)
    Thread.detachNewThread {
        var signals = sigset_t()
        sigemptyset(&signals)
        sigaddset(&signals, SIGTERM)
        sigaddset(&signals, SIGINT)
        var signal: Int32 = 0
        while sigwait(&signals, &signal) != 0 {}
        // `_exit` instead of `exit`: other threads are still working.
        _exit(0)
    }
}

/// Ends the process with status 0 at the end of standard input: the parent process has ended.
func endWithStandardInput() {
    Thread.detachNewThread {
        var byte: UInt8 = 0
        while true {
            let count = read(STDIN_FILENO, &byte, 1)
            if count == 0 || count < 0 && errno != EINTR { _exit(0) }
        }
    }
}

let commandLine = Array(CommandLine.arguments.dropFirst())
if commandLine.contains("--help") || commandLine.contains("-h") {
    print(Arguments.usage)
    exit(0)
}
do {
    let arguments = try Arguments(commandLine)
    let library = try RecordingLibrary(directory: arguments.directory)
    let log = try RequestLog(path: arguments.logFile)
    let faults = FaultPlan(arguments.faults)
    let listener = try Listener(port: arguments.port)
    endOnSignals()
    if let portFile = arguments.portFile { write(port: listener.port, to: portFile) }
    FileHandle.standardOutput.write(Data("listening on http://127.0.0.1:\(listener.port)\n".utf8))
    if arguments.endsWithStandardInput { endWithStandardInput() }
    var count = 0
    while true {
        let socket = try listener.accept()
        count += 1
        let connection = Connection(
            socket: socket, number: count, library: library, faults: faults, log: log, latency: arguments.latency)
        Thread.detachNewThread { connection.serve() }
    }
} catch let error as UsageError {
    fail("\(error)\nSee FixtureServer --help.", status: 2)
} catch {
    fail("\(error)", status: 1)
}
