// A process that syncs from a hostile server, with limits for memory and the time of each input.
//
//     HostileSync COUNT [SEED [FIRST]]    inputs FIRST..<FIRST + COUNT (from 0) of a seed;
//                                         names each input that ends a process
//     HostileSync --only NUMBER SEED      one input, in this process, with the sync's report
//
// The inputs run in a child process with 1 GiB of private memory (RLIMIT_DATA) and 20 seconds for
// each input. If the child ends early, the input is a find, and another child continues behind it.
// The exit code is 1 if there are finds. The last line is `HostileSync: …` with the figures.

import Foundation
import Glibc

let arguments = Array(CommandLine.arguments.dropFirst())

/// Writes a line without a buffer: it is not lost if the process ends.
func say(_ line: String) { FileHandle.standardOutput.write(Data("\(line)\n".utf8)) }

func fail(_ message: String) -> Never {
    FileHandle.standardError.write(Data("HostileSync: \(message)\n".utf8))
    exit(2)
}

switch arguments.first {
case "--child":
    guard arguments.count == 5, let first = Int(arguments[1]), let end = Int(arguments[2]),
        let seed = UInt64(arguments[3])
    else { fail("arguments of the child") }
    await HostileRun(seed: seed, folder: arguments[4], isVerbose: false).run(first..<end)
case "--only":
    guard arguments.count == 3, let number = Int(arguments[1]), let seed = UInt64(arguments[2]) else {
        fail("--only NUMBER SEED")
    }
    let folder = FileManager.default.temporaryDirectory.path + "/tarn-hostile-\(getpid())"
    await HostileRun(seed: seed, folder: folder, isVerbose: true).run(number..<number + 1)
    try? FileManager.default.removeItem(atPath: folder)
default:
    guard (1...3).contains(arguments.count), let count = Int(arguments[0]), count > 0 else {
        fail("COUNT [SEED [FIRST]]")
    }
    let seed = arguments.count > 1 ? UInt64(arguments[1]) : UInt64.random(in: 0..<1_000_000),
        first = arguments.count > 2 ? Int(arguments[2]) : 0
    guard let seed, let first, first >= 0, first < Int.max - count else { fail("COUNT [SEED [FIRST]]") }
    exit(HostileParent(seed: seed).run(first..<first + count) ? 0 : 1)
}
