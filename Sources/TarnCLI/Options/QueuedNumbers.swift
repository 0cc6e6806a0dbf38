// The numbers of queued changes on a command line.

import ArgumentParser
import Foundation

/// Numbers of queued changes: one, a range, or those of the standard input.
enum QueuedNumbers: ExpressibleByArgument, Equatable {
    case one(UInt64)
    case range(ClosedRange<UInt64>)
    case standardInput

    /// The explanation of such an argument.
    static let help: ArgumentHelp =
        "Numbers of the changes: 12, a range such as 12-40, or - for numbers in the standard input."

    init?(argument: String) {
        if argument == "-" {
            self = .standardInput
            return
        }
        if let id = UInt64(argument) {
            self = .one(id)
            return
        }
        let ends = argument.split(separator: "-", omittingEmptySubsequences: false)
        guard ends.count == 2, let first = UInt64(ends[0]), let last = UInt64(ends[1]), first <= last else {
            return nil
        }
        self = .range(first...last)
    }
}

extension [QueuedNumbers] {
    /// The numbers that are named one by one, each once, in their order.
    ///
    /// - Throws: `Failure` for a word in the standard input that is no number, and if it cannot be
    ///   read.
    func named() throws -> [UInt64] {
        var ids: [UInt64] = [], known: Set<UInt64> = []
        func add(_ id: UInt64) { if known.insert(id).inserted { ids.append(id) } }
        for numbers in self {
            switch numbers {
            case .one(let id): add(id)
            case .range: continue
            case .standardInput:
                try StandardInput.require()
                while let line = readLine() {
                    for word in line.split(whereSeparator: \.isWhitespace) {
                        guard let id = UInt64(word) else {
                            throw Failure(.usage, "standard input: \(word.prefix(100)) is no number of a change")
                        }
                        add(id)
                    }
                }
            }
        }
        return ids
    }

    /// The ranges among the numbers.
    var ranges: [ClosedRange<UInt64>] {
        compactMap { if case .range(let range) = $0 { range } else { nil } }
    }
}
