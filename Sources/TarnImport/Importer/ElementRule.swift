// Lists whose elements are messages about records, such as the events of a feed of changes.

/// The rule by which an element of a list is a message about a record.
package struct ElementRule: Sendable, Hashable {
    /// The elements that report their record as deleted.
    package enum Deletion: Sendable, Hashable {
        case none, all
        /// Those for which all conditions hold.
        case when([RecordCondition])
    }

    /// The locations of the record in an element, or of its key, in the order in which they are
    /// tried; empty if the element is the record.
    package var records: [JSONPath] = []
    /// The conditions of the elements that count. Others are passed over.
    package var conditions: [RecordCondition] = []
    /// The elements that report their record as deleted.
    package var deletion = Deletion.none

    /// Creates a rule by which each element is a record.
    package init() {}

    /// Whether each element is a record.
    package var isPlain: Bool { self == ElementRule() }

    /// Returns whether an element counts.
    func takes(_ tape: Tape, _ element: Int) -> Bool { ElementRule.hold(conditions, tape, element) }

    /// Returns whether an element reports its record as deleted.
    func isDeletion(_ tape: Tape, _ element: Int) -> Bool {
        switch deletion {
        case .none: false
        case .all: true
        case .when(let conditions): ElementRule.hold(conditions, tape, element)
        }
    }

    /// Returns the place of the record of an element, or of its key; nil if there is none.
    func record(_ tape: Tape, _ element: Int) -> Int? {
        guard !records.isEmpty else { return element }
        for path in records {
            if let place = tape.value(at: path.steps[...], from: element), tape.kind(place) != .null { return place }
        }
        return nil
    }

    private static func hold(_ conditions: [RecordCondition], _ tape: Tape, _ element: Int) -> Bool {
        conditions.allSatisfy { condition in
            let place = tape.value(at: condition.path.steps[...], from: element)
            return condition.test.holds(tape, place.flatMap { tape.kind($0) == .null ? nil : $0 })
        }
    }
}
