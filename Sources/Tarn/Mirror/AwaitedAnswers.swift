// The status monitors of answers that come later, kept so that a later sync goes on with them.

import Locking
import TarnHTTP
import TarnStore

/// The status monitors that a scan asks, by the requests whose answers they have.
///
/// A monitor has a checkpoint of its own from the moment when the server names it until its answer
/// arrives: after a kill, the next sync asks it instead of beginning the work anew.
final class AwaitedAnswers: Sendable {
    private let store: Store
    /// The names of the checkpoints, by the URLs of the requests that are under way.
    private let names = Guarded<[String: String]>([:])
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

    /// Returns the monitor of an earlier sync for a request that is about to be sent; nil if there
    /// is none.
    func monitor(of key: RequestKey, url: String, _ reader: StoreReader, now: Timestamp) throws -> String? {
        let name = AwaitedAnswers.name(key)
        names.withLock { $0[url] = name }
        guard let checkpoint = try reader.checkpoint(name) else { return nil }
        kept.withLock { _ = $0.insert(name) }
        let age = Double(now.microseconds - checkpoint.startedAt.microseconds) / 1e6
        return age >= 0 && age < AwaitedAnswers.longest ? checkpoint.nextURL : nil
    }

    /// Keeps the monitor that the server has named in answer to a request.
    func keep(_ monitor: String, for url: String, now: Timestamp) async {
        guard let name = names.withLock({ $0[url] }) else { return }
        let checkpoint = Checkpoint(state: .underWay, plan: "", nextURL: monitor, scan: 0, startedAt: now)
        do {
            try await store.write(alone: true) { try $0.setCheckpoint(name, checkpoint) }
            kept.withLock { _ = $0.insert(name) }
        } catch {
            // Without it, the next sync begins the work anew.
        }
    }

    /// Removes the monitor of a request whose answer has arrived.
    func forget(_ key: RequestKey, url: String) async throws {
        names.withLock { $0[url] = nil }
        let name = AwaitedAnswers.name(key)
        guard kept.withLock({ $0.remove(name) }) != nil else { return }
        try await store.write(alone: true) { try $0.removeCheckpoint(name) }
    }
}
