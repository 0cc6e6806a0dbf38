// A named request of an API, as a value.

import TarnHTTP
import TarnImport

/// A named request of an API: what is asked for, where the records are in the answer, and how its pages follow each other.
public struct Endpoint: Sendable, Hashable {
    /// Unique in the description.
    public var name: String
    /// Appended to the API's base URL. `{name}` stands for a parameter or, below a ``forEach``, `{milestone.number}` for an
    /// attribute of the record that it is walked for. Begins with `/`; has neither query nor fragment.
    public var path: String
    /// In the order of the file. Those that the path names fill it; the others become query parameters in this order.
    public var parameters: [Parameter]
    /// Where the list of records is in the answer.
    public var records: KeyPath
    /// The entity of the listed records.
    public var entity: String
    public var pagination: Pagination
    /// Set if the endpoint is walked once for every stored record of an entity.
    public var forEach: ForEach?
    /// Where it was declared, for error texts: `forge.yaml:41`.
    public var place: String

    /// A named value of a request, not encoded.
    public struct Parameter: Sendable, Hashable {
        public var name: String
        public var value: String

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
    }

    public init(
        name: String, path: String, parameters: [Parameter] = [], records: KeyPath = KeyPath(keys: []), entity: String,
        pagination: Pagination = .singlePage, forEach: ForEach? = nil, place: String = ""
    ) {
        self.name = name
        self.path = path
        self.parameters = parameters
        self.records = records
        self.entity = entity
        self.pagination = pagination
        self.forEach = forEach
        self.place = place
    }

    /// The names in braces of the path, in order, each once: `owner`, `repo`, `milestone.number`.
    public var pathVariables: [String] {
        (try? PathTemplate(path))?.variables ?? []
    }
}

/// A path with names in braces: `/repos/{owner}/{repo}`.
struct PathTemplate {
    /// In the order of the path, each once.
    private(set) var variables: [String] = []

    /// Why a text is no such path, and what to do.
    struct Malformed: Error {
        var message: String
    }

    init(_ text: String) throws(Malformed) {
        guard text.hasPrefix("/") else {
            throw Malformed(message: "a path begins with /: the base URL goes before it")
        }
        var variable: String?
        for scalar in text.unicodeScalars {
            switch (scalar, variable) {
            case ("{", nil): variable = ""
            case ("{", _): throw Malformed(message: "a { inside of { }: close the first one with }")
            case ("}", nil): throw Malformed(message: "a } without a {: write the name as {name}")
            case ("}", let name?):
                guard !name.isEmpty else { throw Malformed(message: "{} has no name: write {name} and its value under with") }
                if !variables.contains(name) { variables.append(name) }
                variable = nil
            case (_, let name?):
                guard PathTemplate.isNameScalar(scalar) else {
                    throw Malformed(message: "the name after \"{\(name)\" may have only letters, digits, _, - and .: close it with }")
                }
                variable = name + String(scalar)
            case ("?", nil): throw Malformed(message: "a path has no query: write its parameters under with")
            case ("#", nil): throw Malformed(message: "a path has no fragment: remove the # and what follows")
            case (_, nil):
                guard scalar.value > 0x20, scalar.value != 0x7F else {
                    throw Malformed(message: "a path has no spaces or control characters: write them percent-encoded")
                }
            }
        }
        if let variable { throw Malformed(message: "\"{\(variable)\" is not closed: write {\(variable)}") }
    }

    private static func isNameScalar(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar {
        case "a"..."z", "A"..."Z", "0"..."9", "_", "-", ".": true
        default: false
        }
    }
}
