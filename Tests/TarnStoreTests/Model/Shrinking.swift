// Makes a failing sequence of operations shorter as long as it fails: delta debugging, each time
// with a new store.

import Foundation

@testable import TarnStore

struct Shrinking {
    private let end: ContinuousClock.Instant
    private(set) var failing: [Operation]
    private(set) var failure: String

    /// - Parameter operations: a sequence that fails, with that message.
    init(_ operations: [Operation], failure: String, for time: Duration) {
        failing = operations
        self.failure = failure
        end = .now + time
    }

    static func failure(of operations: [Operation]) -> String? {
        do {
            try ModelRun().run(operations)
            return nil
        } catch {
            return "\(error)"
        }
    }

    private var hasTime: Bool { .now < end }

    /// Takes a sequence over if it fails too.
    private mutating func take(_ candidate: some Collection<Operation>) -> Bool {
        let candidate = Array(candidate)
        guard hasTime, let found = Shrinking.failure(of: candidate) else { return false }
        (failing, failure) = (candidate, found)
        return true
    }

    mutating func run() {
        removeBeginning()
        removeWhatIsAlike()
        var before: Int
        repeat {
            before = Shrinking.size(failing)
            removeOperations()
            removeSteps()
            removeFields()
        } while hasTime && Shrinking.size(failing) < before
    }

    /// The last operations alone often fail as well, and cost little to try.
    private mutating func removeBeginning() {
        var length = 1
        while length < failing.count, hasTime, !take(failing.suffix(length)) { length *= 2 }
    }

    /// Much at once: all operations, steps and fields of one sort.
    private mutating func removeWhatIsAlike() {
        for sort in [
            "compareAll", "scan", "holdSnapshot", "group", "rewrite", "addDictionaries", "fill", "reopen",
            "deleteInSteps",
        ] {
            keep { operation in "\(operation)".hasPrefix(sort) ? nil : operation }
        }
        keepSteps { if case .look = $0 { nil } else { $0 } }
        keepSteps { if $0 == .applyIndexChanges { nil } else { $0 } }
        for root in ModelKind.roots { keepSteps { $0.root == root ? nil : $0 } }
        keepSteps { if case .delete = $0 { nil } else { $0 } }
        for name in Set(ModelKind.all.values.flatMap(\.settable)).sorted() { keepSteps { $0.removing(name) } }
    }

    private mutating func keep(_ change: (Operation) -> Operation?) {
        let candidate = failing.compactMap(change)
        if !candidate.isEmpty, Shrinking.size(candidate) < Shrinking.size(failing) { _ = take(candidate) }
    }

    private mutating func keepSteps(_ change: (Step) -> Step?) {
        keep { operation in
            guard case .write(let steps, let end) = operation else { return operation }
            let kept = steps.compactMap(change)
            return kept.isEmpty ? nil : .write(kept, end: end)
        }
    }

    private mutating func removeOperations() {
        var length = failing.count
        while length > 0, hasTime {
            var start = max(0, failing.count - length)
            while true {
                var candidate = failing
                candidate.removeSubrange(start..<min(start + length, candidate.count))
                if !candidate.isEmpty { _ = take(candidate) }
                guard start > 0, hasTime else { break }
                start = max(0, min(start, failing.count) - length)
            }
            length /= 2
        }
    }

    /// Replaces operations by simpler ones, from the end, as long as one is found.
    private mutating func simplify(_ simpler: (Operation) -> [Operation]) {
        var position = failing.count - 1
        while position >= 0, hasTime {
            var isSimpler = false
            for replacement in simpler(failing[position]) where !isSimpler {
                var candidate = failing
                candidate[position] = replacement
                isSimpler = take(candidate)
            }
            if !isSimpler { position -= 1 }
        }
    }

    private mutating func removeSteps() {
        simplify { operation in
            switch operation {
            case .write(let steps, let end):
                let halves =
                    steps.count > 3 ? [Array(steps.prefix(steps.count / 2)), Array(steps.suffix(steps.count / 2))] : []
                let rests = steps.indices.reversed().map { steps.removing($0) }
                let plain = end == .commit ? [] : [Operation.write(steps, end: .commit)]
                return plain + (halves + rests).filter { !$0.isEmpty }.map { .write($0, end: end) }
            case .group(let steps):
                return [.write(steps, end: .commit)] + steps.indices.map { .group(steps.removing($0)) }
            case .holdSnapshot(let inner):
                return inner.count == 1 ? [inner[0]] : inner + inner.indices.map { .holdSnapshot(inner.removing($0)) }
            default: return []
            }
        }
    }

    private mutating func removeFields() {
        simplify { operation in
            guard case .write(let steps, let end) = operation else { return [] }
            return steps.indices.flatMap { index -> [Operation] in
                steps[index].simpler.map { step in
                    var copy = steps
                    copy[index] = step
                    return .write(copy, end: end)
                }
            }
        }
    }

    static func size(_ operations: [Operation]) -> Int {
        operations.reduce(0) { sum, operation in
            switch operation {
            case .write(let steps, _), .group(let steps): sum + 1 + steps.reduce(0) { $0 + 1 + $1.fields.count }
            case .holdSnapshot(let inner): sum + 1 + size(inner)
            default: sum + 1
            }
        }
    }
}

extension Array {
    fileprivate func removing(_ index: Int) -> [Element] {
        var copy = self
        copy.remove(at: index)
        return copy
    }
}

extension Step {
    var fields: [String: Int] {
        switch self {
        case .put(_, _, let fields), .merge(_, _, let fields, _), .typedPut(_, let fields), .typedPatch(_, let fields),
            .putIf(_, _, let fields, _):
            fields
        default: [:]
        }
    }

    var root: String {
        switch self {
        case .put(let kind, _, _), .merge(let kind, _, _, _), .delete(let kind, _), .putIf(let kind, _, _, _),
            .deleteIf(let kind, _, _), .look(let kind, _, _):
            ModelKind.named(kind).root
        case .typedPut, .typedPatch, .swap: "Thing"
        case .applyIndexChanges: ""
        }
    }

    /// This operation without a field.
    func removing(_ name: String) -> Step {
        var rest = fields
        guard rest.removeValue(forKey: name) != nil else { return self }
        return switch self {
        case .put(let kind, let key, _): .put(kind, key: key, rest)
        case .merge(let kind, let key, _, let complete): .merge(kind, key: key, rest, complete: complete)
        case .typedPut(let key, _): .typedPut(key: key, rest)
        case .typedPatch(let key, _): .typedPatch(key: key, rest)
        case .putIf(let kind, let key, _, let right): .putIf(kind, key: key, rest, right: right)
        default: self
        }
    }

    /// This operation with one field less each, or as a plain put.
    fileprivate var simpler: [Step] {
        var result = fields.keys.sorted().map { removing($0) }
        switch self {
        case .merge(let kind, let key, let all, _), .putIf(let kind, let key, let all, _):
            result.insert(.put(kind, key: key, all), at: 0)
        case .typedPut(let key, let all), .typedPatch(let key, let all):
            result.insert(.put("Thing", key: key, all), at: 0)
        default: break
        }
        return result
    }
}
