// The states of resources between unsafe requests, as far as transfers under way need them.

import Locking
import Synchronization
import TarnHTTP
import TarnStore

/// The state of a resource that a transfer reads.
///
/// An unsafe request to the resource ends it. Requests that follow do not join the transfers of an
/// ended state, and the responses of these are not stored.
final class ResourceState: Sendable {
    /// A number that distinguishes the states of a resource; 0 if no transfer of an earlier state
    /// is under way.
    let number: UInt64
    /// The state after this one, once this one has ended.
    ///
    /// It lives as long as a transfer of this one, so that its number is known.
    fileprivate let next = Guarded<ResourceState?>(nil)
    /// A part of the digest of the URL: the resource in locks and in ``UnsafeRequests``.
    let resource: UInt64
    private let lock: RequestLock?
    /// The number of unsafe requests that the store knew when the state was first asked for.
    private let known = Guarded<UInt64?>(nil)

    /// Whether an unsafe request of this process has ended the state.
    var hasEnded: Bool { next.withLock { $0 != nil } }

    /// - Parameter lock: the lock that shows the transfer to other processes.
    fileprivate init(_ number: UInt64, _ resource: UInt64, _ lock: RequestLock?) {
        self.number = number
        self.resource = resource
        self.lock = lock
        lock?.share(resource)
    }

    /// Whether an unsafe request of another process may have ended the state.
    func wasOvertaken(by requests: UnsafeRequests) -> Bool {
        let known = known.withLock { known in
            if known == nil { known = requests.count }
            return known
        }
        return known.map { requests.overtake(resource, after: $0) } ?? false
    }

    deinit { lock?.endSharing(resource) }

    /// The resource of a URL.
    static func resource(_ url: String) -> UInt64 {
        let digest = RequestKey(method: "*", url: url, endpoint: ResponseStore.endpoint, authScope: "").digest
        // The first bytes are equal for similar requests.
        return digest.bytes[8..<16].reduce(0) { $0 << 8 | UInt64($1) }
    }
}

/// The states of the resources with transfers under way, by their URLs.
final class ResourceStates: Sendable {
    private struct Reference {
        weak var state: ResourceState?
    }

    private struct Content {
        var current: [String: Reference] = [:]
        var lastNumber: UInt64 = 0
        /// The number of references at which those of finished transfers are removed.
        var nextCleaning = 64
    }

    private let content = Guarded(Content())
    private let lock: RequestLock?

    init(_ lock: RequestLock?) { self.lock = lock }

    /// Returns the current state of a resource. The caller holds it during its transfer.
    ///
    /// - Parameter requests: reads the unsafe requests that the store knows. It is called after
    ///   other processes can see the transfer: those that do not have sent their requests before.
    func current(_ url: String, _ requests: () throws -> UnsafeRequests) throws -> ResourceState {
        let state = current(url)
        guard state.wasOvertaken(by: try requests()) else { return state }
        _ = end([url])
        let next = current(url)
        _ = next.wasOvertaken(by: try requests())
        return next
    }

    private func current(_ url: String) -> ResourceState {
        content.withLock { content in
            if let state = content.current[url]?.state { return state }
            if content.current.count >= content.nextCleaning {
                content.current = content.current.filter { $0.value.state != nil }
                content.nextCleaning = 64 + 2 * content.current.count
            }
            let state = ResourceState(0, ResourceState.resource(url), lock)
            content.current[url] = Reference(state: state)
            return state
        }
    }

    /// Ends the states of resources after an unsafe request.
    ///
    /// - Returns: the resources with transfers in other processes.
    func end(_ urls: [String]) -> [UInt64] {
        let urls = Set(urls.flatMap { [$0, (try? HTTPURL($0).normalized.description) ?? $0] })
        content.withLock { content in
            for url in urls {
                guard let state = content.current[url]?.state else { continue }
                content.lastNumber += 1
                let next = ResourceState(content.lastNumber, state.resource, lock)
                state.next.withLock { $0 = next }
                content.current[url] = Reference(state: next)
            }
        }
        return urls.map(ResourceState.resource).filter { lock?.isSharedByAnother($0) ?? true }
    }
}
