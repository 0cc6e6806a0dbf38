// Secrets, which no output shows by accident.

import Foundation

/// A password, a token or a key. Its printed forms do not show its text.
public struct Secret: Sendable, Hashable, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The text of the secret, only for transmission.
    package let exposed: String

    /// Creates a secret from its text.
    public init(_ text: String) { exposed = text }

    public var description: String { "***" }
    public var debugDescription: String { "***" }
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}
