// Sources of values beyond the keys of the record's own object, compiled. An entity that has none pays nothing for them.

internal import TarnStore

/// One alternate of a slot that the tree of keys does not find by itself.
final class ExtraSource {
    let slot: Int
    /// Among the slot's alternates: less is better.
    let rank: Int
    let isKey: Bool
    let kind: Kind

    enum Kind {
        /// On from a place that the tree of keys finds.
        case place(Int, [KeyPath.Step], List)
        /// On from the object of the enclosing record.
        case parent([KeyPath.Step], List)
        /// A reference to the enclosing record, if it is of one of these plans.
        case owner(Set<Int>)
        /// Among the plan's values of the document.
        case document(Int)
        case position, relationship
        case text([TextPart])
    }

    /// What becomes of a path with a wildcard.
    enum List {
        /// The first value that is not null.
        case first
        /// A list of them; what is a list itself is taken apart.
        case flat
        /// A list of them as they are.
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
    }

    /// Whether the same JSON at another place, or in another document, may give another value.
    var isContextual: Bool {
        func isContextual(_ kind: Kind) -> Bool {
            switch kind {
            case .place: false
            case .parent, .owner, .document, .position, .relationship: true
            case .text(let parts): parts.contains { if case .value(let kind) = $0 { isContextual(kind) } else { false } }
            }
        }
        return isContextual(kind)
    }

    /// The values of the document that it may take.
    var documentValues: [Int] {
        func values(_ kind: Kind) -> [Int] {
            switch kind {
            case .document(let index): [index]
            case .text(let parts): parts.flatMap { if case .value(let kind) = $0 { values(kind) } else { [Int]() } }
            default: []
            }
        }
        return values(kind)
    }
}
