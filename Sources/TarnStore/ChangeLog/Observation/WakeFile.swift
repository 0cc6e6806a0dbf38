// The file `wake` of a store: touched after every commit that changed something, so that whoever watches it wakes up.

internal import Glibc
internal import LMDB
import Synchronization

/// An empty file whose times change. It says nothing by itself: whoever wakes up compares commit sequences.
package final class WakeFile: Sendable {
    let path: String
    private let descriptor = Atomic<Int32>(-1)
    /// For tests: commits, and tells nobody, as a writer does that is killed in between.
    package let isSilent = Atomic(false)

    init(directory: String) { path = directory + "/wake" }

    deinit {
        let descriptor = descriptor.load(ordering: .relaxed)
        if descriptor >= 0 { close(descriptor) }
    }

    /// Called by the writer's thread only. What fails is made up for by the slow check of those who watch.
    func touch() {
        if isSilent.load(ordering: .relaxed) { return }
        var file = descriptor.load(ordering: .relaxed)
        if file < 0 {
            file = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | O_NONBLOCK, FileMode.inside(String(path.dropLast("/wake".count))))
            guard file >= 0 else { return }
            descriptor.store(file, ordering: .relaxed)
        }
        // Needs no room, also on a full disk.
        futimens(file, nil)
    }
}
