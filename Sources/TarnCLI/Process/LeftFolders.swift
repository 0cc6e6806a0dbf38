// Temporary folders that the end of the process must not leave behind.

import Foundation
import Locking

/// The temporary folders that exist now.
///
/// An output that cannot be written ends the process where it is: no `defer` removes them then.
enum LeftFolders {
    private static let paths = Guarded<Set<String>>([])

    static func add(_ path: String) { _ = paths.withLock { $0.insert(path) } }

    /// Removes a folder.
    static func remove(_ path: String) {
        _ = paths.withLock { $0.remove(path) }
        try? FileManager.default.removeItem(atPath: path)
    }

    /// Removes all folders, before the process ends.
    static func removeAll() {
        for path in paths.withLock(\.self) { remove(path) }
    }
}
