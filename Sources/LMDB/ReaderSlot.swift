import Glibc

/// A slot of the table of readers.
public struct ReaderSlot: Sendable, Hashable {
    /// The process, in the namespace of whoever wrote it down.
    public var processID: Int32
    /// What a snapshot contains that is being read; nil for one that waits to be used again.
    public var transaction: Int?

    public init(processID: Int32, transaction: Int?) {
        self.processID = processID
        self.transaction = transaction
    }
}
