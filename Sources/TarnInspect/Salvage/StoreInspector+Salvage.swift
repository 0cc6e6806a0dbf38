// The salvage of every readable row of a damaged store into a new one.

import Foundation
import TarnStore

extension StoreInspector {
    /// Copies every readable row of a damaged store into a new store.
    ///
    /// The new store must not exist before and is complete when this returns. The damaged store is
    /// only read. Records keep their keys, values and versions. Indexes are rebuilt, the change log
    /// starts anew, and the new store has an incarnation of its own.
    ///
    /// If both meta pages are unreadable, the newest trees are found by the content of all pages.
    /// Rows on pages that no tree reaches are found by their checksums, and so are marks of local
    /// changes and operations of the outbox, unless they may be outdated. Lost records are named as
    /// far as a page has their key. Memory does not grow with the size of the file.
    ///
    /// The tables of an LMDB file of another program are copied into a new LMDB environment.
    ///
    /// - Parameters:
    ///   - new: A path at which no file or directory exists.
    ///   - progress: A closure that is called with every page read.
    /// - Throws: `StoreOpenError.noSuchStore`, `.newerFormat`, `.unknownFeature`; `.notAStore` and
    ///   `StoreError.damagedCatalog` if nothing describes the rows;
    ///   `StoreMaintenanceError.destinationExists`; `.changedMeanwhile` if no transaction held the
    ///   file and commits were made meanwhile, in which case no store is created; errors of
    ///   writing.
    public func salvage(to new: String, progress: ((Progress) -> Void)? = nil) throws -> SalvageReport {
        var status = stat()
        guard lstat(new, &status) != 0 else { throw StoreMaintenanceError.destinationExists(path: new) }
        return try open(findsLostMeta: true, progress: progress) { file in
            if let problem = file.formatProblem, problem.code == .newerFormat {
                throw file.newerFormat(path)
            }
            if !file.hasCatalog { file.lookForSettings() }
            guard file.hasCatalog else {
                let lost = StoreError.damagedCatalog(
                    path: path, detail: "no readable copy was found; restore a backup, or mirror again")
                guard !file.isStore, let salvage = ForeignSalvage(file, to: new) else { throw lost }
                return try salvage.run()
            }
            let salvage = try Salvage(file, to: new)
            do {
                return try salvage.run()
            } catch {
                salvage.store.abandon()
                throw error
            }
        }
    }
}
