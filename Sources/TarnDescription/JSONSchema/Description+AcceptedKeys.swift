import Tarn
import TarnHTTP

extension Description {
    /// Returns the keys that the reader accepts in each mapping of a description, by dotted path.
    ///
    /// The description may have problems. The JSON Schema of descriptions is compared with it.
    package static func acceptedKeys(in text: String) throws -> [String: [String]] {
        var reader = DescriptionReader(file: "tarn.yaml", transformers: [], paginationStyles: .standard)
        _ = reader.description(try YAMLDocument.parse(text, file: "tarn.yaml"))
        return reader.acceptedKeys
    }

    /// Returns the YAML of a description as JSON text, with scalars as YAML 1.2 reads them.
    package static func json(ofYAML text: String) throws -> String {
        var json = ""
        try YAMLDocument.parse(text, file: "tarn.yaml").appendJSON(to: &json)
        return json
    }
}

extension YAMLValue {
    /// Appends the value as JSON (YAML 1.2.2 §10.3, the core schema).
    fileprivate func appendJSON(to json: inout String) {
        switch content {
        case .scalar(let text, plain: true) where isNull || ["true", "false"].contains(text):
            json += isNull ? "null" : text
        case .scalar(let text, let isPlain):
            if isPlain, let value = try? JSONValue(text), case .number = value {
                json += text
            } else {
                json.appendJSONString(text)
            }
        case .list(let values):
            json += "["
            for (index, value) in values.enumerated() {
                if index > 0 { json += "," }
                value.appendJSON(to: &json)
            }
            json += "]"
        case .mapping(let entries):
            json += "{"
            for (index, entry) in entries.enumerated() {
                if index > 0 { json += "," }
                json.appendJSONString(entry.key)
                json += ":"
                entry.value.appendJSON(to: &json)
            }
            json += "}"
        }
    }
}
