internal import TarnStore

/// A compiled choice: follows every path once per record, however many rules there are.
final class CompiledChoice {
    enum Outcome {
        case plan(Int)
        /// No rule holds: the record is of the entity itself, or of none.
        case itself, none
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

    /// Compiles a choice.
    ///
    /// - Parameter plans: the plans of the entity and its descendants, by name.
    init(_ choice: EntityChoice, _ entity: String, _ plans: [String: Int]) {
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
                    preconditionFailure(
                        "\(chooser.name) chose \(name), which is neither \(entity) nor a descendant of it")
                }
                return .plan(plan)
            }
        }
        return otherwise == .parent ? .itself : .none
    }
}
