import Glibc

/// The reason why a change cannot be queued or sent.
public enum WriteError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The description declares no request for the operation.
    case noRequest(entity: String, operation: String)
    /// No changed field can be sent by the declared request.
    case nothingToSend(entity: String, fields: [String])
    /// The request of an operation cannot be built.
    case request(place: String, reason: String)
    /// Another process, or another task, drains the outbox.
    case busy(processID: Int32?)

    public var description: String {
        switch self {
        case .noRequest(let entity, let operation):
            "the description has no request for it: declare entities.\(entity).write.\(operation)"
        case .nothingToSend(let entity, let fields):
            "no request sends \(fields.joined(separator: ", ")) of \(entity): add the fields to entities.\(entity).write.update.fields"
        case .request(let place, let reason): place.isEmpty ? reason : "\(place): \(reason)"
        case .busy(let processID):
            "\(processID.map { $0 == getpid() ? "this process (\($0))" : "process \($0)" } ?? "another process") is sending the outbox of this store"
        }
    }
}
