// A named request of an API, as a description declares it.

import TarnHTTP
import TarnImport

/// A named request of an API: its URL, the location of its records, and its pagination.
public struct Endpoint: Sendable, Hashable {
    /// The name, unique in the description.
    public var name: String
    /// The name of the API, if it is not the first one of the description.
    package var api: String?
    /// The HTTP method: `GET`, or another one for an API whose queries are in the body.
    public var method = "GET"
    /// The path template, appended to the API's base URL.
    ///
    /// `{name}` is replaced by a parameter or, below a ``forEach``, `{milestone.number}` by an
    /// attribute of the parent record. It begins with `/` and has neither query nor fragment.
    public var path: String
    /// Whether the request is the URL in the attribute that the path names: `/{+item.url}`.
    ///
    /// It has precedence over the API's base URL.
    package var followsURL = false
    /// Whether the listed objects are excerpts, such as `{name, url}`: partial records.
    package var listsExcerpts = false
    /// The parameters, in the order of the file.
    ///
    /// Parameters that the path names replace its variables. The others become query parameters, in
    /// this order.
    package var parameters: [Parameter]
    /// Header fields of every request of the endpoint, in the order of the file.
    ///
    /// They replace those of the API with the same names. Other values are another request:
    /// responses are stored separately. Credentials belong in the API's authentication.
    public var headers: [TransportHeaders.Field] = []
    /// The body of the request. A string that is `{name}` is replaced by a parameter.
    public var body: TransportBody?
    /// The form of the responses: one JSON document, or lines of JSON.
    package var format = BodyForm.json
    /// The rule by which the endpoint is requested until its answer is finished.
    package var wait = AnswerWait()
    /// The key path of the list of records in the response.
    package var records: JSONPath
    /// The lists whose elements are rows, or columns, and the places of the names.
    package var columns: [NamedColumns] = []
    /// The entity of the listed records; the first one if there are several.
    public var entity: String
    /// The key paths and entities of an envelope; empty if there is one list.
    public var envelope: [EnvelopePart] = []
    /// The entities of the lists of a response, by their paths.
    package var entitiesByPath: [JSONPath: String] {
        let lists = envelope.isEmpty ? [(records, entity)] : envelope.map { ($0.path, $0.entity) }
        return Dictionary(lists) { first, _ in first }
    }
    /// The pagination style.
    package var pagination: Pagination
    /// The continuation of a scan whose further pages the server refuses; nil if that is an error.
    public var deep: DeepPages?
    /// The limits of a scan.
    public var limits = Limits()
    /// The rule for evidence of pages that the pagination does not reach.
    public var more = PageEvidence.Rule.fail
    /// The parents, if the endpoint is scanned once for every stored record of an entity.
    public var forEach: ForEach?
    /// The parameters with several values: the endpoint is scanned once for each combination.
    package var partitions: [Partition] = []
    /// The rule for requests of what has changed since the last scan; nil to list everything.
    package var incremental: Incremental?
    /// The pages that one commit contains.
    public var commitUnit = CommitUnit.pages(1)
    /// Whether the next page is requested while a page is imported. If not, each page is committed
    /// before: for servers that forget what the next request acknowledges.
    package var prefetches = true
    /// The rules for orphans; nil if they stay.
    ///
    /// - Precondition: they fit the ``envelope`` and the parents of ``forEach``, which are set
    ///   before.
    public var orphans: Orphans? {
        didSet { checkOrphans() }
    }
    /// The times at which a watch scans the endpoint; nil for the freshness of its responses.
    package var schedule: SyncSchedule?
    /// The rules for responses. They have precedence over those of the API.
    public var responses: [ResponseRule] = []
    /// The metadata of a response that is stored with its entry.
    public var metadata: [Metadata] = []
    /// The location of the declaration, for error texts: `forge.yaml:41`.
    package var place = ""
    /// Whether it is the endpoint of a typed request, and not of a description.
    var isTypedRequest = false

    /// The part of a scan that is one change of the store.
    public enum CommitUnit: Sendable, Hashable {
        /// This number of pages, and the remaining ones at the end.
        ///
        /// Unless the import has hooks or depends on what else is in a unit, it may end earlier:
        /// after 12 MB of bodies, or with the first rows of an entity that suffice to train its
        /// dictionary.
        ///
        /// An endpoint with `for_each` counts the pages of all parents: a commit may cover several
        /// of them.
        case pages(Int)
        /// All pages of a scan. They are held in memory until the commit.
        case scan
    }

    /// The limits of a scan.
    public struct Limits: Sendable, Hashable {
        /// The maximum number of pages; nil for ``APIClient/Options/pageLimit``.
        package var pages: Int?
        /// The maximum number of listed records; nil for no limit.
        package var records: Int?
        /// The number of records that one sync lists; nil for no limit. The next sync continues.
        var part: Int?
        /// Whether an incomplete scan stops at a limit without an error.
        var stopsQuietly: Bool

