import CSimdJSON

/// The library that parses JSON.
package enum JSONLibrary {
    /// The version of simdjson, such as `3.0.1`.
    package static var version: String { tarn_json_version().map { String(cString: $0) } ?? "unknown" }
}
