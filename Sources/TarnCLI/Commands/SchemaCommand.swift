// `tarn schema`: the schema of description files, for editors.

import ArgumentParser
import TarnDescription

struct SchemaCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "schema",
        abstract: "Print the JSON Schema of description files.",
        discussion: """
            Editors that use yaml-language-server complete and check a description whose first line names the schema:

              # yaml-language-server: $schema=./tarn.schema.json

            Example:
              tarn schema --json-schema > tarn.schema.json
            """)

    @Flag(help: "Print the JSON Schema (draft 2020-12) of description files: the default and only form.")
    var jsonSchema = false

    func run() { Output.lines(DescriptionSchema.text) }
}
