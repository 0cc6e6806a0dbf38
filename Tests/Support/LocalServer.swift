// The real FixtureServer as a child process, over recordings that a test writes.

import Foundation
import Glibc

/// A running FixtureServer; it ends with the last reference to it, or with this process.
package final class LocalServer: Sendable {
    package struct Failure: Error, CustomStringConvertible {
        package var description: String

        package init(description: String) { self.description = description }
    }

    package let processID: pid_t
    package let port: Int
    /// Holds the recordings, if the server wrote them, and the log.
    package let folder: String
    /// The write end of the child's standard input: its end is the child's end (`--until-eof`).
    private let lifeline: Int32

    /// `http://127.0.0.1:PORT`
    package var base: String { "http://127.0.0.1:\(port)" }

    /// Starts a server over recordings given as text, each as in a `.http` file.
    package convenience init(_ recordings: [String], _ arguments: String...) throws {
        try self.init(recordings, arguments)
    }

    package convenience init(_ recordings: [String], _ arguments: [String]) throws {
        let folder = try LocalServer.makeFolder()
        for (index, recording) in recordings.enumerated() {
            let name = String(repeating: "0", count: 4 - String(index).count) + "\(index).http"
            try Data(recording.utf8).write(to: URL(fileURLWithPath: folder + "/" + name))
        }
        try self.init(directory: folder, folder: folder, arguments)
    }

    /// Starts a server over a directory of recordings.
    package convenience init(directory: String, _ arguments: String...) throws {
        try self.init(directory: directory, folder: LocalServer.makeFolder(), arguments)
    }

    private init(directory: String, folder: String, _ arguments: [String]) throws {
        self.folder = folder
        let child = try LocalServer.spawn([directory, "--until-eof", "--log", folder + "/requests.log"] + arguments)
        processID = child.processID
        lifeline = child.input
        let line = child.firstLine()
        guard let colon = line.lastIndex(of: ":"), let port = Int(line[line.index(after: colon)...]) else {
            close(lifeline)
            kill(processID, SIGKILL)
            waitpid(processID, nil, 0)
            throw Failure(description: "FixtureServer did not start: \(line)")
        }
        self.port = port
    }

    deinit {
        close(lifeline)
        kill(processID, SIGTERM)
        waitpid(processID, nil, 0)
        try? FileManager.default.removeItem(atPath: folder)
    }

    /// The lines of the log: `METHOD TARGET STATUS [conditional] [fault=KIND] connection=N`.
    package var requests: [String] {
        let data = FileManager.default.contents(atPath: folder + "/requests.log") ?? Data()
        return String(decoding: data, as: UTF8.self).split(separator: "\n").map(String.init)
    }

    package static func makeFolder() throws -> String {
        let folder = FileManager.default.temporaryDirectory.path + "/tarn-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        return folder
    }

    /// Products lie beside the test runner.
    package static var executable: String {
        URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent().path + "/FixtureServer"
    }

    package struct Child {
        package var processID: pid_t
        /// Write end of its standard input.
        package var input: Int32
        /// Read end of its standard output and error.
        package var output: Int32

        /// Blocks until the child has printed a line or ended; closes the output.
        package func firstLine() -> String {
            defer { close(output) }
            var line: [UInt8] = []
            var byte: UInt8 = 0
            while true {
                let count = read(output, &byte, 1)
                if count < 0, errno == EINTR { continue }
                if count <= 0 || byte == UInt8(ascii: "\n") { return String(decoding: line, as: UTF8.self) }
                line.append(byte)
            }
        }

        /// Blocks until the child has ended: everything it printed, and its exit status (negative:
        /// a signal).
        package func end() -> (text: String, status: Int32) {
            close(input)
            var text: [UInt8] = []
            var buffer = [UInt8](repeating: 0, count: 4096)
            while true {
                let count = read(output, &buffer, buffer.count)
                if count < 0, errno == EINTR { continue }
                if count <= 0 { break }
                text += buffer[..<count]
            }
            close(output)
            var status: Int32 = 0
            waitpid(processID, &status, 0)
            let code = status & 0x7F == 0 ? (status >> 8) & 0xFF : -(status & 0x7F)
            return (String(decoding: text, as: UTF8.self), code)
        }
    }

    package static func spawn(_ arguments: [String], executable: String = LocalServer.executable) throws -> Child {
        func makePipe() throws -> (read: Int32, write: Int32) {
            var ends: [Int32] = [0, 0]
            guard pipe(&ends) == 0 else { throw Failure(description: "no pipe") }
            return (ends[0], ends[1])
        }
        let input = try makePipe()
        let output = try makePipe()
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        posix_spawn_file_actions_adddup2(&actions, input.read, 0)
        posix_spawn_file_actions_adddup2(&actions, output.write, 1)
        posix_spawn_file_actions_adddup2(&actions, output.write, 2)
        actions.closeInheritedFiles()
        var vector: [UnsafeMutablePointer<CChar>?] = ([executable] + arguments).map { strdup($0) } + [nil]
        defer {
            posix_spawn_file_actions_destroy(&actions)
            vector.forEach { free($0) }
            close(input.read)
            close(output.write)
        }
        var processID: pid_t = 0
        let status = posix_spawn(&processID, executable, &actions, nil, &vector, environ)
        guard status == 0 else {
            close(input.write)
            close(output.read)
            throw Failure(description: "\(executable): \(String(cString: strerror(status)))")
        }
        return Child(processID: processID, input: input.write, output: output.read)
    }
}
