// Inputs to begin with, as files.

import Foundation

func write(_ seeds: [[UInt8]], to folder: String) {
    for (index, seed) in seeds.enumerated() {
        made { try Data(seed).write(to: URL(fileURLWithPath: "\(folder)/seed-\(index)")) }
    }
}

/// A folder of this process, below that of `tools/fuzz/run`, which removes it.
public let scratchFolder: String = {
    let base = ProcessInfo.processInfo.environment["FUZZ_SCRATCH"] ?? FileManager.default.temporaryDirectory.path
    let folder = "\(base)/tarn-fuzz-\(ProcessInfo.processInfo.processIdentifier)"
    made { try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true) }
    return folder
}()
