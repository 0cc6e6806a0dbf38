/// What follows a page.
public enum NextPage: Sendable, Hashable {
    /// This reference is next; it may be relative, and it has not been checked: `PageSequence` does that.
    case next(String)
    /// The same URL with another body.
    case nextBody(RequestBody)
    case end
}
