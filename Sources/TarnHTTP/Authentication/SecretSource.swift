import Foundation

/// Where a secret is kept. What stands in a description is this, and never the secret.
public enum SecretSource: Sendable, Hashable {
    /// An environment variable.
    case environment(String)
    /// A file in UTF-8; a line break at its end is not part of the secret.
    case file(String)
    /// A program and its arguments, without a shell: what it prints, but for a line break at the end. It has 30 seconds.
    case command([String])
    /// Made by code.
    case value(Secret)

    /// What the source is called in errors.
    public var place: String {
        switch self {
        case .environment(let name): "the environment variable \(name)"
        case .file(let path): "the file \(path)"
        case .command(let words): "the command \(words.first ?? "")"
        case .value: "the program"
        }
    }

    /// Reads the secret. Blocks as long as a command runs.
    ///
    /// - Throws: `SecretError` if there is none, or if it has characters that no header field can hold.
    public func read(environment: [String: String]) throws(SecretError) -> Secret {
        let text: String
        switch self {
        case .environment(let name):
            guard let value = environment[name], !value.isEmpty else { throw SecretError(self, "is not set") }
            text = value
        case .file(let path): text = try SecretSource.text(try SecretSource.bytes(ofFile: path, self), self)
        case .command(let words): text = try SecretSource.text(try SecretCommand.run(words, self), self)
        case .value(let secret): text = secret.exposed
        }
        guard !text.isEmpty else { throw SecretError(self, "holds nothing") }
        guard text.unicodeScalars.allSatisfy({ $0.value >= 0x20 && $0.value != 0x7F }) else {
            throw SecretError(self, "holds more than one line, or control characters")
        }
        return Secret(text)
    }

    /// Whether another read may give another secret.
    var mayChange: Bool {
        switch self {
        case .file, .command: true
        case .environment, .value: false
        }
    }

    private static let sizeLimit = 64 << 10

    private static func bytes(ofFile path: String, _ source: SecretSource) throws(SecretError) -> Data {
        guard let file = FileHandle(forReadingAtPath: path) else {
            throw SecretError(source, FileManager.default.fileExists(atPath: path) ? "may not be read" : "does not exist")
        }
        defer { try? file.close() }
        do {
            return try file.read(upToCount: sizeLimit + 1) ?? Data()
        } catch {
            throw SecretError(source, "cannot be read")
        }
    }

    private static func text(_ data: Data, _ source: SecretSource) throws(SecretError) -> String {
        guard data.count <= sizeLimit else { throw SecretError(source, "holds more than 64 KiB: that is no secret") }
        guard var text = String(validating: data, as: UTF8.self) else { throw SecretError(source, "is not UTF-8") }
        // One scalar at a time: "\r\n" is one character.
        if text.unicodeScalars.last == "\n" { text.unicodeScalars.removeLast() }
        if text.unicodeScalars.last == "\r" { text.unicodeScalars.removeLast() }
        return text
    }
}

/// A program that prints a secret.
private enum SecretCommand {
    static func run(_ words: [String], _ source: SecretSource) throws(SecretError) -> Data {
        guard let program = words.first else { throw SecretError(source, "is empty") }
        let process = Process(), output = Pipe()
        // The path is searched as a shell would, without one.
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = ["--", program] + words.dropFirst()
        process.standardOutput = output
        // What it says of its failure may hold what nobody should read.
        process.standardError = FileHandle.nullDevice
        process.standardInput = FileHandle.nullDevice
        do { try process.run() } catch { throw SecretError(source, "cannot be run") }
        let late = DispatchWorkItem { process.terminate() }
        DispatchQueue.global().asyncAfter(deadline: .now() + 30, execute: late)
        let data = (try? output.fileHandleForReading.readToEnd()) ?? Data()
        process.waitUntilExit()
        late.cancel()
        guard process.terminationReason == .exit else { throw SecretError(source, "was ended, after 30 seconds or by a signal") }
        switch process.terminationStatus {
        case 0: return data
        case 127: throw SecretError(source, "does not exist")
        case let status: throw SecretError(source, "failed with status \(status)")
        }
    }
}
