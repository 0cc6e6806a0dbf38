// The file `wake` of a store, touched after every commit with changes to notify watchers.

internal import Glibc
internal import LMDB
import Synchronization

/// An empty file whose modification time notifies watchers. They compare commit sequences.
package final class WakeFile: Sendable {
    let path: String
    private let descriptor = Atomic<Int32>(-1)
    /// For tests: suppresses touches, as after a writer was killed between commit and touch.
    package let isSilent = Atomic(false)

    init(directory: String) { path = directory + "/wake" }

    deinit {
        let descriptor = descriptor.load(ordering: .relaxed)
        if descriptor >= 0 { close(descriptor) }
    }

    /// Opens the file at a path, and creates it if it is missing.
    static func open(_ path: String) -> Int32 {
        FileMode.openFile(path, in: String(path.dropLast("/wake".count)), O_WRONLY | O_NONBLOCK)
    }

    /// Touches the file. Called by the writer's thread only; the slow check covers failures.
    func touch() {
        if isSilent.load(ordering: .relaxed) { return }
        var file = descriptor.load(ordering: .relaxed)
        if file < 0 {
            file = WakeFile.open(path)
            guard file >= 0 else { return }
            descriptor.store(file, ordering: .relaxed)
        }
        // Needs no space, even on a full disk.
        futimens(file, nil)
    }
}
