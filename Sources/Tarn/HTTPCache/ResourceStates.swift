// The states of resources between unsafe requests, as far as transfers under way need them.

import Locking
import Synchronization
import TarnHTTP

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

    /// Whether an unsafe request has ended the state.
    var hasEnded: Bool { next.withLock { $0 != nil } }

    fileprivate init(_ number: UInt64) { self.number = number }
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

    /// Returns the current state of a resource. The caller holds it during its transfer.
    func current(_ url: String) -> ResourceState {
        content.withLock { content in
            if let state = content.current[url]?.state { return state }
            if content.current.count >= content.nextCleaning {
                content.current = content.current.filter { $0.value.state != nil }
                content.nextCleaning = 64 + 2 * content.current.count
            }
            let state = ResourceState(0)
            content.current[url] = Reference(state: state)
            return state
        }
    }

    /// Ends the states of resources after an unsafe request.
    func end(_ urls: [String]) {
        content.withLock { content in
            for url in Set(urls.flatMap { [$0, (try? HTTPURL($0).normalized.description) ?? $0] }) {
                guard let state = content.current[url]?.state else { continue }
                content.lastNumber += 1
                let next = ResourceState(content.lastNumber)
                state.next.withLock { $0 = next }
                content.current[url] = Reference(state: next)
            }
        }
    }
}
