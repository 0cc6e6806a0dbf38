// `tarn inspect schema`: the catalog of a store.

import ArgumentParser
import TarnInspect

struct InspectSchemaCommand: InspectingCommand {
    static let configuration = CommandConfiguration(
        commandName: "schema",
        abstract: "Print the schema of a store as a description file, with its ids.",
        discussion: """
            The output is a description that `tarn check` accepts: entities with keys, attributes, relationships and \
            indexes. Ids, retired fields and unfinished indexes are comments. A store does not know the API's address, \
            its endpoints and the sources of values in JSON: add them before you sync with the file.

            Of an LMDB file of another program, the tables are shown with their options, the number of entries, and \
            the kinds of the first thousand keys and values.

            Examples:
              tarn inspect schema forge.tarn
              tarn inspect schema forge.tarn > catalog.yaml && tarn check --file catalog.yaml
              tarn inspect schema other.mdb
              tarn inspect schema forge.tarn --json | jq '.entities[] | [.name, .id]'
            """)

    @Argument(help: "Store directory, or its data.mdb.") var store: String
    @Flag(help: "Print one JSON object.") var json = false

    func run(on inspector: StoreInspector) throws {
        if let tables = try TableQuestions(store, inspector, unfit: []) { return try tables.schema(json: json) }
        let schema = try inspector.schema()
        noteWithoutLocks(store, schema.aloneBecause)
        if json {
            try Output.json(schema.json)
        } else {
            for line in schema.yaml { Output.yaml(YAMLText.visible(line)) }
        }
        guard !schema.findings.isEmpty else { return }
        for finding in schema.findings {
            Output.error("\(store): \(finding.place): \(finding.detail) [\(finding.code.rawValue)]")
        }
        throw Failure(.store, "\(store): the store is damaged; `tarn inspect verify` checks everything")
    }
}
