// Which of the entities that descend from one a record is: what an API says by a discriminator.

public import TarnStore

/// How the JSON of a record says which special kind of its entity it is.
public struct EntityChoice: Sendable, Hashable {
    /// In their order; the first that holds counts. The entity that it names may have a choice of its own.
    public var rules: [Rule]
    /// What a record is for which no rule holds.
    public var otherwise: Otherwise

    /// A way in which a record says what it is.
    public enum Rule: Sendable, Hashable {
        /// An entity that descends from the one that has the rules, or that one itself, if all conditions hold.
        case entity(String, when: [RecordCondition])
        /// What code says.
        case code(EntityChooser)
    }

    /// What a record is that no rule knows.
    public enum Otherwise: String, Sendable, Hashable, CaseIterable {
        /// The entity that has the rules. What is stored as one of a special kind stays that.
        case parent
        /// Nothing: it is reported as `entity.unknown`, and skipped.
        case skip
    }

    public init(_ rules: [Rule], otherwise: Otherwise = .parent) {
        self.rules = rules
        self.otherwise = otherwise
    }

    /// The entities that rules name.
    var entities: [String] {
        rules.compactMap { if case .entity(let name, _) = $0 { name } else { nil } }
    }
}

/// A condition about the JSON of a record.
public struct RecordCondition: Sendable, Hashable {
    /// From the record; without wildcards.
    public var path: KeyPath
    /// What has to be so with the value that is there.
    public var test: Test

    /// A test of one value.
    public enum Test: Sendable, Hashable {
        /// There is a value, and it is not null.
        case isPresent
        /// There is none, or it is null.
        case isAbsent
        /// It is one of these: a text, or the text of a number or boolean. A `*` stands for any run of characters.
        case matches([String])
        /// It compares so with this: as numbers if both are, else as texts by their bytes. What is not there does not compare.
        case compares(IndexCondition.Comparison, String)
        /// Code says so; not asked about what is not there.
        case satisfies(JSONPredicate)
    }

    public init(_ path: KeyPath, _ test: Test) {
        self.path = path
        self.test = test
    }
}

/// A condition in code. Those of the same name are equal.
public struct JSONPredicate: Sendable, Hashable {
    /// Stands for the code in comparisons and in the mapping's fingerprint.
    public let name: String
    let holds: @Sendable (JSONValue) -> Bool

    /// - Parameter holds: a pure function.
    public init(_ name: String, _ holds: @escaping @Sendable (JSONValue) -> Bool) {
        self.name = name
        self.holds = holds
    }

    public static func == (a: JSONPredicate, b: JSONPredicate) -> Bool { a.name == b.name }

    public func hash(into hasher: inout Hasher) { hasher.combine(name) }
}

/// A choice in code. Those of the same name are equal.
public struct EntityChooser: Sendable, Hashable {
    /// Stands for the code in comparisons and in the mapping's fingerprint.
    public let name: String
    let choose: @Sendable (JSONValue) -> String?

    /// - Parameter choose: a pure function from the record to the name of an entity that descends from the one that has the rules, or
    ///   of that one itself; nil leaves it to the next rule. Any other name traps.
    public init(_ name: String, _ choose: @escaping @Sendable (JSONValue) -> String?) {
        self.name = name
        self.choose = choose
    }

    public static func == (a: EntityChooser, b: EntityChooser) -> Bool { a.name == b.name }

    public func hash(into hasher: inout Hasher) { hasher.combine(name) }
}

/// A choice, compiled: every path is followed once for a record, whatever the number of rules.
final class CompiledChoice {
    enum Outcome {
        case plan(Int)
        /// No rule holds, and the record is of the entity itself, or of none.
        case itself, none
    }

    private enum Rule {
        case conditions(plan: Int, [(path: Int, test: RecordCondition.Test)])
        case code(EntityChooser)
    }

    private let entity: String
    private let paths: [[KeyPath.Step]]
    private let rules: [Rule]
    private let plans: [String: Int]
    private let otherwise: EntityChoice.Otherwise
    private var places: [Int?]

    /// - Parameter plans: of the entity itself and of those that descend from it, by name.
    init(_ choice: EntityChoice, _ entity: String, _ plans: [String: Int]) {
        self.entity = entity
        self.plans = plans
        otherwise = choice.otherwise
        var paths: [[KeyPath.Step]] = []
        rules = choice.rules.compactMap { rule in
            switch rule {
            case .code(let chooser): return .code(chooser)
            case .entity(let name, let conditions):
                guard let plan = plans[name] else { return nil }
                return .conditions(
                    plan: plan,
                    conditions.map { condition in
                        let path = paths.firstIndex(of: condition.path.steps) ?? paths.count
                        if path == paths.count { paths.append(condition.path.steps) }
                        return (path, condition.test)
                    })
            }
        }
        self.paths = paths
        places = Array(repeating: nil, count: paths.count)
    }

    func choose(_ tape: Tape, _ object: Int) -> Outcome {
        for (index, steps) in paths.enumerated() {
            let place = tape.value(at: steps[...], from: object)
            places[index] = place.flatMap { tape.kind($0) == .null ? nil : $0 }
        }
        for rule in rules {
            switch rule {
            case .conditions(let plan, let conditions):
                if conditions.allSatisfy({ $0.test.holds(tape, places[$0.path]) }) { return .plan(plan) }
            case .code(let chooser):
                guard let name = chooser.choose(JSONValue(tape, object)) else { continue }
                guard let plan = plans[name] else {
                    preconditionFailure("\(chooser.name) chose \(name), which is not \(entity) and does not descend from it")
                }
                return .plan(plan)
            }
        }
        return otherwise == .parent ? .itself : .none
    }
}

extension RecordCondition.Test {
    /// - Parameter place: of a value that is not null; nil if there is none.
    func holds(_ tape: Tape, _ place: Int?) -> Bool {
        if case .isAbsent = self { return place == nil }
        guard let place else { return false }
        switch self {
        case .isAbsent: return false
        case .isPresent: return true
        case .satisfies(let predicate): return predicate.holds(JSONValue(tape, place))
        case .matches(let patterns):
            guard let text = RecordCondition.Test.text(tape, place) else { return false }
            return patterns.contains { KeyPath.glob(Array($0.utf8), text) }
        case .compares(let comparison, let other):
            guard let text = RecordCondition.Test.text(tape, place) else { return false }
            let order = RecordCondition.Test.compare(text, Array(other.utf8), isText: tape.kind(place) == .string)
            switch comparison {
            case .equal: return order == 0
            case .notEqual: return order != 0
            case .less: return order < 0
            case .lessOrEqual: return order <= 0
            case .greater: return order > 0
            case .greaterOrEqual: return order >= 0
            }
        }
    }

    /// Of a text, a number or a boolean.
    private static func text(_ tape: Tape, _ place: Int) -> [UInt8]? {
        switch tape.kind(place) {
        case .string: return Array(tape.string(place))
        case .object, .array, .null, nil: return nil
        default:
            var text = ByteWriter(capacity: 32)
            tape.appendText(place, to: &text)
            return Array(text.bytes)
        }
    }

    private static func compare(_ a: [UInt8], _ b: [UInt8], isText: Bool) -> Int {
        if !isText, let x = ExactDecimal(String(decoding: a, as: UTF8.self)), let y = ExactDecimal(String(decoding: b, as: UTF8.self)) {
            return x == y ? 0 : x < y ? -1 : 1
        }
        return a == b ? 0 : a.lexicographicallyPrecedes(b) ? -1 : 1
    }
}
