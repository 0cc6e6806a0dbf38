// Requests and changes through a bridge: sent, answered, drafted, and imported as one change.

import Foundation
import TarnImport
import TarnStore

extension RecordClient {
    /// Fetches a request through a bridge, and imports all its answers as one change of the store.
    ///
    /// The answers are not kept as cached ones: see ``all(_:)`` for requests that the cache knows.
    /// Of a ``RecordRequest`` the rules for responses, the domain, the deadline, the priority and
    /// the logger apply, through any bridge.
    ///
    /// - Throws: ``RemoteError`` if the server refuses an operation; `MirrorError`; errors of the
    ///   bridge; `CancellationError` if the task or the domain is cancelled. Nothing is stored
    ///   then.
    public func fetch<B: Bridge>(_ request: B.Request, through bridge: B) async throws -> BridgeResult<B.Info> {
        let run = BridgeRun(self, bridge, request, try bridge.operations(for: request))
        return try await RecordClient.cancellable {
            try await self.domains.call(in: run.options.domains).run { try await self.imported(run) }
        }
    }

    /// Fetches a request through a bridge, and imports each answer when it is asked for.
    ///
    /// Each page is in the store before the loop sees it, and stays there if the loop ends early.
    public func pages<B: Bridge>(
        _ request: B.Request, through bridge: B
    ) throws -> some AsyncSequence<BridgeResult<B.Info>, any Error> & Sendable {
        BridgePages(client: self, bridge: bridge, request: request, operations: try bridge.operations(for: request))
    }

    /// Performs operations until there are none, and imports their answers as one change.
    private func imported<B>(_ run: BridgeRun<B>) async throws -> BridgeResult<B.Info> {
        let lent = try importer(for: run)
        defer { cache.importers.give(back: lent) }
        var result = BridgeResult<B.Info>()
        while let step = try await run.step() { try result.add(step, to: lent.value) }
        result.report = try await lent.value.commit(to: store)
        return result.withoutDropped()
    }

    /// Performs one operation, and imports its answer; nil if there is none.
    fileprivate func page<B>(_ run: BridgeRun<B>) async throws -> BridgeResult<B.Info>? {
        let lent = try importer(for: run)
        defer { cache.importers.give(back: lent) }
        var result = BridgeResult<B.Info>()
        guard let step = try await run.step(run.options.deadline) else { return nil }
        try result.add(step, to: lent.value)
        result.report = try await lent.value.commit(to: store)
        return result.withoutDropped()
    }

    /// An importer for answers to operations that are sent from now on.
    private func importer<B>(for run: BridgeRun<B>) throws -> ImporterPool.Lent {
        // A change that is sent meanwhile is newer than the answers.
        let revision = try store.read { try $0.outbox.revision }
        let lent = try cache.importers.take(store)
        lent.value.keyLimit = client.options.keyLimit
        lent.value.hooks = cache.hooks(for: run.endpoint, run.options.transfer)
        lent.value.unit.outboxRevision = revision
        return lent
    }

    /// Runs a call, and throws `CancellationError` for each form of a cancellation.
    fileprivate static func cancellable<Result>(_ body: () async throws -> Result) async throws -> Result {
        do { return try await body() } catch {
            if (error as? CacheError)?.isCancelled == true { throw CancellationError() }
            if case .cancelled? = error as? MirrorError { throw CancellationError() }
            throw error
        }
    }
}

extension BridgeResult {
    /// Drafts the records of an answer, and adds the rest of it.
    fileprivate mutating func add<B: Bridge>(_ step: BridgeRun<B>.Step, to importer: Importer) throws
    where B.Info == Info {
        for part in step.answer.parts {
            let added: Importer.Added
            do throws(ImportError) {
                added = try part.draft(
                    step.response, source: step.source, besides: step.answer.errors, into: importer)
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
    let bridge: B
    let request: B.Request
    let operations: [RemoteOperation<B.Info>]

    func makeAsyncIterator() -> AsyncIterator {
        let run = BridgeRun(client, bridge, request, operations)
        return AsyncIterator(client: client, run: run, call: client.domains.call(in: run.options.domains))
    }

    struct AsyncIterator: AsyncIteratorProtocol {
        let client: RecordClient
        let run: BridgeRun<B>
        /// The whole sequence is one call in its domain.
        let call: DomainCall?
        private var isOver = false

        init(client: RecordClient, run: BridgeRun<B>, call: DomainCall?) {
            self.client = client
            self.run = run
            self.call = call
        }

        /// Returns the result of the next answer; nil after the last one, and after an error.
        mutating func next() async throws -> BridgeResult<B.Info>? {
            guard !isOver, run.hasNext else { return nil }
            isOver = true
            let (client, run, call) = (client, run, call)
            let result = try await RecordClient.cancellable { try await call.run { try await client.page(run) } }
            isOver = false
            return result
        }
    }
}
