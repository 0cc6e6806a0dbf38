/// The way in which the list of a to-many relationship changes the stored list.
public enum ToManyPolicy: String, Sendable, Hashable, CaseIterable {
    /// The response's list replaces the stored one.
    case replace
    /// Stored elements keep their positions; new ones are added at the end.
    case append
    /// Stored elements keep their positions; new ones are added at the beginning.
    case prepend
    /// No element is removed.
    ///
    /// Elements of both lists take the response's order within the positions that they occupy. New
    /// elements are added at the end.
    case patch
}
