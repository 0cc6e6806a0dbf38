// The token of a consumer of the change log.

/// A position in the change log of one store: the consumer knows all changes up to it.
///
/// It is small, and has a text form (`description`, which `Codable` uses, too). It is valid as long
/// as the store exists, in every process.
public struct ChangeToken: Sendable, Hashable, Codable, LosslessStringConvertible {
    /// The incarnation of the store: see ``StoreReader/incarnation``.
    package let incarnation: String
    /// The last commit of which the consumer knows all or the first changes.
    package let sequence: UInt64
    /// The last known change of that commit; the greatest number if all are known.
    let ordinal: UInt32

    init(incarnation: String, sequence: UInt64, ordinal: UInt32 = .max) {
        self.incarnation = incarnation
        self.sequence = sequence
        self.ordinal = ordinal
    }

    /// Whether all changes of the commit are known.
    var isWhole: Bool { ordinal == .max }

    /// `incarnation:sequence`, or `incarnation:sequence.ordinal` within a commit.
    public var description: String { "\(incarnation):\(sequence)\(isWhole ? "" : ".\(ordinal)")" }

    /// Parses the text form; nil for any other text.
    public init?(_ text: String) {
        guard let colon = text.lastIndex(of: ":"), colon != text.startIndex else { return nil }
        let parts = text[text.index(after: colon)...].split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count <= 2, let sequence = parts.first.flatMap({ UInt64($0) }) else { return nil }
        var ordinal = UInt32.max
        if parts.count == 2 {
            guard let number = UInt32(parts[1]), number < .max else { return nil }
            ordinal = number
        }
        self.init(incarnation: String(text[..<colon]), sequence: sequence, ordinal: ordinal)
    }

    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer(), text = try container.decode(String.self)
        guard let token = ChangeToken(text) else {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "`\(text)` is not a change token")
        }
        self = token
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(description)
    }
}
