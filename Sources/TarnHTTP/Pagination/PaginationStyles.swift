/// The pagination styles that a description may name.
///
///     let styles = PaginationStyles.standard.adding(RangePagination.syntax)
///     let description = try Description.load(path: "tarn.yaml", paginationStyles: styles)
public struct PaginationStyles: Sendable {
    /// The syntaxes, in the order in which messages list them.
    package private(set) var syntaxes: [PaginationSyntax]

    /// The built-in styles.
    public static let standard = PaginationStyles(syntaxes: [
        SinglePagePagination.syntax,
        HeaderLinkPagination.syntax,
        JSONLinkPagination.syntax,
        HeaderCursorPagination.syntax,
        CursorPagination.syntax,
        ParametersPagination.syntax,
        OffsetPagination.syntax,
        PageNumberPagination.syntax,
        RecordCursorPagination.maxIDSyntax,
        RecordCursorPagination.sinceIDSyntax,
        AutomaticPagination.syntax,
    ])

    /// Returns these styles and another one, which replaces a style of the same name.
    public func adding(_ syntax: PaginationSyntax) -> PaginationStyles {
        PaginationStyles(syntaxes: syntaxes.filter { $0.name != syntax.name } + [syntax])
    }

    /// The names of the styles.
    package var names: [String] { syntaxes.map(\.name) }

    /// The syntax of a name; nil if there is none.
    package subscript(name: String) -> PaginationSyntax? { syntaxes.first { $0.name == name } }
}
