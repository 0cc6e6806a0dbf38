// The workload in memory: no contender's clock runs while files are read.

import Foundation

/// The bodies of all pages, in the order in which the API lists them.
struct Pages {
    let bodies: [Data]

    /// Reads every file of a directory, by name.
    ///
    /// - Throws: what reading throws, or `BenchmarkError` if there is none.
    init(in directory: URL) throws {
        bodies = try FileManager.default.contentsOfDirectory(at: directory, includingPropertiesForKeys: nil)
            .sorted { $0.lastPathComponent < $1.lastPathComponent }
            .map { try Data(contentsOf: $0) }
        if bodies.isEmpty { throw BenchmarkError("No pages in \(directory.path); gen_pages.py makes them") }
    }

    var megabytes: Double { Double(bodies.reduce(0) { $0 + $1.count }) / 1e6 }

    /// The pages of one commit after the other.
    func groups(of count: Int) -> some Sequence<ArraySlice<Data>> {
        stride(from: 0, to: bodies.count, by: count).lazy.map { bodies[$0..<Swift.min($0 + count, bodies.count)] }
    }
}
