// Importers that are kept for the next import: making one compiles the mapping.

import Synchronization
import TarnImport
import TarnStore

final class PipelinePool: Sendable {
    /// A pipeline in the hands of one task at a time: whoever has taken it out of the pool, and until it is given back nobody else. That is
    /// what makes it safe to send, and nothing that the compiler sees.
    struct Lent: @unchecked Sendable {
        let value: ImportPipeline
        fileprivate let catalog: Catalog
    }

    private let mapping: Mapping
    private let idle = Mutex<[Lent]>([])

    init(_ mapping: Mapping) { self.mapping = mapping }

    func take(_ store: Store) throws -> Lent {
        let catalog = store.catalog
        // Another process may have changed the catalog since.
        if let lent = idle.withLock({ $0.popLast() }), lent.catalog == catalog { return lent }
        return Lent(value: try ImportPipeline(mapping, catalog), catalog: catalog)
    }

    func give(back lent: Lent) {
        lent.value.discard()
        idle.withLock { if $0.count < 8 { $0.append(lent) } }
    }
}
