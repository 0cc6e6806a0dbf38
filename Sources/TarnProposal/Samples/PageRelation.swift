/// How the records of a page relate to those of a page before it.
enum PageRelation {
    /// The page has no records.
    case empty
    /// The records of the page before, in their order.
    case same
    /// The records of the page before, in another order.
    case reordered
    /// Some of the records of the page before, in other places, and others.
    case overlapping
    /// Other records. A few may be those at the end of the page before: a list moves if records
    /// come or go between two requests.
    case other
}
