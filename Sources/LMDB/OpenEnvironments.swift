// The registry of open files, by device and inode: the only global state, as file locks are global.

import Glibc
import Locking

enum OpenEnvironments {
    private struct Entry {
        weak var environment: Environment?
        /// The fork count at opening: an environment that was inherited through `fork` is not open.
        var forks: Int
        /// The lock file; nil without locks.
        var lockFile: FileIdentity?
    }

    private static let entries = Guarded<[FileIdentity: Entry]>([:])

    /// Returns the environment that is open for the file, or creates it.
    ///
    /// Opening and closing exclude each other: between the last release and the end of `deinit`,
    /// the entry remains, and a new open waits for its removal.
    ///
    /// - Parameters:
    ///   - lock: Waits for other processes that open the environment. Called without the lock of
    ///     the registry: a process that is stopped there holds up no other environment of this one.
    ///   - create: Opens the environment, with both locks held.
    static func open(
        path: String, options: Environment.Options, lock: () throws(LMDBError) -> OpeningLock?,
        create: (_ others: Int) throws(LMDBError) -> Environment
    ) throws(LMDBError) -> Environment {
        while true {
            var found = entries.withLock { opened(path, $0) }
            if case .absent = found {
                let opening = try lock()
                defer { withExtendedLifetime(opening) {} }
                found = try entries.withLock { (entries: inout [FileIdentity: Entry]) throws(LMDBError) -> Found in
                    // Another thread may have opened it meanwhile.
                    let found = opened(path, entries)
                    guard case .absent = found else { return found }
                    let environment = try create(entries.count)
                    entries[environment.file] = Entry(
                        environment: environment, forks: environment.forks, lockFile: environment.lockFile)
                    return .open(environment)
                }
            }
            // The environment is released outside the lock: this may be the last reference, and its
            // release takes the lock.
            switch found {
            case .absent, .closing: usleep(1000)
            case .other: throw LMDBError(.fileReplaced, operation: "open", path: path + "/data.mdb")
            case .open(let environment):
                guard environment.options.isCompatible(with: options) else {
                    throw LMDBError(.optionsConflict, operation: "open", path: path)
                }
                return environment
            }
        }
    }

    /// The entry for a directory.
    private enum Found {
        case absent
        case open(Environment)
        /// The environment is being closed.
        case closing
        /// The directory's data file replaced that of an open environment: opening it would drop
        /// the locks of the open one.
        case other(Environment)
    }

    private static func opened(_ path: String, _ entries: [FileIdentity: Entry]) -> Found {
        if let file = FileIdentity(path: path + "/data.mdb"), let entry = entries[file],
            entry.forks == ForkCounter.current
        {
            return entry.environment.map { .open($0) } ?? .closing
        }
        guard let lock = FileIdentity(path: path + "/" + LockFile.name),
            let other = entries.values.first(where: { $0.lockFile == lock && $0.forks == ForkCounter.current })
        else { return .absent }
        return other.environment.map { .other($0) } ?? .closing
    }

    /// The address space of one more environment: a process has 128 TiB.
    ///
    /// 64 environments have a terabyte each, the next ones less: 512 have 104 TiB in all.
    static func share(besides others: Int) -> Int {
        switch others {
        case ..<64: 1 << 40
        case ..<128: 1 << 38
        case ..<512: 1 << 36
        default: 1 << 34
        }
    }

    /// Returns the environment that is open for the data file of a directory; nil if none is.
    static func environment(at path: String) -> Environment? {
        guard let file = FileIdentity(path: path + "/data.mdb") else { return nil }
        // Released outside the lock: it may be the last reference, and its release takes this lock.
        let environment = entries.withLock { entries in
            entries[file].flatMap { $0.forks == ForkCounter.current ? $0.environment : nil }
        }
        return environment
    }

    static func close(_ file: FileIdentity, _ body: () -> Void) {
        entries.withLock { entries in
            body()
            entries[file] = nil
        }
    }
}

extension Environment.Options {
    /// Returns whether a second open may share the first one's environment.
    ///
    /// Limits and the way of reading are not compared: those of the first open apply.
    func isCompatible(with other: Environment.Options) -> Bool {
        durability == other.durability && isReadOnly == other.isReadOnly && isImmutable == other.isImmutable
    }
}
