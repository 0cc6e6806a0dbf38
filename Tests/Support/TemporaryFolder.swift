// A temporary folder for each test.

import Foundation
import Synchronization

/// A new folder, removed with the last reference to it or with the process: a static owner is never
/// released.
package final class TemporaryFolder: Sendable {
    private static let left = Mutex<Set<String>>([])
    private static let removesLeft: Void = {
        atexit { TemporaryFolder.left.withLock { $0.forEach { try? FileManager.default.removeItem(atPath: $0) } } }
    }()

    package let path: String

    package init() throws {
        path = FileManager.default.temporaryDirectory.path + "/tarn-test-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        _ = TemporaryFolder.removesLeft
        _ = TemporaryFolder.left.withLock { $0.insert(path) }
    }

    deinit {
        try? FileManager.default.removeItem(atPath: path)
        _ = TemporaryFolder.left.withLock { $0.remove(path) }
    }

    /// A path inside, where nothing is yet.
    package func callAsFunction(_ name: String) -> String { path + "/" + name }

    /// Writes a file and returns its path.
    package func write(_ name: String, _ text: String) throws -> String {
        try Data(text.utf8).write(to: URL(fileURLWithPath: path + "/" + name))
        return path + "/" + name
    }
}
