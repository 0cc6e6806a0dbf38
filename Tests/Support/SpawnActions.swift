// File actions of child processes.

import Glibc

extension posix_spawn_file_actions_t {
    /// Lets the child inherit standard input, output and error only.
    ///
    /// Other threads of the tests start processes at the same time. A pipe or a socket that such a
    /// process inherits stays open until it ends: the end of a pipe is then never seen.
    package mutating func closeInheritedFiles() {
        // From glibc 2.34; Swift does not import it.
        typealias CloseFrom = @convention(c) (UnsafeMutablePointer<posix_spawn_file_actions_t>, Int32) -> Int32
        guard let symbol = dlsym(nil, "posix_spawn_file_actions_addclosefrom_np") else {
            preconditionFailure("glibc 2.34 or newer is needed")
        }
        _ = unsafeBitCast(symbol, to: CloseFrom.self)(&self, 3)
    }
}
