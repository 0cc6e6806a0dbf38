import Foundation
import Tarn

/// A store for whole responses: one of records as it is, or a new one without any.
enum RawStore {
    static func open(_ path: String) throws -> Store {
        FileManager.default.fileExists(atPath: path)
            ? try Store.open(at: path) : try Store.open(at: path, schema: Schema([]))
    }
}
