internal import TarnStore

/// A compiled choice: follows every path once per record, however many rules there are.
final class CompiledChoice {
    enum Outcome {
        case plan(Int)
        /// No rule holds: the record is of the entity itself.
        case itself
        /// The record is of no kind: no rule holds, or code has chosen none of the kinds.
        case none(reason: String?)
    }

    private enum Rule {
        case conditions(plan: Int, [(path: Int, test: RecordCondition.Test)])
        case code(EntityChooser)
    }

    private let entity: String
    private let paths: [[JSONPath.Step]]
    private let rules: [Rule]
    private let plans: [String: Int]
    private let otherwise: EntityChoice.Otherwise
    private var places: [Int?]
    /// The URLs of the entity: a path may be the name of a variable in them.
    private let url: URLMatcher?
    /// For each path, the variable of that name; -1 if there is none.
    private let variables: [Int]
    /// The values that come from a URL.
    private var made = MadeTape()

    /// Compiles a choice.
    ///
    /// - Parameters:
    ///   - plans: the plans of the entity and its descendants, by name.
    ///   - url: the URLs of the entity; nil if it declares none.
    init(_ choice: EntityChoice, _ entity: String, _ plans: [String: Int], url: URLMatcher? = nil) {
        self.url = url
        self.entity = entity
        self.plans = plans
        otherwise = choice.otherwise
        var paths: [[JSONPath.Step]] = []
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
        variables = paths.map { steps in
            guard let url, steps.count == 1, case .key(let name) = steps[0] else { return -1 }
            return url.names.firstIndex(of: name) ?? -1
        }
        places = Array(repeating: nil, count: paths.count)
    }

    /// Creates a choice for another importer.
    ///
    /// - Parameter url: that importer's URLs of the entity.
    init(copying other: CompiledChoice, url: URLMatcher?) {
        self.url = url
        entity = other.entity
        paths = other.paths
        rules = other.rules
        plans = other.plans
        otherwise = other.otherwise
        variables = other.variables
        places = Array(repeating: nil, count: other.paths.count)
    }

    func choose(_ tape: Tape, _ object: Int) -> Outcome {
        for (index, steps) in paths.enumerated() {
            let place = tape.value(at: steps[...], from: object)
            places[index] = place.flatMap { tape.kind($0) == .null ? nil : $0 }
        }
        if let url { addVariables(of: url, tape, object) }
        for rule in rules {
            switch rule {
            case .conditions(let plan, let conditions):
                if conditions.allSatisfy({ holds($0.test, $0.path, tape) }) { return .plan(plan) }
            case .code(let chooser):
                guard var name = chooser.choose(JSONValue(tape, object)) else { continue }
                guard let plan = plans[name] else {
                    // It may be a text from the server.
                    let shown = name.withUTF8 { Tape.excerpt(Bytes($0)) }
                    return .none(
                        reason: "\(chooser.name) chose \(shown), which is neither \(entity) nor a descendant of it")
                }
                return .plan(plan)
            }
        }
        return otherwise == .parent ? .itself : .none(reason: nil)
    }

    // MARK: Variables

    /// The offset of places on the tape of made values.
    private static let madeOffset = 1 << 56

    private func holds(_ test: RecordCondition.Test, _ path: Int, _ tape: Tape) -> Bool {
        guard let place = places[path], place >= CompiledChoice.madeOffset else {
            return test.holds(tape, places[path])
        }
        return test.holds(made.tape(beside: tape), place - CompiledChoice.madeOffset)
    }

    /// Adds the values that the record's own JSON lacks and its URL has.
    private func addVariables(of url: URLMatcher, _ tape: Tape, _ object: Int) {
        made.removeAll()
        guard places.indices.contains(where: { places[$0] == nil && variables[$0] >= 0 }) else { return }
        let isMatched = url.url.sources.contains { path in
            guard path.origin == .record, let place = tape.value(at: path.steps[...], from: object),
                tape.kind(place) == .string
            else { return false }
            return url.match(tape.string(place)) == .matched
        }
        guard isMatched else { return }
        for (index, variable) in variables.enumerated() where places[index] == nil && variable >= 0 {
            let value = url.value(variable)
            if !value.isEmpty { places[index] = made.append(value) + CompiledChoice.madeOffset }
        }
    }
}
