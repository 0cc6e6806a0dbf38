// Requests and changes through a bridge: sent, answered, drafted, and imported as one change.

import Foundation
import TarnHTTP
import TarnImport
import TarnStore

extension RecordClient {
    /// Fetches a request through a bridge, and imports all its answers as one change of the store.
    ///
    /// The answers are not kept as cached ones: see ``all(_:)`` for requests that the cache knows.
    ///
    /// - Throws: ``RemoteError`` if the server refuses an operation; `MirrorError`; errors of the
    ///   bridge; `CancellationError`. Nothing is stored then.
    public func fetch<B: Bridge>(_ request: B.Request, through bridge: B) async throws -> BridgeResult<B.Info> {
        try await imported(BridgeRun(self, bridge, try bridge.operations(for: request)))
    }

    /// Fetches a request through a bridge, and imports each answer when it is asked for.
    ///
    /// Each page is in the store before the loop sees it, and stays there if the loop ends early.
    public func pages<B: Bridge>(
        _ request: B.Request, through bridge: B
    ) throws -> some AsyncSequence<BridgeResult<B.Info>, any Error> & Sendable {
        BridgePages(client: self, first: BridgeRun(self, bridge, try bridge.operations(for: request)))
    }

    /// Performs operations until there are none, and imports their answers as one change.
    private func imported<B>(_ first: BridgeRun<B>) async throws -> BridgeResult<B.Info> {
        var run = first
        let lent = try cache.importers.take(store)
        defer { cache.importers.give(back: lent) }
        lent.value.keyLimit = client.options.keyLimit
        var result = BridgeResult<B.Info>()
        while run.hasNext {
            let step = try await run.step()
            run = step.rest
            try result.add(step, to: lent.value)
        }
        result.report = try await lent.value.commit(to: store)
        return result.withoutDropped()
    }

    /// Performs one operation, and imports its answer.
    fileprivate func page<B>(_ run: BridgeRun<B>) async throws -> (BridgeResult<B.Info>, rest: BridgeRun<B>) {
        let step = try await run.step(), lent = try cache.importers.take(store)
        defer { cache.importers.give(back: lent) }
        lent.value.keyLimit = client.options.keyLimit
        var result = BridgeResult<B.Info>()
        try result.add(step, to: lent.value)
        result.report = try await lent.value.commit(to: store)
        return (result.withoutDropped(), step.rest)
    }
}

extension BridgeResult {
    /// Drafts the records of an answer, and adds the rest of it.
    fileprivate mutating func add<B: Bridge>(_ step: BridgeRun<B>.Step, to importer: Importer) throws
    where B.Info == Info {
        for part in step.answer.parts {
            let added: Importer.Added
            do throws(ImportError) {
                added = try part.draft(step.response, source: step.source, into: importer)
            } catch {
                throw MirrorError.response(error, url: step.source, place: "the bridge \(B.self)")
            }
            listed += added.listed
        }
        metadata.merge(step.answer.metadata) { $1 }
        errors += step.answer.errors
        infos.append(step.operation.info)
    }

    /// The result without the records that the store has refused.
    fileprivate func withoutDropped() -> BridgeResult {
        let dropped = Set(report.dropped)
        var result = self
        if !dropped.isEmpty { result.listed.removeAll { dropped.contains($0) } }
        return result
    }
}

/// The answers of a bridge, each imported when it is asked for.
private struct BridgePages<B: Bridge>: AsyncSequence, Sendable {
    let client: RecordClient
    let first: BridgeRun<B>

    func makeAsyncIterator() -> AsyncIterator { AsyncIterator(client: client, run: first) }

    struct AsyncIterator: AsyncIteratorProtocol {
        let client: RecordClient
        var run: BridgeRun<B>

        /// Returns the result of the next answer; nil after the last one, and after an error.
        mutating func next() async throws -> BridgeResult<B.Info>? {
            guard run.hasNext else { return nil }
            let known = run
            run = known.ended
            let (result, rest) = try await client.page(known)
            run = rest
            return result
        }
    }
}
