public import Foundation

/// The health of the refreshes of a service, at one moment.
///
/// It is `Encodable`: a service answers it as JSON, with 503 if it is `unavailable`.
public struct RefreshHealth: Sendable, Hashable, Encodable {
    /// The ability of a service to answer from its store.
    public enum Status: String, Sendable, Hashable, Encodable {
        /// Every refresh is up to date.
        case healthy
        /// A refresh has failed, or its records are out of date, or some of them are missing.
        case degraded
        /// A required refresh has never been complete: its records are missing.
        case unavailable
    }

    /// The health of one refresh.
    public struct Item: Sendable, Hashable, Encodable {
        /// The name of the refresh.
        public var name: String
        /// `unavailable` if the refresh has never been complete, `degraded` if it has failed since,
        /// its records are out of date, or it has a finding.
        public var status: Status
        /// Whether it is under way.
        public var isRunning: Bool
        /// The end of the last complete refresh, also in an earlier process; nil if there was none.
        ///
        /// If a sync has continued an interrupted one, it is the beginning of that one: a part of
        /// the records is as old.
        public var lastComplete: Date?
        /// The time in seconds since then; nil if there was none.
        public var age: Double?
        /// The records that the last complete refresh may lack: elements that could not be stored,
        /// and lists that the server may have cut off. Nil if it lacks none.
        public var finding: String?
        /// The last failure since then, without secrets; nil if there was none.
        public var failure: String?
        /// The number of failures in succession.
        public var failures: Int
        /// The time at which it starts next; nil while it runs or waits for others.
        public var nextStart: Date?
    }

    /// `unavailable` if a required refresh is, otherwise `healthy` if all refreshes are.
    public var status: Status
    /// The refreshes, in the order of the service.
    public var refreshes: [Item]
}
