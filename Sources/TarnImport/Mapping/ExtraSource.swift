// Compiled sources of values outside of the record's own keys. An entity without any has no
// overhead.

/// An alternate of a slot that the tree of keys cannot find.
final class ExtraSource {
    let slot: Int
    /// The rank among the slot's alternates; smaller wins.
    let rank: Int
    let isKey: Bool
    let kind: Kind
    /// Whether it may lead to a null.
    let mayBeNull: Bool

    enum Kind {
        /// Steps from the record itself: it may be a list, or a value without keys.
        case own([JSONPath.Step], List)
        /// Steps from a place that the tree of keys finds.
        case place(Int, [JSONPath.Step], List)
        /// Steps from the object of the enclosing record.
        case parent([JSONPath.Step], List)
        /// A reference to the enclosing record, if that record is of one of these plans.
        case owner(Set<Int>)
        /// An index into the plan's document sources.
        case document(Int)
        case position, relationship, memberName
        /// A variable in the URL at the first of these places that has a URL of the entity.
        case url(URLMatcher, variable: Int, [Kind])
        case text([TextPart])
    }

    /// The treatment of several values at a path with a wildcard.
    enum List {
        /// The first value that is not null.
        case first
        /// A list of all values; nested lists are flattened.
        case flat
        /// A list of all values; nested lists are kept.
        case whole
    }

    indirect enum TextPart {
        case literal(String)
        case value(Kind)
    }

    init(slot: Int, rank: Int, isKey: Bool, kind: Kind) {
        self.slot = slot
        self.rank = rank
        self.isKey = isKey
        self.kind = kind
        mayBeNull = if case .url = kind { false } else { true }
    }

    /// Returns the source for another importer, with that importer's URLs of the entity.
    func with(_ url: URLMatcher?) -> ExtraSource {
        guard let url, case .url(_, let variable, let kinds) = kind else { return self }
        return ExtraSource(slot: slot, rank: rank, isKey: isKey, kind: .url(url, variable: variable, kinds))
    }

    /// Whether the same JSON at another place, or in another document, may give another value.
    var isContextual: Bool {
        contains {
            switch $0 {
            case .parent, .owner, .document, .position, .relationship, .memberName: true
            case .own, .place, .url, .text: false
            }
        }
    }

    /// Whether it may take the position of the record in its list.
    var takesPosition: Bool { contains { if case .position = $0 { true } else { false } } }

    /// Whether it may take the name of the member in which the record was found.
    var takesName: Bool { contains { if case .memberName = $0 { true } else { false } } }

    /// Whether it may take the record itself, or an element of it.
    var takesItself: Bool { contains { if case .own = $0 { true } else { false } } }

    /// Whether it may take a record that is a text, a number or a boolean: `$`.
    var takesValue: Bool { contains { if case .own(let steps, _) = $0 { steps.isEmpty } else { false } } }

    /// Returns whether it, or a source that it is made of, is of a kind.
    private func contains(_ isWanted: (Kind) -> Bool) -> Bool {
        func contains(_ kind: Kind) -> Bool {
            switch kind {
            case .url(_, _, let kinds): kinds.contains(where: contains)
            case .text(let parts):
                parts.contains { if case .value(let kind) = $0 { contains(kind) } else { false } }
            default: isWanted(kind)
            }
        }
        return contains(kind)
    }

    /// The values of the document that it may take.
    var documentValues: [Int] {
        func values(_ kind: Kind) -> [Int] {
            switch kind {
            case .document(let index): [index]
            case .url(_, _, let kinds): kinds.flatMap(values)
            case .text(let parts): parts.flatMap { if case .value(let kind) = $0 { values(kind) } else { [Int]() } }
            default: []
            }
        }
        return values(kind)
    }
}
