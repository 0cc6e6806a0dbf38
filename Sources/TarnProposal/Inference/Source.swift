// A list of records that an endpoint fetches: the common form of samples and of specifications.

import Tarn

/// A list, or several lists of one response, as an endpoint will fetch them.
struct Source {
    /// One list of records.
    struct List {
        var found: FoundList
        var shape: ObjectShape
        /// The name for the entity.
        var name: String
        /// Whether a page lacks the list.
        var isOptional = false
    }

    /// The name of the endpoint.
    var name: String
    /// The path from the base URL; it may have variables.
    var path: String
    var parameters: [ProposedParameter] = []
    /// Header fields of the requests.
    var headers: [ProposedParameter] = []
    /// Parameters of the path with all of their values.
    var partitions: [(name: String, values: [String])] = []
    var lists: [List]
    var style = SampledStyle()
    /// The status with which the server refuses a page behind the last one; nil if it does not.
    var endStatus: Int?
    /// The text by which a page behind the last one is recognized that lacks the list.
    var endText: String?
    /// The declared style in parts, if it numbers pages or counts records.
    var counted: CountedStyle?
    /// The position of the source whose records name this one, and the segment of the path that is
    /// their attribute.
    var parent: Parent?
    /// The comment above the endpoint.
    var comments: [String] = []
    var notes: [String] = []
    /// Remarks about records that the endpoint does not reach.
    var gaps: [String] = []
    /// The responses of the samples; empty for a specification.
    var pages: [Sample.Page] = []
    /// The endpoint of single records.
    var detail: Detail?
    /// Whether it is one of the lists of several parents, and its pages do not show their style.
    var hasUnknownStyle: Bool {
        guard parent != nil, let first = pages.first, !first.url.isEmpty else { return false }
        return style.text == "single_page" && style.unreached == nil && style.doubt == nil
    }

    /// The field that names a record in the path of its details, below the path of the list.
    var localKey: String?
    /// The field that alone names a record in the path of its details.
    var globalKey: String?
    /// The fields that paths of details name in their last variable.
    var namedFields: [String] = []
    /// The requests that change the records.
    var changes: [Change] = []
    /// The value of `since`, if a specification declares such a parameter.
    var since: (parameter: String, field: String?)?

    /// The record that the path of a source names.
    struct Parent {
        /// The position of the source that lists the parents.
        var source: Int
        /// The key of the parents' JSON whose value is in the path.
        var field: String
        /// The segment of ``Source/path`` that is replaced.
        var segment: Int
        /// The segments before it that name parents of the parent, the nearest first: each the key
        /// of a JSON that the source lists.
        var outer: [(source: Int, field: String, segment: Int)] = []
    }

    /// An endpoint of single records.
    struct Detail {
        /// The path, with the value of `field` as the segment `segment`.
        var path: String
        var field: String
        var segment: Int
        /// The key of a record's own URL, which is requested if no field is a segment of the path.
        var urlField: String?
        /// The steps to the record in the response.
        var steps: [ListStep] = []
        /// Keys that a single record has and a listed one has not.
        var added: [String]
        var page: Sample.Page?
        /// The responses to requests for other records.
        var furtherPages: [Sample.Page] = []
        /// The declared shape of a single record; nil without a specification.
        var shape: ObjectShape?
    }

    /// A request that creates, changes or deletes a record.
    struct Change {
        var kind: OutboxOperation.Kind
        var operation: ChangeOperation
        /// The key of a record's JSON whose value is the last segment of the path; nil for a
        /// creation.
        var field: String?
        /// Whether the path is that of the list, with one segment more; for a creation that path.
        var isBelowList = true
    }
}
