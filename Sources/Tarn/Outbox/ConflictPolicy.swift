// The policies for conflicts, including those that are code.

public import TarnStore

/// The policy for records that were changed both locally and at the server.
///
/// It runs after the server refuses a change with 409 or 412, and before the first attempt if a
/// page has brought other values of the changed fields.
public struct ConflictPolicy: Sendable {
    /// A function that decides about one conflict.
    ///
    /// `base` has the values on which the local change is based, `local` those that were to be
    /// sent, `remote` those of the server. The function returns the fields to send, or nil to
    /// withdraw the change.
    public typealias Resolution =
        @Sendable (_ base: Record, _ local: Record, _ remote: Record) async throws -> [Record.Field]?

    enum Decision: Sendable {
        case rule(ConflictRule)
        case code(Resolution)
    }

    let decision: Decision

    /// The server's values are taken, and the local change is withdrawn.
    public static let server = ConflictPolicy(decision: .rule(.server))
    /// The local change is sent again.
    public static let client = ConflictPolicy(decision: .rule(.client))
    /// Fields that only one side has changed are merged; a field that both have changed makes the
    /// operation a dead letter.
    public static let perField = perField(overlap: .hold)

    /// Fields that only one side has changed are merged.
    ///
    /// - Parameter overlap: the rule for a field that both sides have changed to different values.
    public static func perField(overlap: ConflictRule.Overlap) -> ConflictPolicy {
        ConflictPolicy(decision: .rule(.perField(overlap: overlap)))
    }

    /// A function decides about each conflict. If it throws, the operation becomes a dead letter,
    /// unless the task that sends is cancelled: the next one calls the function again.
    public static func resolve(_ body: @escaping Resolution) -> ConflictPolicy {
        ConflictPolicy(decision: .code(body))
    }
}
