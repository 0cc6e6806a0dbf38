/// A key of a pagination style in a description: its name and the kind of its value.
///
/// The reader of descriptions checks values by their kinds, and reports each problem at its place
/// in the file.
public struct PaginationKey: Sendable, Hashable {
    /// The kind of a key's value.
    package enum Kind: Sendable, Hashable {
        case text, path, flag, parameter, pageSize
        case number(minimum: Int)
        case word(among: [String])
    }

    /// The name. ``parameter(example:)`` has two names, of which a description uses one.
    package let names: [String]
    package let kind: Kind
    package let isRequired: Bool
    /// A value for the message about a missing key.
    package let example: String?

    private init(_ names: [String], _ kind: Kind, isRequired: Bool = false, example: String? = nil) {
        self.names = names
        self.kind = kind
        self.isRequired = isRequired
        self.example = example
    }

    /// A key whose value is a text that is not empty.
    ///
    /// - Parameter example: a value for the message about a missing key.
    public static func text(_ name: String, required: Bool = false, example: String? = nil) -> PaginationKey {
        PaginationKey([name], .text, isRequired: required, example: example)
    }

    /// A key whose value is a path to one value of a page, such as `meta.next`: keys with a `.`
    /// between them.
    ///
    /// - Parameter example: a value for the message about a missing key.
    public static func path(_ name: String, required: Bool = false, example: String? = nil) -> PaginationKey {
        PaginationKey([name], .path, isRequired: required, example: example)
    }

    /// A key whose value is a whole number from a minimum up.
    public static func number(_ name: String, minimum: Int, required: Bool = false, example: String? = nil)
        -> PaginationKey
    {
        PaginationKey([name], .number(minimum: minimum), isRequired: required, example: example)
    }

    /// A key whose value is `true` or `false`.
    public static func flag(_ name: String) -> PaginationKey { PaginationKey([name], .flag) }

    /// A key whose value is one of several words.
    public static func word(_ name: String, among words: [String]) -> PaginationKey {
        PaginationKey([name], .word(among: words))
    }

    /// The keys `param` and `body`, of which one is required: the query parameter, or the member of
    /// the body, that is sent with the request for the next page.
    public static func parameter(example: String = "cursor") -> PaginationKey {
        PaginationKey(["param", "body"], .parameter, isRequired: true, example: example)
    }

    /// A key whose value is a parameter and the number of records per page: `{ per_page: 100 }`.
    ///
    /// The parameter is sent where ``parameter(example:)`` is sent.
    public static func pageSize(_ name: String) -> PaginationKey { PaginationKey([name], .pageSize) }
}
