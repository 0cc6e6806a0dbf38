// A named request of an API, as a value.

import TarnHTTP
import TarnImport

/// A named request of an API: what is asked for, where the records are in the answer, and how its pages follow each other.
public struct Endpoint: Sendable, Hashable {
    /// Unique in the description.
    public var name: String
    /// `GET`, or another one for an API that is asked by what a body says.
    public var method: String
    /// Appended to the API's base URL. `{name}` stands for a parameter or, below a ``forEach``, `{milestone.number}` for an
    /// attribute of the record that it is walked for. Begins with `/`; has neither query nor fragment.
    public var path: String
    /// In the order of the file. Those that the path names fill it; the others become query parameters in this order.
    public var parameters: [Parameter]
    /// What is sent along. A text in it that is `{name}` and nothing else stands for a parameter, as in the path.
    public var body: RequestBody?
    /// Where the list of records is in the answer.
    public var records: KeyPath
    /// The entity of the listed records; of several, the first.
    public var entity: String
    /// Where the records of which entity are, if they are of several; empty if there is one list.
    public var envelope: [EnvelopePart]
    public var pagination: Pagination
    /// How a walk goes on where the server refuses pages that are too far in; nil if that is an error.
    public var deep: DeepPages?
    /// How far a walk may go.
    public var limits: Limits
    /// Which signs count that there is more than a walk takes.
    public var more: PageEvidence.Rule
    /// Set if the endpoint is walked once for every stored record of an entity.
    public var forEach: ForEach?
    /// What is committed together.
    public var commitUnit: CommitUnit
    /// What becomes of records that the server no longer lists; nil if they stay.
    public var orphans: Orphans?
    /// What is to be done with certain answers. They go before those of the API.
    public var responses: [ResponseRule]
    /// What is kept of an answer beside its records.
    public var metadata: [Metadata]
    /// Where it was declared, for error texts: `forge.yaml:41`.
    public var place: String

    /// What of a walk is one change of the store: all of it is there, or nothing.
    public enum CommitUnit: Sendable, Hashable {
        /// That many pages, and what is left at the end. An endpoint that is walked for every record of an entity counts the pages of all
        /// its walks: a unit may be of several requests.
        case pages(Int)
        /// All pages of a walk. They are held in memory until then.
        case walk
    }

    /// How far a walk may go, beside ``Mirror/Options/pageLimit``.
    public struct Limits: Sendable, Hashable {
        /// Nil for no limit but that of the mirror.
        public var pages: Int?
        /// How many records a walk may list; nil for no limit.
        public var records: Int?
        /// Whether a walk ends there quietly, without having seen everything; otherwise that is an error.
        public var stopsQuietly: Bool

        /// Limits of a walk; none if nothing is said.
        public init(pages: Int? = nil, records: Int? = nil, stopsQuietly: Bool = false) {
            self.pages = pages
            self.records = records
            self.stopsQuietly = stopsQuietly
        }
    }

    /// A value of an answer that is kept with its entry, and given back with every answer from the store.
    public struct Metadata: Sendable, Hashable {
        /// Under which it is given back.
        public var name: String
        /// From the document's root.
        public var path: KeyPath

        /// A value under a name.
        public init(_ name: String, _ path: KeyPath) {
            self.name = name
            self.path = path
        }
    }

    /// A named value of a request, not encoded.
    public struct Parameter: Sendable, Hashable {
        /// As the path or the query has it.
        public var name: String
        /// As it is, before it is encoded.
        public var value: String

        /// A value for a name.
        public init(_ name: String, _ value: String) {
            self.name = name
            self.value = value
        }
    }

    /// The records that an endpoint is walked for.
    public struct ForEach: Sendable, Hashable {
        /// The entity whose stored records are gone through.
        public var entity: String
        /// The to-one relationship of the listed entity that is set to that record.
        public var parent: String?
        /// How the path names that record: the entity's name with its first letter in lower case.
        public var variable: String

        public init(entity: String, parent: String?, variable: String) {
            self.entity = entity
            self.parent = parent
            self.variable = variable
        }

        /// How paths name a record of an entity.
        public static func variable(of entity: String) -> String { entity.prefix(1).lowercased() + entity.dropFirst() }
    }

    public init(
        name: String, method: String = "GET", path: String, parameters: [Parameter] = [], body: RequestBody? = nil, records: KeyPath = KeyPath(keys: []), entity: String,
        envelope: [EnvelopePart] = [], pagination: Pagination = .automatic, deep: DeepPages? = nil, limits: Limits = Limits(),
        more: PageEvidence.Rule = .fail,
        forEach: ForEach? = nil,
        commitUnit: CommitUnit = .pages(1), orphans: Orphans? = nil, responses: [ResponseRule] = [],
        metadata: [Metadata] = [], place: String = ""
    ) {
        self.metadata = metadata
        if let orphans {
            let hasOwner = forEach?.parent != nil
            precondition(
                envelope.isEmpty || (orphans.scope == .listed && orphans.keep == nil && orphans.check == nil && orphans.action == .delete),
                "of several entities only listed records are looked for, without a condition or a path of their own")
            precondition(hasOwner || (orphans.scope != .owner && orphans.action != .unlink), "without for_each and its parent there is no owner")
        }
        self.commitUnit = commitUnit
        self.orphans = orphans
        self.responses = responses
        self.name = name
        self.path = path
        self.parameters = parameters
        self.records = records
        self.entity = entity
        self.envelope = envelope
        self.pagination = pagination
        self.method = method
        self.body = body
        self.deep = deep
        self.limits = limits
        self.more = more
        self.forEach = forEach
        self.place = place
    }

    /// The names in braces of the path, in order, each once: `owner`, `repo`, `milestone.number`.
    public var pathVariables: [String] {
        (try? PathTemplate(path))?.variables ?? []
    }
}
