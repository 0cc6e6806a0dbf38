import Glibc

/// A slot of the reader table.
public struct ReaderSlot: Sendable, Hashable {
    /// The process id, in the PID namespace of the process that registered it.
    public var processID: Int32
    /// The id of the snapshot in use; nil for an idle slot.
    public var transaction: Int?

    /// Creates a slot.
    public init(processID: Int32, transaction: Int?) {
        self.processID = processID
        self.transaction = transaction
    }
}