        /// Creates limits of a scan; by default only ``APIClient/Options/pageLimit``.
        public init(pages: Int? = nil, records: Int? = nil, stopsQuietly: Bool = false) {
            self.pages = pages
            self.records = records
            self.stopsQuietly = stopsQuietly
        }
    }

    /// A value of a response that is stored with its entry and returned with every answer.
    public struct Metadata: Sendable, Hashable {
        /// The name of the value in answers.
        package var name: String
        /// The key path from the root of the document.
        package var path: JSONPath

        /// Creates a named value.
        public init(_ name: String, _ path: JSONPath) {
            self.name = name
            self.path = path
        }
    }

    /// A named value of a request.
    public struct Parameter: Sendable, Hashable {
        /// The name in the path or the query.
        package var name: String
        /// The value, not percent-encoded.
        package var value: String

        /// Creates a parameter.
        public init(_ name: String, _ value: String) {
            self.name = name
            self.value = value
        }
    }

    /// A parameter with several values, each of which is a list of its own.
    package struct Partition: Sendable, Hashable {
        /// The name in the path, the query or the body.
        package var name: String
        /// The values.
        package var values: [String]
        /// The maximum number of combinations.
        package static let most = 10_000

        /// Creates a parameter with several values.
        package init(_ name: String, _ values: [String]) {
            self.name = name
            self.values = values
        }
    }

    /// The parent records that an endpoint is scanned for.
    public struct ForEach: Sendable, Hashable {
        /// The entity of the parent records.
        package var entity: String
        /// The to-one relationship of the listed entity that refers to the parent.
        package var parent: String?
        /// The variable of the parent in the path: the entity's name, its first letter lower-cased.
        package var variable: String
        /// Whether only the lists of records are requested that are new or have changed since the
        /// last complete scan of their list.
        package var onlyChanged = false

        /// Creates the declaration of parent records.
        public init(entity: String, parent: String?, variable: String) {
            self.entity = entity
            self.parent = parent
            self.variable = variable
        }

        /// The variable of a parent record of an entity.
        package static func variable(of entity: String) -> String { entity.prefix(1).lowercased() + entity.dropFirst() }
    }

    /// Creates an endpoint; the other properties have their defaults.
    public init(
        name: String, path: String, parameters: [Parameter] = [], records: JSONPath = JSONPath(keys: []),
        entity: String, pagination: Pagination = .automatic
    ) {
        self.name = name
        self.path = path
        self.parameters = parameters
        self.records = records
        self.entity = entity
        self.pagination = pagination
    }

    /// Returns the endpoint with the parameters of its API that it does not set itself.
    func completed(by api: APIDescription) -> Endpoint {
        guard !api.parameters.isEmpty else { return self }
        let own = Set(parameters.map(\.name))
        var endpoint = self
        endpoint.parameters += api.parameters.filter { !own.contains($0.name) }
        return endpoint
    }

    /// Stops the program if the rules for orphans do not fit the envelope and the parents.
    private func checkOrphans() {
        guard let orphans else { return }
        precondition(
            envelope.isEmpty
                || (orphans.scope == .listed && orphans.keep == nil && orphans.check == nil
                    && orphans.action == .delete),
            "orphans of several entities must be listed records, without a condition and without a path to check")
        precondition(
            forEach?.parent != nil || (orphans.scope != .owner && orphans.action != .unlink),
            "an owner needs for_each with a parent")
    }

    /// The combinations of the partitions' values; one without parameters if there are none.
    var combinations: [[Parameter]] {
        partitions.reduce([[]]) { found, partition in
            found.flatMap { parameters in partition.values.map { parameters + [Parameter(partition.name, $0)] } }
        }
    }

    /// Whether records that change while a scan is interrupted may move others past it.
    ///
    /// A list that is asked for by the largest value of a field usually has the order of this
    /// field. A record that changes leaves its page for the last one, and others follow it to the
    /// pages that were read before the interruption. It may have another order, too, whatever names
    /// its pages. A change feed names its pages by links or cursors: if they are counted, changes
    /// move them as well.
    var movesWhileInterrupted: Bool {
        guard let incremental else { return false }
        return incremental.field != nil || pagination.isCounted
    }

    /// Whether a scan consists of several lists.
    var hasSeveralLists: Bool { forEach != nil || !partitions.isEmpty }

    /// The variables of the path, in order, each once: `owner`, `repo`, `milestone.number`.
    package var pathVariables: [String] {
        (try? PathTemplate(path))?.variables ?? []
    }
}
