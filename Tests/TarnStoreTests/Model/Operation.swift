// The operations of the model test, as values: generated from a seed, shrunk, printed as JSON, and
// read again.

import Foundation
import TestSupport

/// The operations of one transaction. Keys are positions in `ModelKeys`, values are codes of
/// `ModelKind.cell`.
enum Step: Codable, Hashable, Sendable {
    case put(_ kind: String, key: Int, [String: Int])
    /// As the import does.
    case merge(_ kind: String, key: Int, [String: Int], complete: Bool)
    /// A `ModelThing`.
    case typedPut(key: Int, [String: Int])
    case typedPatch(key: Int, [String: Int])
    case delete(_ kind: String, key: Int)
    /// Compare-and-set, with the version that the record has or with another.
    case putIf(_ kind: String, key: Int, [String: Int], right: Bool)
    case deleteIf(_ kind: String, key: Int, right: Bool)
    /// Two records exchange their unique values.
    case swap(key: Int, with: Int)
    /// Reads in the transaction.
    case look(_ kind: String, key: Int, salt: Int)
    case applyIndexChanges
}

enum End: String, Codable, Sendable {
    case commit
    /// The closure throws.
    case fail
    /// Records that violate uniqueness are undone.
    case dropDuplicates
}

enum Operation: Codable, Sendable {
    case write([Step], end: End)
    /// Writes of several tasks at the same time, each of one step, on records of their own.
    case group([Step])
    case deleteInSteps(_ kind: String, key: Int, step: Int)
    case scan(_ kind: String, from: Int?, to: Int?, reversed: Bool)
    case reopen(withSchema: Bool)
    /// A snapshot is held while others write.
    case holdSnapshot([Operation])
    /// A write that does not fit the quota.
    case fill
    case addDictionaries
    case rewrite(batch: Int)
    case compareAll

    /// The number of operations up to this one.
    var count: Int {
        switch self {
        case .write(let steps, _), .group(let steps): steps.count
        case .holdSnapshot(let inner): inner.reduce(1) { $0 + $1.count }
        case .compareAll: 0
        default: 1
        }
    }

    /// JSON that `ModelRun.replay` reads.
    static func text(_ operations: [Operation]) -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        let lines = operations.map { (try? encoder.encode($0)).map { String(decoding: $0, as: UTF8.self) } ?? "\($0)" }
        return "[\n" + lines.joined(separator: ",\n") + "\n]"
    }

    static func parse(_ text: String) throws -> [Operation] {
        try JSONDecoder().decode([Operation].self, from: Data(text.utf8))
    }
}

/// Makes operations, which depend on the seed alone.
struct OperationSource {
    var random: SeededRandom

    init(seed: UInt64) { random = SeededRandom(seed: seed) }

    private mutating func below(_ limit: Int) -> Int { Int(random.next() % UInt64(limit)) }

    private static let kinds = [
        "Thing", "Thing", "Thing", "Thing", "Label", "Label", "Board", "Event", "Push", "ForcePush", "Release",
        "Parent", "Child",
        "Toy", "Device",
    ]
    /// Without unique indexes, so that no write of a group fails.
    private static let calm = ["Board", "Event", "Push", "ForcePush", "Parent", "Toy"]

    private static let meeting: Set<String> = ["login", "userLogin", "group", "display", "tag"]
    /// A record with many related ones.
    private static let owners = ["Thing", "Parent", "Child", "Push", "Device"]

    private mutating func place(_ kinds: [String] = OperationSource.kinds) -> (String, Int) {
        let kind = kinds[below(kinds.count)]
        return (kind, below(ModelKeys.keys(ModelKind.named(kind).root).count))
    }

    private mutating func fields(_ names: [String]) -> [String: Int] {
        var fields: [String: Int] = [:]
        guard !names.isEmpty else { return fields }
        for _ in 0..<below(min(6, names.count) + 1) {
            let name = names[below(names.count)]
            fields[name] = below(6) == 0 ? 0 : 1 + below(400)
            // Values of these must collide, and some are equal up to the length of an index entry.
            if OperationSource.meeting.contains(name), fields[name] != 0 {
                fields[name] = below(3) == 0 ? [331, 371, 667][below(3)] : 1 + below(20) * 37
            }
            // Few records with many related ones.
            if name == "actor", fields[name] != 0 { fields[name] = 1 + below(3) }
            // Chains that end: most records have no target.
            if name == "next", below(3) > 0 { fields[name] = 0 }
        }
        return fields
    }

