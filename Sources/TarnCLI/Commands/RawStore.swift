import Foundation
import Tarn

/// The store for whole responses: an existing store of records, or a new one with an empty schema.
enum RawStore {
    static func open(_ path: String) throws -> Store {
        try Failure.ofLocking {
            FileManager.default.fileExists(atPath: path)
                ? try Store.open(at: path) : try Store.open(at: path, schema: Schema([]))
        }
    }
}
