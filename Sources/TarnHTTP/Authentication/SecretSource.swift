import Foundation

/// The source of a secret. A description holds the source, never the secret.
public enum SecretSource: Sendable, Hashable {
    /// An environment variable.
    case environment(String)
    /// A file in UTF-8. A byte order mark, and a line break at its end, are not part of the secret.
    case file(String)
    /// A program and its arguments, run without a shell.
    ///
    /// Its standard output is the secret, without a line break at the end. After 30 seconds, it is
    /// killed with its children.
    case command([String])
    /// A secret from code.
    case value(Secret)
    /// The login of a person (`tarn login`). Read as a secret, it is the identifier of the login.
    case login(LoginPlace)

    /// The name of the source in errors.
    package var place: String {
        switch self {
        case .environment(let name): "the environment variable \(name)"
        case .file(let path): "the file \(path)"
        case .command(let words): "the command \(words.first ?? "")"
        case .value: "the program"
        case .login: "the login"
        }
    }

    /// Reads the secret. Blocks until a command ends.
    ///
    /// - Throws: `SecretError` if there is no secret, or if it has characters that no header field
    ///   can hold.
    package func read(environment: [String: String]) throws(SecretError) -> Secret {
        try read(environment: environment, SecretCommand())
    }

    /// Reads the secret.
    ///
    /// - Parameters:
    ///   - command: runs the program, and can end it, or the wait for a pipe.
    ///   - lines: whether the secret may have several lines, as a private key in PEM does.
    func read(
        environment: [String: String], _ command: SecretCommand, lines: Bool = false
    ) throws(SecretError) -> Secret {
        let text: String
        switch self {
        case .environment(let name):
            guard let value = environment[name], !value.isEmpty else { throw SecretError(self, "is not set") }
            // Foundation's text has U+FFFD for other bytes.
            if value.unicodeScalars.contains("\u{FFFD}"), let bytes = getenv(name),
                String(validatingCString: bytes) == nil
            {
                throw SecretError(self, "is not UTF-8")
            }
            text = value
        case .file(let path): text = try SecretSource.text(try SecretSource.bytes(ofFile: path, self, command), self)
        case .command(let words):
            text = try SecretSource.text(
                try command.run(words, self, limit: SecretSource.sizeLimit), self)
        case .value(let secret): text = secret.exposed
        case .login(let place): text = try place.login(environment: environment).identifier
        }
        guard !text.isEmpty else { throw SecretError(self, "is empty") }
        guard
            text.unicodeScalars.allSatisfy({
                $0.value >= 0x20 && $0.value != 0x7F || lines && "\r\n\t".unicodeScalars.contains($0)
            })
        else {
            throw SecretError(self, "contains several lines or control characters")
        }
        return Secret(text)
    }

    /// Whether another read may return another secret.
    var mayChange: Bool {
        switch self {
        case .file, .command, .login: true
        case .environment, .value: false
        }
    }

    /// Whether the secret is what a program prints.
    var isCommand: Bool { if case .command = self { true } else { false } }

    /// Whether reading may wait for another program: for its output, or for its end of a pipe.
    var mayBlock: Bool {
        switch self {
        case .command: true
        case .file(let path): !SecretSource.isFile(path)
        case .environment, .value, .login: false
        }
    }

    /// Whether a path leads to a regular file.
    static func isFile(_ path: String) -> Bool {
        var status = stat()
        return stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
    }

    /// The maximum size of a secret, in bytes.
    private static let sizeLimit = 64 << 10

    /// Reads a file until its end, or beyond `sizeLimit`.
    ///
    /// - Parameter wait: ends the wait for the writer of a pipe.
    private static func bytes(
        ofFile path: String, _ source: SecretSource, _ wait: SecretCommand
    ) throws(SecretError) -> Data {
        // A pipe is open at once, also without a writer.
        let file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard file >= 0 else {
            let code = errno
            throw SecretError(source, [ENOENT, ENOTDIR].contains(code) ? "does not exist" : unreadable(code))
        }
        defer { close(file) }
        var data = Data(), buffer = [UInt8](repeating: 0, count: 4096)
        while data.count <= sizeLimit {
            var poller = pollfd(fd: file, events: Int16(POLLIN), revents: 0)
            // Without a writer, a read would find the end of the pipe.
            let ready = poll(&poller, 1, 50)
            if ready == 0 || ready < 0 && errno == EINTR {
                if wait.isEnded { throw SecretError(source, "was interrupted") }
                continue
            }
            let count = buffer.withUnsafeMutableBytes { Foundation.read(file, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR || errno == EAGAIN { continue }
            guard count >= 0 else { throw SecretError(source, unreadable(errno)) }
            guard count > 0 else { break }
            data.append(contentsOf: buffer[..<count])
        }
        return data
    }

    private static func unreadable(_ code: Int32) -> String { "cannot be read: \(String(cString: strerror(code)))" }

    /// Returns the secret of a source's bytes, without a line break at its end.
    private static func text(_ data: Data, _ source: SecretSource) throws(SecretError) -> String {
        guard data.count <= sizeLimit else {
            throw SecretError(source, "contains more than 64 KiB, too much for a secret")
        }
        guard var text = String(validating: data, as: UTF8.self) else { throw SecretError(source, "is not UTF-8") }
        // Some editors begin a file with a byte order mark, which is no part of the secret.
        if text.unicodeScalars.first == "\u{FEFF}" { text.unicodeScalars.removeFirst() }
        // One scalar at a time: Swift counts "\r\n" as one character.
        if text.unicodeScalars.last == "\n" { text.unicodeScalars.removeLast() }
        if text.unicodeScalars.last == "\r" { text.unicodeScalars.removeLast() }
        return text
    }
}