    private mutating func fields(of kind: String) -> [String: Int] {
        fields(ModelKind.named(kind).settable.filter { $0 != "note" || below(4) == 0 })
    }

    mutating func step() -> Step {
        let (kind, key) = place()
        let settable = ModelThing.Field.allCases.map(\.name).filter { $0 != "id" }
        switch below(40) {
        case 0..<15: return .put(kind, key: key, fields(of: kind))
        case 15..<22:
            var said = fields(of: kind)
            // Its position among its siblings.
            if kind == "Child" { said["parent"] = below(20) }
            return .merge(kind, key: key, said, complete: below(2) == 0)
        case 22..<24: return .typedPut(key: below(ModelKeys.keys("Thing").count), fields(settable))
        case 24..<26: return .typedPatch(key: below(ModelKeys.keys("Thing").count), fields(settable))
        case 26..<30: return .delete(kind, key: key)
        case 30..<32: return .putIf(kind, key: key, fields(of: kind), right: below(3) > 0)
        case 32: return .deleteIf(kind, key: key, right: below(3) > 0)
        case 33: return .swap(key: key % 16, with: below(ModelKeys.keys("Thing").count))
        case 34..<38: return .look(kind, key: key, salt: below(1000))
        default: return .applyIndexChanges
        }
    }

    mutating func operation(isInner: Bool = false) -> Operation {
        switch below(isInner ? 85 : 100) {
        case 0..<70:
            let end: End = below(8) == 0 ? .fail : .commit
            return .write((0..<1 + below(14)).map { _ in step() }, end: end)
        case 70..<76:
            var steps: [Step] = []
            while steps.count < 12 {
                let step = step()
                switch step {
                case .put, .merge, .typedPut, .look: steps.append(step)
                default: break
                }
            }
            return .write(steps, end: .dropDuplicates)
        case 76..<79:
            let (kind, key) = place(OperationSource.owners)
            return .deleteInSteps(kind, key: key, step: 1 + below(3))
        case 79..<82: return scan()
        case 82..<85: return .group(groupSteps())
        case 85..<90: return scan()
        case 90..<94: return .reopen(withSchema: below(2) == 0)
        case 94..<97: return .holdSnapshot((0..<1 + below(4)).map { _ in operation(isInner: true) })
        case 97: return [.addDictionaries, .addDictionaries, .rewrite(batch: 1 + below(40)), .fill][below(4)]
        case 98: return below(3) == 0 ? .rewrite(batch: 1 + below(40)) : .addDictionaries
        default: return scan()
        }
    }

    private mutating func scan() -> Operation {
        let (kind, key) = place(), pool = ModelKeys.keys(ModelKind.named(kind).root).count
        return .scan(
            kind, from: below(3) == 0 ? nil : key, to: below(3) == 0 ? nil : below(pool), reversed: below(2) == 0)
    }

    private mutating func groupSteps() -> [Step] {
        var steps: [Step] = [], taken: Set<String> = []
        for _ in 0..<8 {
            let (kind, key) = place(OperationSource.calm)
            guard taken.insert("\(ModelKind.named(kind).root) \(key)").inserted else { continue }
            let said = fields(of: kind)
            steps.append(below(3) == 0 ? .merge(kind, key: key, said, complete: false) : .put(kind, key: key, said))
        }
        return steps
    }

    /// Operations with the same number of steps.
    mutating func operations(_ count: Int) -> [Operation] {
        var result: [Operation] = [], done = 0, compared = 0, comparisons = 0
        while done < count {
            let next = operation()
            done += next.count
            result.append(next)
            if done - compared > 400 {
                compared = done
                comparisons += 1
                if comparisons % 4 == 1 { result.append(.addDictionaries) }
                if comparisons % 4 == 3 { result.append(.rewrite(batch: 7)) }
                result.append(.compareAll)
            }
        }
        return result
    }
}
