// The states of resources between unsafe requests, as far as transfers under way need them.

import Locking
import TarnHTTP
import TarnStore

/// A resource with transfers under way, which hold it.
private final class Resource: Sendable {
    struct State {
        /// The number of unsafe requests since the first of the transfers began.
        var number: UInt64 = 0
        /// The number of unsafe requests that the store knew when the last transfer began.
        var known: UInt64?
    }

    /// A part of the digest of the URL: the resource in locks and in ``UnsafeRequests``.
    let digest: UInt64
    let state = Guarded(State())
    private let lock: RequestLock?

    /// - Parameter lock: the lock that shows the transfers to other processes.
    init(_ digest: UInt64, _ lock: RequestLock?) {
        self.digest = digest
        self.lock = lock
        lock?.share(digest)
    }

    deinit { lock?.endSharing(digest) }
}

/// The state of a resource that a transfer reads.
///
/// An unsafe request to the resource ends it. Requests that follow do not join the transfers of an
/// ended state, and the responses of these are not stored.
final class ResourceState: Sendable {
    private let resource: Resource
    /// A number that distinguishes the states of a resource; 0 if no transfer of an earlier state
    /// is under way.
    let number: UInt64
    /// The number of unsafe requests that the store knew when the transfer began.
    private let known: UInt64

    fileprivate init(_ resource: Resource, number: UInt64, known: UInt64) {
        self.resource = resource
        self.number = number
        self.known = known
    }

    /// Whether an unsafe request has ended the state: one of this process or of the store.
    func hasEnded(_ requests: UnsafeRequests) -> Bool {
        resource.state.withLock { $0.number != number } || requests.overtake(resource.digest, after: known)
    }
}

/// The states of the resources with transfers under way, by their URLs.
final class ResourceStates: Sendable {
    private struct Reference {
        weak var resource: Resource?
    }

    private struct Content {
        var resources: [String: Reference] = [:]
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
        let resource = resource(url), requests = try requests()
        let number = resource.state.withLock { state in
            if let known = state.known, requests.overtake(resource.digest, after: known) { state.number &+= 1 }
            state.known = requests.count
            return state.number
        }
        return ResourceState(resource, number: number, known: requests.count)
    }

    private func resource(_ url: String) -> Resource {
        content.withLock { content in
            if let resource = content.resources[url]?.resource { return resource }
            if content.resources.count >= content.nextCleaning {
                content.resources = content.resources.filter { $0.value.resource != nil }
                content.nextCleaning = 64 + 2 * content.resources.count
            }
            let resource = Resource(ResourceStates.digest(url), lock)
            content.resources[url] = Reference(resource: resource)
            return resource
        }
    }

    /// Ends the states of resources after an unsafe request.
    ///
    /// - Returns: the resources with transfers in other processes.
    func end(_ urls: [String]) -> [UInt64] {
        let urls = ResourceStates.known(urls)
        let resources = content.withLock { content in urls.compactMap { content.resources[$0]?.resource } }
        for resource in resources { resource.state.withLock { $0.number &+= 1 } }
        return urls.map(ResourceStates.digest).filter { lock?.isSharedByAnother($0) ?? true }
    }

    /// The resources of URLs, as ``UnsafeRequests`` has them.
    static func digests(of urls: [String]) -> [UInt64] { known(urls).map(digest) }

    /// The URLs, and their normal forms.
    private static func known(_ urls: [String]) -> Set<String> {
        Set(urls.flatMap { [$0, (try? HTTPURL($0).normalized.description) ?? $0] })
    }

    /// The part of a URL's digest that stands for the resource.
    private static func digest(_ url: String) -> UInt64 {
        let digest = RequestKey(method: "*", url: url, endpoint: ResponseStore.endpoint, authScope: "").digest
        // The first bytes are equal for similar requests.
        return digest.bytes[8..<16].reduce(0) { $0 << 8 | UInt64($1) }
    }
}
