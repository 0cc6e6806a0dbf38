import Foundation

/// One component of a primary key.
public enum KeyComponent: Sendable, Hashable, CustomStringConvertible {
    /// A signed integer.
    case int(Int64)
    /// A text. It is compared by its UTF-8 bytes, never by canonical equivalence.
    case string(String)
    /// A UUID.
    case uuid(UUID)
    /// The storage key of a missing record whose primary key is too long for a reference.
    /// It consists of the beginning and the digest of the primary key, and is always the only
    /// component. References to it can be stored, records cannot.
    case digest([UInt8])

    public static func == (a: KeyComponent, b: KeyComponent) -> Bool {
        switch (a, b) {
        case (.int(let x), .int(let y)): x == y
        case (.string(let x), .string(let y)): x.utf8.elementsEqual(y.utf8)
        case (.uuid(let x), .uuid(let y)): x == y
        case (.digest(let x), .digest(let y)): x == y
        default: false
        }
    }

    public func hash(into hasher: inout Hasher) {
        switch self {
        case .int(let x): hasher.combine(x)
        case .string(let x): for byte in x.utf8 { hasher.combine(byte) }
        case .uuid(let x): hasher.combine(x)
        case .digest(let x): hasher.combine(x)
        }
    }

    public var description: String {
        switch self {
        case .int(let x): "\(x)"
        case .string(let x): x
        case .uuid(let x): x.uuidString.lowercased()
        case .digest(let x): "digest " + x.suffix(32).hexadecimal
        }
    }
}
