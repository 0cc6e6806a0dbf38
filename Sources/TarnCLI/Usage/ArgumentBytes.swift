// The bytes of the command line: Swift's texts of them have U+FFFD for what is not UTF-8, so that a
// path would lead to another file.

import Foundation

enum ArgumentBytes {
    /// The variables of the environment that name a file or a program.
    private static let variables = ["TARN_HISTORY", "TARN_PAGER"]

    /// Throws if the arguments are unknown, and a usage error if one of them, or a variable that
    /// names a file, is not UTF-8.
    static func requireUTF8() throws {
        let count = Int(CommandLine.argc), arguments = CommandLine.unsafeArgv
        // Not even the name of the program: Swift reads them from there. Without arguments, each
        // command would print the help and succeed.
        guard count > 0 else {
            throw Failure(
                .failed, "the arguments of the program are in /proc, which is not mounted (`mount -t proc proc /proc`)")
        }
        for position in 1..<count {
            guard let bytes = arguments[position], String(validatingCString: bytes) == nil else { continue }
            throw Failure(
                .usage,
                "argument \(position) is not valid UTF-8: \(escaped(bytes)): tarn takes paths and values in UTF-8 only; "
                    + "rename the file, or pass a symbolic link to it")
        }
        for name in variables {
            guard let bytes = getenv(name), String(validatingCString: bytes) == nil else { continue }
            throw Failure(.usage, "the environment variable \(name) is not valid UTF-8: \(escaped(bytes))")
        }
    }

    /// Returns a text with each byte beyond ASCII as `\xff`, as a shell takes it in `$'…'`.
    private static func escaped(_ bytes: UnsafePointer<CChar>) -> String {
        UnsafeBufferPointer(start: bytes, count: strlen(bytes)).reduce(into: "") { text, byte in
            let byte = UInt8(bitPattern: byte)
            text += (0x20..<0x7F).contains(byte) ? String(UnicodeScalar(byte)) : "\\x" + hexadecimal(byte)
        }
    }

    private static func hexadecimal(_ byte: UInt8) -> String {
        (byte < 0x10 ? "0" : "") + String(byte, radix: 16)
    }
}
