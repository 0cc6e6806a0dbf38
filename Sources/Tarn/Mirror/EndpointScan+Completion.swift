// The end of a list's scan: its value for the next one, and whether it shows all records.

import Foundation
import TarnHTTP
import TarnImport
import TarnStore

extension EndpointScan {
    /// Marks the current scan as complete.
    ///
    /// - Parameter doubt: see ``PageSequence/doubt``.
    /// - Throws: the error that a page has stated beside its records, or that of a window which
    ///   moves no value. What has failed is unknown: the next scan begins anew, with the same
    ///   value.
    func complete(_ list: ListScan, isCutOff: Bool, doubt: EndDoubt? = nil) throws {
        try checkPartialError(of: list)
        try checkWindowMoves(of: list)
        if let repeated = list.repeated, repeated.count > report.repeated?.count ?? 0, !list.pages.repeatsRecords {
            report.repeated = repeated
        }
        countsPages = list.pages.choice?.pagination.isCounted
        list.hasFurtherWindow = complete(&list.target, isCutOff: isCutOff, doubt: doubt)
    }

    /// Ends a list of which a page has stated an error beside its records, in this run or before.
    ///
    /// - Throws: the error.
    func checkPartialError(of list: ListScan) throws {
        guard let error = partialError(in: list.target.checkpoint) else { return }
        list.target.checkpoint.nextURL = nil
        batch.add(list.target.checkpoint, list.target.name, of: list.index)
        throw error
    }

    /// The first error that a page of a list has stated beside its records; nil if none has.
    func partialError(in checkpoint: Checkpoint) -> MirrorError? {
        checkpoint.partialError.map {
            .status(code: $0.status, method: endpoint.method, url: $0.url, message: $0.message)
        }
    }

    /// - Returns: whether another window of the list follows in this sync.
    private func complete(_ target: inout ScanTarget, isCutOff: Bool, doubt: EndDoubt?) -> Bool {
        let isInDoubt = doubt != nil, isAgain = doubt.map { $0.isKnown(after: target.beginning) } ?? false
        var checkpoint = target.checkpoint, counts = EndCounts()
        checkpoint.nextURL = nil
        checkpoint.state = .complete
        checkpoint.completedAt = client.now
        checkpoint.isCutOff = isCutOff
        checkpoint.mayEndAtLimit = doubt?.countsIfRepeated == false
        noteKnown(target, &checkpoint, isInDoubt: isInDoubt && !isAgain)
        let isWhole = target.request.since == nil || target.request.since == endpoint.incremental?.initial
        if isCutOff {
            counts.cutOff = 1
            // Another scan of everything would end there, too.
            if isWhole, checkpoint.since != nil { checkpoint.wholeSince = checkpoint.startedAt }
        } else {
            counts.doubt = doubt
            // The responses of a cache are its own, even if they belong to a scan, too.
            if target.request.since == nil, checkpoint.skipped == 0, !isInDoubt, !checkpoint.isOfTwoShapes,
                !endpoint.isTypedRequest
            {
                checkpoint.whole = Checkpoint.WholeScan(identity: target.identity.responses, scan: checkpoint.scan)
                if target.hasNewPages { listsWithNewPages.insert(ExactText(target.name)) }
            }
            if checkpoint.isOfTwoShapes {
                // The value stays: the list is unknown.
            } else if isInDoubt, !isAgain, !(target.beginning.wasInDoubt && checkpoint.pages > 1 && target.isInOrder) {
                // The records of a lost page would never be requested again. Twice in a row, an
                // empty page is usual; in the order of the field, later scans list what is behind.
                if endpoint.incremental != nil { counts.inDoubt = 1 }
            } else {
                if isInDoubt, endpoint.incremental != nil { counts.inDoubtAgain = 1 }
                checkpoint.since =
                    target.beginning.pages > 0 && endpoint.movesWhileInterrupted
                    ? held(by: checkpoint, target.request) : next(after: checkpoint, target.request)
                if isWhole { checkpoint.wholeSince = checkpoint.startedAt }
            }
            checkpoint.wasInDoubt = isInDoubt
            checkpoint.isKnownEmpty = checkpoint.records == 0 && (isWhole || target.beginning.isKnownEmpty)
            checkpoint.scanned = target.identity.responses
            // A list without records has no value of a field.
            if let rule = endpoint.incremental, checkpoint.seen == nil, rule.field == nil || checkpoint.records > 0 {
                counts.withoutValue = 1
            }
        }
        note(counts, ofList: target.index)
        let goesOn = hasFurtherWindow(checkpoint, target)
        if goesOn { (checkpoint.state, checkpoint.completedAt) = (.underWay, target.beginning.completedAt) }
        checkpoint.begunUntil = nil
        (checkpoint.seen, checkpoint.begunSince, checkpoint.heldSince) = (nil, nil, nil)
        // The sync is complete with its last endpoint, unless an earlier one was interrupted.
        let isLast = lists.isEmpty && queue.isEmpty && overtaken.isEmpty && !mayBringParents
        if isLast, !goesOn, !holdsCommits, let run = syncRun, run.isLast(endpoint.name) {
            batch.add(run.completed(at: client.now), run.name, of: nil)
        }
        if let rules = endpoint.orphans {
            lookForRefusal(rules, &checkpoint, target, isCutOff: isCutOff, doubt: doubt)
            if checkpoint.hasOrphans {
                batch.completed.append(
                    Batch.Completed(
                        identity: target.identity, parent: target.request.parent?.key, checkpointName: target.name,
                        scan: checkpoint.scan, previous: target.previous))
            }
        }
        batch.add(checkpoint, target.name, of: target.index)
        target.checkpoint = checkpoint
        return goesOn
    }
}
