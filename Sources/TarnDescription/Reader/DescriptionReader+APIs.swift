// The sections `api` and `apis`: one API, or several by name, and the key `api` that selects one.

import Tarn
import TarnImport

extension DescriptionReader {
    /// An API as the file declares it.
    struct ReadAPI {
        /// The name; nil for the only API, of the section `api`.
        var name: String?
        /// The dotted path of its section.
        var field: String
        /// The description; nil if it is not valid.
        var description: APIDescription?
        /// The naming and the rules for values of its records.
        var mapping = Mapping()
        /// The parameters of every request.
        var parameters: [Endpoint.Parameter] = []
        /// The header field that the authentication sets.
        var authenticationFields: [String] = []
        /// The query parameter that the authentication sets.
        var authenticationParameter: String?

        init(name: String?, field: String) {
            self.name = name
            self.field = field
        }
    }

    /// Reads the section `api`, or the APIs of the section `apis`.
    mutating func apis(_ top: Section) -> [ReadAPI] {
        guard top["apis"] != nil else {
            return top["api"].map { [api($0, ReadAPI(name: nil, field: "api"))] } ?? []
        }
        if top["api"] != nil {
            report(top, "api", "api and apis exclude each other: move this API to apis, with a name")
        }
        let entries = entries(top, "apis", of: "names to APIs")
        if entries.isEmpty, !isReported("apis") {
            report(top, "apis", "no APIs: write apis: { forge: { base: 'https://api.example.org' } }")
        }
        return entries.enumerated().map { index, entry in
            let field = "apis.\(entry.key)"
            checkName(entry, field, of: "API")
            let read = api(entry.value, ReadAPI(name: entry.key, field: field))
            if index > 0, isRecorded("\(field).cache") {
                report(
                    at: "\(field).cache",
                    "all APIs share one cache: write it in the first one, apis.\(entries[0].key)")
            }
            return read
        }
    }

    /// Reads `api: people` of an entity or an endpoint; nil for the first API.
    mutating func apiName(_ section: Section) -> String? {
        guard let name = text(section, "api") else { return nil }
        guard let first = apis.first, first.name != nil else {
            // A file without any API is reported already.
            if !apis.isEmpty {
                report(section, "api", "this file has a single API: remove the line, or name several under apis")
            }
            return nil
        }
        guard apis.contains(where: { $0.name == name }) else {
            report(section, "api", Spelling.unknown("API", name, among: apis.compactMap(\.name)))
            return nil
        }
        return name == first.name ? nil : name
    }

    /// The API with a name; the first one for nil.
    func readAPI(_ name: String?) -> ReadAPI {
        apis.first { name != nil && $0.name == name } ?? apis.first ?? ReadAPI(name: nil, field: "api")
    }
}
