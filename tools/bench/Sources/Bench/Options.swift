// The command line: Bench PROGRAM CONTENDER --pages DIR --store DIR --pages-per-commit N --records
// N

import Foundation

/// The options of one run.
struct Options {
    let benchmark: String
    let contender: String
    /// The directory with the pages of the workload.
    let pages: URL
    /// The directory of the store, which must not be there yet.
    private(set) var store: URL
    let pagesPerCommit: Int
    /// Issues in the workload; the write cases take ten, the memory cases fifty times as many rows.
    let records: Int
    /// The address of the server, for the cases that have one.
    let base: String

    static let usage = """
        usage: Bench PROGRAM CONTENDER --pages DIR --store DIR [--pages-per-commit N] [--records N] [--base URL]
               Bench --list
        """

    /// - Throws: `BenchmarkError` with the usage if the arguments do not fit it.
    init(_ arguments: [String]) throws {
        var positional: [String] = []
        var named: [String: String] = [:]
        var rest = arguments[...]
        while let argument = rest.popFirst() {
            if argument.hasPrefix("--") {
                guard ["--pages", "--store", "--pages-per-commit", "--records", "--base"].contains(argument), let value = rest.popFirst() else {
                    throw BenchmarkError("\(argument) is not an option, or has no value\n\(Self.usage)")
                }
                named[argument] = value
            } else {
                positional.append(argument)
            }
        }
        guard positional.count == 2, let pages = named["--pages"], let store = named["--store"],
            let pagesPerCommit = Int(named["--pages-per-commit"] ?? "128"), pagesPerCommit > 0,
            let records = Int(named["--records"] ?? "10000"), records > 0
        else { throw BenchmarkError(Self.usage) }
        (benchmark, contender) = (positional[0], positional[1])
        self.pages = URL(filePath: pages)
        self.store = URL(filePath: store)
        self.pagesPerCommit = pagesPerCommit
        self.records = records
        base = named["--base"] ?? ""
        if FileManager.default.fileExists(atPath: store) {
            throw BenchmarkError("\(store) is there already; every run needs a fresh store")
        }
    }

    /// The options with another store, below this one.
    func below(_ name: String) -> Options {
        var options = self
        options.store = store.appending(path: name)
        return options
    }
}

/// A run that cannot be, or does not count.
struct BenchmarkError: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) {
        self.description = description
    }
}
