// The registry of the stores that are open in this process. A file opened twice is one store.

internal import LMDB
import Locking

/// One entry for each open file.
/// Like the registry of environments below it, it is global because the file's locks are.
enum OpenStores {
    private struct Entry {
        weak var store: Store?
    }

    private static let entries = Guarded<[FileIdentity: Entry]>([:])

    /// Returns the store that is open on an environment.
    /// A store inherited through `fork` has another environment, and is not returned.
    static func store(of environment: Environment) -> Store? {
        let store = entries.withLock { $0[environment.file]?.store }
        return store?.environment === environment ? store : nil
    }

    static func add(_ store: Store) {
        entries.withLock { $0[store.environment.file] = Entry(store: store) }
    }

    /// Removes the entry of a store that is being deinitialised.
    /// If the file was opened anew in between, the entry is that of the new store, and is kept.
    static func remove(_ environment: Environment) {
        // Released outside the lock: this may be the last reference to the new store, and its
        // deinit takes the lock again.
        let other = entries.withLock { entries in
            let store = entries[environment.file]?.store
            if store == nil { entries[environment.file] = nil }
            return store
        }
        withExtendedLifetime(other) {}
    }
}
