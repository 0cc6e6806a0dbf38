// The outbox of an API: queues local changes, and sends them.

import TarnHTTP
public import TarnStore

/// The outbox of an API: queues local changes in the store, and sends them to the server.
///
/// ```swift
/// let outbox = client.outbox(conflicts: .perField)
/// try await outbox.update("Issue", RecordKey(17), [.init("state", .string("closed"))])
/// let report = try await outbox.drain()
/// ```
///
/// A change is visible at once. The change, its base values and its operation are stored in one
/// transaction, and survive the end of the process at any moment. Operations of one record are sent
/// in their order, and after the creation of records that they refer to; several records are sent
/// at a time. The requests are those that the description declares: see <doc:WritingBack>.
///
/// Any number of processes may queue changes of one store. One of them at a time sends.
public struct Outbox: Sendable {
    /// The options of an outbox.
    public struct Options: Sendable {
        /// The maximum number of requests to each API at a time; nil for that of its pace, or 8.
        public var concurrent: Int?
        /// The delays between attempts. The number of attempts is not limited.
        public var backOff = RetryPolicy(attempts: .max, firstDelay: .seconds(1), longestDelay: .seconds(300))
        /// The number of attempts in a row that fail for a passing reason, after which a drain
        /// stops.
        public var failureLimit = 10

        /// Creates the default options.
        public init() {}
    }

    /// The client that sends the requests.
    public let client: APIClient
    let policy: ConflictPolicy
    let options: Options
    let importers: ImporterPool
    let validators = KnownValidators()
    let plans = WritePlans()
    /// The bridge that turns operations into requests; nil for the declared requests.
    var bridge: ChangeBridge?

    init(_ client: APIClient, _ policy: ConflictPolicy, _ options: Options) {
        self.client = client
        self.policy = policy
        self.options = options
        importers = ImporterPool(client, idle: 64)
    }

    /// The store of the outbox.
    public var store: Store { client.store }

    // MARK: State

    /// Returns the queued operations in their order.
    ///
    /// - Parameters:
    ///   - limit: the maximum number of operations.
    ///   - id: the operation after which the list begins; 0 for the front.
    public func operations(limit: Int = .max, after id: UInt64 = 0) throws -> [OutboxOperation] {
        try store.read { reader in
            var found: [OutboxOperation] = []
            try reader.outbox.forEach(after: id) { operation in
                guard found.count < limit else { return false }
                found.append(operation)
                return true
            }
            return found
        }
    }

    /// Returns an operation; nil if it was sent or discarded.
    public func operation(_ id: UInt64) throws -> OutboxOperation? {
        try store.read { try $0.outbox.operation(id) }
    }

    /// Returns the operations that an operation waits for, by id; true for those that are dead.
    ///
    /// Nothing but ``retry(_:evenIfAccepted:)`` or ``discard(_:)`` ends a wait for a dead
    /// operation.
    public func waits(of id: UInt64) throws -> [UInt64: Bool] {
        try store.read { reader in
            let waits =
                try (reader.outbox.entry(id, now: client.now)?.waitsFor ?? [])
                + builder(reader.access).waits(of: id)
            return Dictionary(waits.map { ($0.operation, $0.isDead) }) { $0 || $1 }
        }
    }

    /// The numbers of operations by state, at first and after every change by any process.
    public var status: StoreObservation<OutboxCounts> {
        StoreObservation(ofLists: store) {
            var last: OutboxCounts?
            return { reader, isAlwaysWanted in
                let counts = try reader.outbox.counts
                guard isAlwaysWanted || counts != last else { return nil }
                last = counts
                return counts
            }
        }
    }

    /// The unsent changes of a record, at first and after every change by any process.
    public func status(of entity: String, _ key: RecordKey) -> StoreObservation<OutboxRecordStatus> {
        StoreObservation(ofLists: store) {
            var last: OutboxRecordStatus?
            return { reader, isAlwaysWanted in
                let status = try reader.outbox.status(of: entity, key)
                guard isAlwaysWanted || status != last else { return nil }
                last = status
                return status
            }
        }
    }

    /// Queues a dead operation again, or ends the back-off of a failed one.
    ///
    /// An operation whose sender was killed is queued again, too. Its idempotency key stays; an
    /// update or a deletion that was answered with 409, 412 or 428 gets a new one. An update is
    /// withdrawn if later ones have sent all of its fields, a change of members if later ones have
    /// sent all of its members, and a deletion if a later operation has created the record again.
    ///
    /// A dead creation that the server has accepted, or a part of it, could create a second record:
    /// discard it, and fetch the record.
    ///
    /// - Parameter evenIfAccepted: whether such a creation is sent again, with the same idempotency
    ///   key and body. A server that honours the key repeats its answer.
    /// - Returns: false if the operation was withdrawn.
    /// - Throws: `OutboxError.unknownOperation`, `.wrongState` if it is being sent, `.accepted`.
    @discardableResult
    public func retry(_ id: UInt64, evenIfAccepted: Bool = false) async throws -> Bool {
        let directory = store.directory
        return try await store.write {
            try $0.retryOperation(
                id, evenIfSending: OutboxLock.isFree(directory: directory), evenIfAccepted: evenIfAccepted) != nil
        }
    }

    /// Discards an operation, and rolls its local change back.
    ///
    /// A record that it creates is deleted, with all operations that depend on it, unless a
    /// response has brought it; a record that it deletes is restored. If the sender of the
    /// operation was killed, the server may have it.
    ///
    /// - Returns: the discarded operations.
    /// - Throws: `OutboxError.unknownOperation`, `.wrongState` if it is being sent.
    @discardableResult
    public func discard(_ id: UInt64) async throws -> [OutboxOperation] {
        let directory = store.directory
        return try await store.write {
            try $0.discardOperation(id, evenIfSending: OutboxLock.isFree(directory: directory)).operations
        }
    }
}

extension APIClient {
    /// Returns the outbox of the API's store.
    ///
    /// ```swift
    /// let issues = WriteRequests(update: WriteRequest("PATCH", "/issues/{id}"))
    /// let outbox = client.outbox(writes: [Issue.entity: issues], conflicts: .perField)
    /// ```
    ///
    /// - Parameters:
    ///   - writes: the requests of entities, in place of those of the description.
    ///   - conflicts: the policy for entities whose requests declare none.
    public func outbox(
        writes: [String: WriteRequests] = [:], conflicts: ConflictPolicy = .perField,
        options: Outbox.Options = Outbox.Options()
    ) -> Outbox { Outbox(replacing(writes), conflicts, options) }
}

extension RecordClient {
    /// Returns the outbox of the client's store, as ``APIClient/outbox(writes:conflicts:options:)``
    /// does.
    public func outbox(
        writes: [String: WriteRequests] = [:], conflicts: ConflictPolicy = .perField,
        options: Outbox.Options = Outbox.Options()
    ) -> Outbox { client.outbox(writes: writes, conflicts: conflicts, options: options) }
}
