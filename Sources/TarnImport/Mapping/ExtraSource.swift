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
        func isContextual(_ kind: Kind) -> Bool {
            switch kind {
            case .own, .place: false
            case .parent, .owner, .document, .position, .relationship, .memberName: true
            case .url(_, _, let kinds): kinds.contains(where: isContextual)
            case .text(let parts):
                parts.contains { if case .value(let kind) = $0 { isContextual(kind) } else { false } }
            }
        }
        return isContextual(kind)
    }

    /// Whether it may take the position of the record in its list.
    var takesPosition: Bool {
        func takesPosition(_ kind: Kind) -> Bool {
            switch kind {
            case .position: true
            case .url(_, _, let kinds): kinds.contains(where: takesPosition)
            case .text(let parts):
                parts.contains { if case .value(let kind) = $0 { takesPosition(kind) } else { false } }
            case .own, .place, .parent, .owner, .document, .relationship, .memberName: false
            }
        }
        return takesPosition(kind)
    }

    /// Whether it may take the name of the member in which the record was found.
    var takesName: Bool {
        func takesName(_ kind: Kind) -> Bool {
            switch kind {
            case .memberName: true
            case .url(_, _, let kinds): kinds.contains(where: takesName)
            case .text(let parts):
                parts.contains { if case .value(let kind) = $0 { takesName(kind) } else { false } }
            case .own, .place, .parent, .owner, .document, .position, .relationship: false
            }
        }
        return takesName(kind)
    }

    /// Whether it may take the record itself, or an element of it.
    var takesItself: Bool {
        func takesItself(_ kind: Kind) -> Bool {
            switch kind {
            case .own: true
            case .url(_, _, let kinds): kinds.contains(where: takesItself)
            case .text(let parts):
                parts.contains { if case .value(let kind) = $0 { takesItself(kind) } else { false } }
            case .place, .parent, .owner, .document, .position, .relationship, .memberName: false
            }
        }
        return takesItself(kind)
    }

    /// Whether it may take a record that is a text, a number or a boolean: `$`.
    var takesValue: Bool {
        func takesValue(_ kind: Kind) -> Bool {
            switch kind {
            case .own(let steps, _): steps.isEmpty
            case .url(_, _, let kinds): kinds.contains(where: takesValue)
            case .text(let parts):
                parts.contains { if case .value(let kind) = $0 { takesValue(kind) } else { false } }
            case .place, .parent, .owner, .document, .position, .relationship, .memberName: false
            }
        }
        return takesValue(kind)
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
