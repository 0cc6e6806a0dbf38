/// The servers to which redirects may lead. Credentials go to none of them but the request's own.
public struct RedirectScope: Sendable, Hashable {
    /// Base URLs; a redirect below one of them is followed as it stands.
    public var bases: [String]
    /// A server that is reached at another URL: a redirect to the first is followed at the second.
    public var moved: Moved?

    /// A base URL, and the one by which it is reached.
    public struct Moved: Sendable, Hashable {
        public var from: String
        public var to: String

        public init(from: String, to: String) {
            self.from = from
            self.to = to
        }
    }

    public init(bases: [String] = [], moved: Moved? = nil) {
        self.bases = bases
        self.moved = moved
    }
}
