// Styles whose text is stored.

/// A pagination style whose text is the same for equal values, in every process and version.
///
/// A checkpoint stores a digest of the text, so that another style does not continue its scan. The
/// parts of a program's style, such as closures, may have no such text.
protocol LastingStyle: PaginationStyle {}
