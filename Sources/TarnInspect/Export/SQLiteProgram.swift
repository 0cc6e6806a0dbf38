// The program `sqlite3` as a child, which reads statements from its standard input.
//
// Tarn does not link SQLite: only this export writes a database of it, and every system that wants
// one has the program.

import Foundation
import Glibc

/// A running `sqlite3`. Its standard input is a socket: writing to a program that has ended is an
/// error, and no signal.
final class SQLiteProgram {
    /// The failure of the program: it is not there, or it ended with a message.
    package struct Failure: Error, CustomStringConvertible {
        package var description: String
    }

    private let process = Process()
    private let messages = Pipe()
    /// The path that the database gets when it is complete, for errors.
    private let path: String
    private var descriptor: Int32 = -1
    private var buffer: [UInt8] = []

    /// Starts the program on a database.
    ///
    /// - Parameter path: the path that the database gets when it is complete.
    init(database: String, path: String) throws(Failure) {
        self.path = path
        var ends: [Int32] = [-1, -1]
        guard socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0, &ends) == 0 else {
            throw Failure(description: "no socket: \(String(cString: strerror(errno)))")
        }
        descriptor = ends[1]
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        // A name that begins with a hyphen would be an option.
        let file = database.hasPrefix("-") ? "./\(database)" : database
        // The user's `~/.sqliterc` may open another database, or fail.
        process.arguments = ["sqlite3", "-batch", "-bail", "-init", "/dev/null", file]
        process.standardInput = FileHandle(fileDescriptor: ends[0], closeOnDealloc: false)
        process.standardOutput = FileHandle.nullDevice
        process.standardError = messages
        defer { close(ends[0]) }
        do { try process.run() } catch {
            throw Failure(description: "the program env does not start: \(error)")
        }
    }

    deinit { if descriptor >= 0 { close(descriptor) } }

    /// Sends a statement.
    func send(_ line: String) throws(Failure) {
        buffer += line.utf8
        buffer.append(UInt8(ascii: "\n"))
        if buffer.count > 1 << 18 { try flush() }
    }

    private func flush() throws(Failure) {
        var sent = 0
        while sent < buffer.count {
            let count = buffer.withUnsafeBytes { bytes in
                Glibc.send(descriptor, bytes.baseAddress?.advanced(by: sent), bytes.count - sent, Int32(MSG_NOSIGNAL))
            }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else {
                try end()
                throw Failure(description: "\(path): sqlite3 ended before it had read everything")
            }
            sent += count
        }
        buffer.removeAll(keepingCapacity: true)
    }

    /// Sends the rest and waits for the end of the program.
    func finish() throws(Failure) {
        try flush()
        try end()
    }

    private func end() throws(Failure) {
        if descriptor >= 0 { close(descriptor) }
        descriptor = -1
        let text = String(decoding: messages.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        guard process.terminationStatus != 0 else { return }
        throw Failure(
            description: process.terminationStatus == 127
                ? "the program sqlite3 is not installed: install it, or use --sql"
                : "\(path): sqlite3: \(text.prefix(500).trimmingCharacters(in: .whitespacesAndNewlines))")
    }
}
