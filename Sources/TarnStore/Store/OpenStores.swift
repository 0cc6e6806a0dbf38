// The stores that are open in this process, so that a second opening of a file finds the first one's store.

internal import LMDB

/// One entry for each open file. Like the registry of environments below it, it is global because the file's locks are.
enum OpenStores {
    private struct Entry {
        weak var store: Store?
    }

    private static let entries = Guarded<[FileIdentity: Entry]>([:])

    /// The store that is open on an environment. One that was inherited through `fork` is on another environment.
    static func store(of environment: Environment) -> Store? {
        let store = entries.withLock { $0[environment.file]?.store }
        return store?.environment === environment ? store : nil
    }

    static func add(_ store: Store) {
        entries.withLock { $0[store.environment.file] = Entry(store: store) }
    }

    /// Forgets a store that is going. It may have been opened anew already: then the entry is the new one's.
    static func remove(_ environment: Environment) {
        // Let go outside the lock: it may be the last reference to the new one, whose end takes the lock again.
        let other = entries.withLock { entries in
            let store = entries[environment.file]?.store
            if store == nil { entries[environment.file] = nil }
            return store
        }
        withExtendedLifetime(other) {}
    }
}
