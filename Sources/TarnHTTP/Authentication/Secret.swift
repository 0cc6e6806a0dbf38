// A text that nobody may read by chance, and where it comes from.

import Foundation

/// A password, a token, a key. However it is printed, it does not show its text.
public struct Secret: Sendable, Hashable, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The text itself: for the wire, and for nothing else.
    public let exposed: String

    public init(_ text: String) { exposed = text }

    public var description: String { "***" }
    public var debugDescription: String { "***" }
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}
