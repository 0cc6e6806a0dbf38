/// A style whose requests name a place among the records, and not a number of records or pages.
///
/// Records that are added, removed or moved before that place do not move what follows it.
protocol CursorStyle: PaginationStyle {}

extension CursorPagination: CursorStyle {}
extension HeaderCursorPagination: CursorStyle {}
extension RecordCursorPagination: CursorStyle {}
extension ParametersPagination: CursorStyle {}

extension Pagination {
    /// Whether the client counts pages or records for the next request.
    package var isCounted: Bool { style.isCounted && !(style is any CursorStyle) }
}
