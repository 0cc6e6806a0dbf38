// The parent process: runs children on a range of inputs, and reports the inputs that end them.

import Foundation
import Glibc

struct HostileParent {
    let seed: UInt64
    /// The number of finds after which the run stops: more of them usually have one cause.
    private static let findLimit = 20

    /// Runs the inputs in child processes.
    ///
    /// - Returns: False if there was a find.
    func run(_ inputs: Range<Int>) -> Bool {
        let folder = FileManager.default.temporaryDirectory.path + "/tarn-hostile-\(getpid())"
        var next = inputs.lowerBound, finds = 0, slowest = 0.0, slowestInput = 0, peak = 0
        while next < inputs.upperBound, finds < HostileParent.findLimit {
            try? FileManager.default.removeItem(atPath: folder)
            guard (try? FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)) != nil
            else { fail("no folder \(folder)") }
            let child = Process()
            child.executableURL = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
            child.arguments = ["--child", "\(next)", "\(inputs.upperBound)", "\(seed)", folder]
            child.environment = ProcessInfo.processInfo.environment.merging(["SWIFT_BACKTRACE": "enable=no"]) { $1 }
            guard (try? child.run()) != nil else { fail("no child") }
            child.waitUntilExit()
            // The child writes the state before and after each input, with the figures so far.
            let state = (try? String(contentsOfFile: folder + "/state", encoding: .utf8))?.split(separator: " ") ?? []
            guard state.count >= 4, let input = Int(state[0]), let time = Double(state[1]), let slow = Int(state[2]),
                let memory = Int(state[3])
            else {
                say("HostileSync: the child ended before its first input")
                return false
            }
            if time > slowest { (slowest, slowestInput) = (time, slow) }
            peak = max(peak, memory)
            next = input + 1
            guard child.terminationReason == .uncaughtSignal || child.terminationStatus != 0 else { continue }
            finds += 1
            let how = child.terminationReason == .uncaughtSignal ? "signal" : "status"
            say(
                "find: input \(input) of seed \(seed) ended the process with \(how) \(child.terminationStatus); again: HostileSync --only \(input) \(seed)"
            )
        }
        try? FileManager.default.removeItem(atPath: folder)
        say(
            "HostileSync: \(next - inputs.lowerBound) inputs of seed \(seed), \(finds) finds; the slowest took \(slowest) s (input \(slowestInput)), most memory \(peak >> 10) MiB"
        )
        return finds == 0
    }
}
