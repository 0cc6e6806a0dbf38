// Where a consumer of the change log stands.

/// A place in the change log of one store: what came up to there is known.
///
/// It is small, has a text form (`description`, which is also what `Codable` writes), and holds for as long as the store lives:
/// after it was closed and opened, in every process.
public struct ChangeToken: Sendable, Hashable, Codable, LosslessStringConvertible {
    /// Which store: see ``StoreReader/incarnation``.
    public let incarnation: String
    /// The last commit that is known, altogether or its first changes.
    public let sequence: UInt64
    /// The last change of that commit that is known; the greatest number if all of them are.
    let ordinal: UInt32

    init(incarnation: String, sequence: UInt64, ordinal: UInt32 = .max) {
        self.incarnation = incarnation
        self.sequence = sequence
        self.ordinal = ordinal
    }

    /// Whether the commit is known altogether.
    var isWhole: Bool { ordinal == .max }

    /// `incarnation:sequence`, and inside a commit `incarnation:sequence.ordinal`.
    public var description: String { "\(incarnation):\(sequence)\(isWhole ? "" : ".\(ordinal)")" }

    /// Reads the text form. Nil for anything else.
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
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "`\(text)` is no change token")
        }
        self = token
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(description)
    }
}
