// The contenders, and their reports.

import Foundation

/// One implementation of a measured case.
struct Contender: Sendable {
    /// `tarn.zstd` (compressed rows, the default), `tarn.none` or `peer`. (The floor is a program
    /// of its own: floor.cpp.)
    let name: String
    /// The case, such as `import`; one run may give the figures of several cases.
    let benchmark: String
    /// The result is printed as one line of JSON.
    let measure: @Sendable (Options) async throws -> any Encodable

    static let all = TarnCases.contenders + PeerCases.contenders
}

/// The figures and checks of one import.
struct Measurement: Encodable {
    /// From before the first page is parsed, all being in memory, to the last acknowledged commit.
    var seconds: Double
    /// Millions of bytes of JSON.
    var megabytes: Double
    var commits: Int
    /// The records and references in the store afterwards, by the names in the workload's counts.
    var counts: [String: Int]
    /// `full`: an acknowledged commit survives power loss.
    var durability: String
    /// The compression of the stored rows.
    var compression: String
    /// The bytes of all files of the store.
    var storeBytes: Int
    /// The sizes after `rewrite`, and the used parts before and after.
    var rewrittenBytes: Int?
    /// The size of the files after a rewrite and a compaction.
    var compactedBytes: Int?
    var usedBytes: Int?
    var usedBytesRewritten: Int?
    var rewriteSeconds: Double?

    private enum CodingKeys: String, CodingKey {
        case seconds, megabytes, commits, counts, durability, compression
        case storeBytes = "store_bytes"
        case rewrittenBytes = "rewritten_bytes"
        case compactedBytes = "compacted_bytes"
        case usedBytes = "used_bytes"
        case usedBytesRewritten = "used_bytes_rewritten"
        case rewriteSeconds = "rewrite_seconds"
    }
}

/// The seconds that a piece of work takes.
func stopwatch(_ work: () throws -> Void) rethrows -> Double {
    let duration = try ContinuousClock().measure(work)
    return duration / .seconds(1)
}

/// The bytes of all files directly in a directory.
func sizeOfFiles(in directory: URL) throws -> Int {
    try FileManager.default.contentsOfDirectory(at: directory, includingPropertiesForKeys: [.fileSizeKey])
        .reduce(0) { try $0 + ($1.resourceValues(forKeys: [.fileSizeKey]).fileSize ?? 0) }
}
