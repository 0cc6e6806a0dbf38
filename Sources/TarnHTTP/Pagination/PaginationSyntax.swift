/// The syntax of a pagination style in a description: `paginate: { NAME: { KEY: VALUE, … } }`.
///
///     static let syntax = PaginationSyntax(
///         "range", keys: [.text("from", required: true, example: "first"), .number("width",
///         minimum: 1)],
///         make: RangePagination.init)
public struct PaginationSyntax: Sendable {
    /// The name under `paginate`.
    package let name: String
    /// The keys, in the order in which messages list them; empty for a style that is a word.
    package let keys: [PaginationKey]
    /// The style that the name alone stands for; nil if the style needs keys.
    package let bare: Pagination?
    /// The message about a name alone of a style that needs keys.
    package let needs: String
    /// Creates the style from the values of its keys.
    package let make: @Sendable (PaginationValues) throws(PaginationProblem) -> Pagination

    /// Creates the syntax of a style with keys.
    ///
    /// - Parameters:
    ///   - name: the name under `paginate`.
    ///   - keys: the keys, in the order in which messages list them.
    ///   - bare: the style that the name alone stands for; nil if the style needs keys.
    ///   - needs: the message about a name alone of a style that needs keys; nil for one made from
    ///     `keys`.
    ///   - make: creates the style. Values of required keys are present, and each value is of the
    ///     kind of its key.
    public init<Style: PaginationStyle>(
        _ name: String, keys: [PaginationKey], bare: Style? = nil, needs: String? = nil,
        make: @escaping @Sendable (PaginationValues) throws(PaginationProblem) -> Style
    ) {
        self.name = name
        self.keys = keys
        self.bare = bare.map { Pagination($0) }
        self.needs = "\(name) needs " + (needs ?? PaginationSyntax.needs(name, keys))
        self.make = { values throws(PaginationProblem) in Pagination(try make(values)) }
    }

    /// Creates the syntax of a style that is a word.
    public init(_ name: String, _ style: some PaginationStyle) {
        let pagination = Pagination(style)
        self.name = name
        keys = []
        bare = pagination
        needs = ""
        make = { _ throws(PaginationProblem) in pagination }
    }

    private static func needs(_ name: String, _ keys: [PaginationKey]) -> String {
        let required = keys.filter(\.isRequired)
        let members = required.map { "\($0.names[0]): \($0.example ?? "…")" }.joined(separator: ", ")
        return "\(required.map { $0.names[0] }.joined(separator: " and ")): write { \(name): { \(members) } }"
    }
}
