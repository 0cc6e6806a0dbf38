// Python's jsonschema, which Debian has as python3-jsonschema.

import Foundation
import TestSupport

/// A validator of JSON texts against named JSON Schemas (draft 2020-12).
struct SchemaValidator {
    private static let script = """
        import json, sys
        import jsonschema
        schemas, text, name = sys.argv[1:]
        schema = json.loads(schemas)[name]
        jsonschema.Draft202012Validator.check_schema(schema)
        for error in jsonschema.Draft202012Validator(schema).iter_errors(json.loads(text)):
            print(error.json_path + ": " + error.message)
        """

    /// Whether this machine has the validator.
    static let isInstalled = (try? output(of: "/usr/bin/python3", ["-c", "import jsonschema"]))?.status == 0

    private let schemas: String

    /// - Parameter schemas: An object of schemas by name.
    init(_ schemas: String) throws {
        _ = try JSONSerialization.jsonObject(with: Data(schemas.utf8))
        self.schemas = schemas
    }

    /// Returns the problems of a text, a line each; empty if it is valid.
    func problems(of text: String, _ name: String) throws -> String {
        let result = try output(of: "/usr/bin/python3", ["-c", Self.script, schemas, text, name])
        return result.status == 0 ? result.text : "the validator failed: \(result.text)"
    }
}
