/// The way in which the content of a page is read.
@usableFromInline package enum PageKind: Hashable {
    /// Nodes with keys and child pages.
    case branch
    /// Nodes with keys and values.
    case leaf
    /// Values of one size, which belong to one key (`P_LEAF2`).
    case values
    /// The first page of a value that does not fit in a leaf.
    case overflow
    /// A meta page, a page inside of a node, or a damaged page.
    case other

    @inlinable
    init(flags: UInt16) {
        switch flags & PageLayout.kinds {
        case PageLayout.branch: self = .branch
        case PageLayout.leaf: self = .leaf
        case PageLayout.leaf | PageLayout.fixedLeaf: self = .values
        case PageLayout.overflow: self = .overflow
        default: self = .other
        }
    }
}
