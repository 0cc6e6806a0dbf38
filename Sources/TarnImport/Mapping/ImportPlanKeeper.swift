// The plans of a mapping that several importers use at the same time.

import Locking
internal import TarnStore

/// Compiles a mapping once for many importers: hundreds of syncs may run side by side, and each
/// has a plan of all entities.
///
/// It belongs to a value with a mapping, such as a description, and to its copies: all of them are
/// equal as far as it is concerned.
package final class ImportPlanKeeper: Sendable, Hashable {
    /// A plan that no importer uses: importers have copies, and these share what they only read.
    ///
    /// `@unchecked`: nothing changes it.
    private struct Known: @unchecked Sendable {
        let mapping: Mapping
        let catalog: Catalog
        let plan: ImportPlan
    }

    private let known = Guarded<Known?>(nil)

    package init() {}

    /// Returns a plan for one importer.
    ///
    /// - Throws: as `Importer.init(_:_:)`.
    func plan(_ mapping: Mapping, _ catalog: Catalog) throws(ImportError) -> ImportPlan {
        // Code of the same name is equal, and may differ.
        guard !mapping.hasCode else { return try ImportPlan(mapping, catalog) }
        let latest = known.withLock { $0 }
        if let latest, latest.catalog == catalog, latest.mapping == mapping { return ImportPlan(copying: latest.plan) }
        let plan = try ImportPlan(mapping, catalog)
        known.withLock { [made = Known(mapping: mapping, catalog: catalog, plan: plan)] in $0 = made }
        return ImportPlan(copying: plan)
    }

    package static func == (a: ImportPlanKeeper, b: ImportPlanKeeper) -> Bool { true }

    package func hash(into hasher: inout Hasher) {}
}

extension Mapping {
    /// Whether the program has given it closures.
    fileprivate var hasCode: Bool {
        !transformers.isEmpty
            || entities.values.contains { mapping in
                mapping.choice?.rules.contains(where: \.hasCode) ?? false
            }
    }
}

extension EntityChoice.Rule {
    fileprivate var hasCode: Bool {
        switch self {
        case .code: true
        case .entity(_, let conditions):
            conditions.contains { if case .satisfies = $0.test { true } else { false } }
        }
    }
}
