// A pool of importers: creating one compiles the mapping.

import Locking
import TarnImport
import TarnStore

final class ImporterPool: Sendable {
    /// An importer that one task at a time uses.
    ///
    /// It is safe to send, although the compiler cannot see it: between `take(_:)` and
    /// `give(back:)` only the task that has taken the importer uses it.
    struct Lent: @unchecked Sendable {
        let value: Importer
        fileprivate let catalog: Catalog
    }

    private let mapping: Mapping
    private let digest: String
    private let idle = Guarded<[Lent]>([])

    /// The number of idle importers that are kept.
    private let limit: Int

    init(_ client: APIClient, idle limit: Int = 8) {
        mapping = client.description.mapping
        digest = client.mappingDigest
        self.limit = limit
    }

    func take(_ store: Store) throws -> Lent {
        let catalog = store.catalog
        // Another process may have changed the catalog since the importer was made.
        if let lent = idle.withLock({ $0.popLast() }), lent.catalog == catalog { return lent }
        let importer = try Importer(mapping, catalog)
        importer.mappingDigest = digest
        importer.collectsMirrors = true
        return Lent(value: importer, catalog: catalog)
    }

    func give(back lent: Lent) {
        lent.value.discard()
        lent.value.hooks = ImportHooks()
        idle.withLock { if $0.count < limit { $0.append(lent) } }
    }
}
