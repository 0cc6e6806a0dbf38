// The library of tools/faults, which child processes of tests are started with.

import Foundation
import TestSupport

enum FaultLibrary {
    /// Built once for all tests, in a folder that is removed with the process.
    private static let library = Result { () throws -> (path: String, folder: TemporaryFolder) in
        let folder = try TemporaryFolder()
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent()
        let build = Process()
        build.executableURL = root.appendingPathComponent("tools/faults/build")
        build.arguments = [folder("fault.so")]
        try build.run()
        build.waitUntilExit()
        guard build.terminationStatus == 0 else {
            throw WorkerProcess.Failure(description: "tools/faults/build failed")
        }
        return (folder("fault.so"), folder)
    }

    /// The environment of a process whose calls on files below a directory are counted.
    static func environment(_ directory: String, _ more: [String: String] = [:]) throws -> [String: String] {
        [
            "LD_PRELOAD": try library.get().path, "FAULT_DIRECTORY": directory, "SWIFT_BACKTRACE": "enable=no",
            // The order of dictionaries decides which pages a transaction takes.
            "SWIFT_DETERMINISTIC_HASHING": "1",
        ].merging(more) { $1 }
    }
}
