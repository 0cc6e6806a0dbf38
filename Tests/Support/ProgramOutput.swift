// The output of a program.

import Foundation

/// Runs a program to its end.
///
/// The output goes to a file: the end of a pipe is seen only when the last process that has
/// inherited it has ended.
///
/// - Returns: the standard output of the program, and its exit code.
package func output(of program: String, _ arguments: [String]) throws -> (text: String, status: Int32) {
    let folder = try TemporaryFolder(), file = folder("output")
    _ = FileManager.default.createFile(atPath: file, contents: nil)
    let process = Process()
    process.executableURL = URL(fileURLWithPath: program)
    process.arguments = arguments
    process.standardOutput = try FileHandle(forWritingTo: URL(fileURLWithPath: file))
    try process.run()
    process.waitUntilExit()
    let data = try Data(contentsOf: URL(fileURLWithPath: file))
    return (String(decoding: data, as: UTF8.self), process.terminationStatus)
}
