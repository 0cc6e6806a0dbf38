public import TarnImport

/// A record type that declares the request for one of its records.
///
/// ```swift
/// @Record struct Issue: DetailedRecord {
///     @Key var id: Int64
///     var number: Int
///     var repository: String
///     static let detail = RecordRequest<Issue>.get("/repos/{+repository}/issues/{number}")
/// }
/// let fresh = try await forge.detail(of: issue)
/// ```
public protocol DetailedRecord: MappedRecord {
    /// The request for one record.
    ///
    /// Variables of the path and the body without a value are properties of the record, and paths
    /// through its to-one relationships: `{repository.name}`.
    static var detail: RecordRequest<Self> { get }
}
