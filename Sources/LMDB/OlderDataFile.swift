// The note that a data file was replaced by an older one while no process had it open.

import Glibc

/// An empty file in the directory of an environment: the data file has lost commits.
///
/// The lock file has the number of the last commit, until the next process opens the environment.
/// The note outlasts that, for a process that may write.
package enum OlderDataFile {
    private static func path(in directory: String) -> String { directory + "/data.older" }

    /// Notes the loss. Without permission for the directory, nothing is noted.
    ///
    /// The environments of other programs, which have no `turn.lock`, get no note.
    static func note(in directory: String) {
        guard access(directory + "/turn.lock", F_OK) == 0 else { return }
        let descriptor = FileMode.openFile(path(in: directory), in: directory, O_WRONLY | O_NONBLOCK)
        if descriptor >= 0 { close(descriptor) }
    }

    /// Returns whether a loss is noted.
    package static func isNoted(in directory: String) -> Bool { access(path(in: directory), F_OK) == 0 }

    /// Removes the note.
    package static func remove(in directory: String) { unlink(path(in: directory)) }
}
