import Foundation

/// The source of a secret. A description holds the source, never the secret.
public enum SecretSource: Sendable, Hashable {
    /// An environment variable.
    case environment(String)
    /// A file in UTF-8. A line break at its end is not part of the secret.
    case file(String)
    /// A program and its arguments, run without a shell.
    ///
    /// Its standard output is the secret, without a line break at the end. It is terminated after
    /// 30 seconds.
    case command([String])
    /// A secret from code.
    case value(Secret)

    /// The name of the source in errors.
    package var place: String {
        switch self {
        case .environment(let name): "the environment variable \(name)"
        case .file(let path): "the file \(path)"
        case .command(let words): "the command \(words.first ?? "")"
        case .value: "the program"
        }
    }

    /// Reads the secret. Blocks until a command ends.
    ///
    /// - Throws: `SecretError` if there is no secret, or if it has characters that no header field
    ///   can hold.
    package func read(environment: [String: String]) throws(SecretError) -> Secret {
        let text: String
        switch self {
        case .environment(let name):
            guard let value = environment[name], !value.isEmpty else { throw SecretError(self, "is not set") }
            text = value
        case .file(let path): text = try SecretSource.text(try SecretSource.bytes(ofFile: path, self), self)
        case .command(let words): text = try SecretSource.text(try SecretCommand.run(words, self), self)
        case .value(let secret): text = secret.exposed
        }
        guard !text.isEmpty else { throw SecretError(self, "is empty") }
        guard text.unicodeScalars.allSatisfy({ $0.value >= 0x20 && $0.value != 0x7F }) else {
            throw SecretError(self, "contains several lines or control characters")
        }
        return Secret(text)
    }

    /// Whether another read may return another secret.
    var mayChange: Bool {
        switch self {
        case .file, .command: true
        case .environment, .value: false
        }
    }

    /// The maximum size of a secret, in bytes.
    private static let sizeLimit = 64 << 10

    /// Reads a file, up to one byte more than `sizeLimit`.
    private static func bytes(ofFile path: String, _ source: SecretSource) throws(SecretError) -> Data {
        guard let file = FileHandle(forReadingAtPath: path) else {
            throw SecretError(
                source,
                FileManager.default.fileExists(atPath: path) ? "cannot be read: permission denied" : "does not exist")
        }
        defer { try? file.close() }
        do {
            return try file.read(upToCount: sizeLimit + 1) ?? Data()
        } catch {
            throw SecretError(source, "cannot be read")
        }
    }

    /// Returns the secret of a source's bytes, without a line break at its end.
    private static func text(_ data: Data, _ source: SecretSource) throws(SecretError) -> String {
        guard data.count <= sizeLimit else {
            throw SecretError(source, "contains more than 64 KiB, too much for a secret")
        }
        guard var text = String(validating: data, as: UTF8.self) else { throw SecretError(source, "is not UTF-8") }
        // One scalar at a time: Swift counts "\r\n" as one character.
        if text.unicodeScalars.last == "\n" { text.unicodeScalars.removeLast() }
        if text.unicodeScalars.last == "\r" { text.unicodeScalars.removeLast() }
        return text
    }
}

/// A program that prints a secret.
private enum SecretCommand {
    /// Runs the program and returns its standard output.
    static func run(_ words: [String], _ source: SecretSource) throws(SecretError) -> Data {
        guard let program = words.first else { throw SecretError(source, "is empty") }
        let process = Process(), output = Pipe()
        // `env` searches PATH without a shell.
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = ["--", program] + words.dropFirst()
        process.standardOutput = output
        // Error messages of the program may hold a secret.
        process.standardError = FileHandle.nullDevice
        process.standardInput = FileHandle.nullDevice
        do { try process.run() } catch { throw SecretError(source, "cannot be run") }
        let late = DispatchWorkItem { process.terminate() }
        DispatchQueue.global().asyncAfter(deadline: .now() + 30, execute: late)
        let data = (try? output.fileHandleForReading.readToEnd()) ?? Data()
        process.waitUntilExit()
        late.cancel()
        guard process.terminationReason == .exit else {
            throw SecretError(source, "was terminated, after 30 seconds or by a signal")
        }
        switch process.terminationStatus {
        case 0: return data
        case 127: throw SecretError(source, "does not exist")
        case let status: throw SecretError(source, "failed with status \(status)")
        }
    }
}
