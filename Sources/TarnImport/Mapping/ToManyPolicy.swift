/// What the list of a to-many relationship does to the one that is stored.
public enum ToManyPolicy: String, Sendable, Hashable, CaseIterable {
    /// It takes its place.
    case replace
    /// What is stored stays where it is; what is new comes at the end.
    case append
    /// What is stored stays where it is; what is new comes at the beginning.
    case prepend
    /// Nothing leaves. What both have takes the order of the response among the places that it has; what is new comes at the end.
    case patch
}
