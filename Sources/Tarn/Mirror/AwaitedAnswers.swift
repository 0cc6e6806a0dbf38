// The status monitors of answers that come later, kept so that a later sync goes on with them.

import Locking
import TarnHTTP
import TarnStore

/// The status monitors that a scan asks, by the requests whose answers they have.
///
/// A monitor has a checkpoint of its own from the moment when the server names it until its answer
/// arrives: after a kill, the next sync asks it instead of beginning the work anew.
final class AwaitedAnswers: Sendable {
    /// The facts about a request before its answer.
    struct Origin: Sendable {
        /// The name of the monitor's checkpoint.
        var name: String
        /// The URL of the monitor of an earlier sync; nil for a new request.
        var monitor: String?
        /// The time when the request was sent, or when the earlier sync has sent it.
        var startedAt: Timestamp
        /// The last commit before the request was sent, which the result may be older than.
        var sequence: UInt64
        /// The revision of the outbox before the request was sent.
        var revision: UInt64
    }

    /// The identity of a request of one endpoint.
    private struct Asked: Hashable {
        var url: String
        var body: [UInt8]?

        init(_ request: TransportRequest) { (url, body) = (request.url, request.body) }
    }

    private let store: Store
    /// The requests that are under way.
    private let origins = Guarded<[Asked: Origin]>([:])
    /// The names of the checkpoints that the store has.
    private let kept = Guarded<Set<String>>([])

    init(_ store: Store) { self.store = store }

    /// The age in seconds from which on a monitor is not asked: its result may be of an older list.
    private static let longest = 86_400.0

    /// The name of the checkpoint of a request's monitor.
    static func name(_ key: RequestKey) -> String {
        "! job:"
            + SHA256.shortHexadecimal(
                [key.method, key.url, key.endpoint, key.authScope, key.variant].joined(separator: "\n"))
    }

    /// Notes a request that is about to be sent, with the monitor of an earlier sync if it has one.
    func begin(
        _ request: TransportRequest, _ key: RequestKey, _ reader: StoreReader, now: Timestamp
    ) throws -> Origin {
        let name = AwaitedAnswers.name(key)
        var origin = Origin(
            name: name, startedAt: now, sequence: try reader.access.settings.sequence,
            revision: try reader.outbox.revision)
        if let checkpoint = try reader.checkpoint(name) {
            kept.withLock { _ = $0.insert(name) }
            let age = Double(now.elapsed(since: checkpoint.startedAt)) / 1e6
            let revision = UInt64(checkpoint.plan), sequence = checkpoint.begunAfter
            if let revision, let sequence, age >= 0, age < AwaitedAnswers.longest {
                (origin.monitor, origin.startedAt) = (checkpoint.nextURL, checkpoint.startedAt)
                (origin.sequence, origin.revision) = (min(origin.sequence, sequence), min(origin.revision, revision))
            }
        }
        let noted = origin
        origins.withLock { $0[Asked(request)] = noted }
        return origin
    }

    /// Keeps the monitor that the server has named in answer to a request.
    func keep(_ monitor: String, for request: TransportRequest) async {
        guard let origin = origins.withLock({ $0[Asked(request)] }) else { return }
        var checkpoint = Checkpoint(
            state: .underWay, plan: "\(origin.revision)", nextURL: monitor, scan: 0, startedAt: origin.startedAt)
        checkpoint.begunAfter = origin.sequence
        let noted = checkpoint
        do {
            try await store.write(alone: true) { try $0.setCheckpoint(origin.name, noted) }
            kept.withLock { _ = $0.insert(origin.name) }
        } catch {
            // Without it, the next sync begins the work anew.
        }
    }

    /// Removes the monitor of a request whose answer has arrived.
    ///
    /// - Returns: what the request was; nil if it is unknown.
    func forget(_ request: TransportRequest) async throws -> Origin? {
        guard let origin = origins.withLock({ $0.removeValue(forKey: Asked(request)) }) else { return nil }
        if kept.withLock({ $0.remove(origin.name) }) != nil {
            try await store.write(alone: true) { try $0.removeCheckpoint(origin.name) }
        }
        return origin
    }
}
