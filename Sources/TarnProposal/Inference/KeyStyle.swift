// The style in which an API writes its keys.

import Tarn

/// The style of the keys of an API.
enum KeyStyle {
    /// Whether all keys of several words are in camelCase: `dueOn`.
    ///
    /// Responses are read in either style. Requests have the declared one.
    static func isCamelCase(_ shapes: [ObjectShape]) -> Bool {
        var isFound = false
        for shape in shapes where !shape.isMap {
            for name in shape.names {
                // `_id` and `__v` are no words with a `_` between them.
                let name = name.drop { $0 == "_" }
                if name.contains("_") { return false }
                guard let first = name.unicodeScalars.first, first.properties.isLowercase, isWord(name) else {
                    continue
                }
                isFound = isFound || name.unicodeScalars.contains { $0.properties.isUppercase }
            }
        }
        return isFound
    }

    private static func isWord(_ name: Substring) -> Bool {
        name.utf8.allSatisfy { (0x61...0x7A).contains($0 | 0x20) || (0x30...0x39).contains($0) }
    }
}
