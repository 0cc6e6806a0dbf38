// The values of one key that has several.

import LMDBPages
import TarnStore

extension PageView {
    /// Returns the values of a page without nodes; nil if they exceed it.
    var fixedValues: [Bytes]? { hasValues ? (0..<count).compactMap { value($0) } : nil }

    /// Returns the values of a key that are a page in its node; nil if malformed.
    ///
    /// They are valid as long as the bytes of the node.
    static func values(inNode stored: Bytes) -> [Bytes]? {
        guard let page = PageView(stored) else { return nil }
        switch page.kindInNode {
        case .values: return page.fixedValues
        case .leaf:
            var values: [Bytes] = []
            for index in 0..<page.count {
                guard let value = page.key(index) else { return nil }
                values.append(value)
            }
            return values
        default: return nil
        }
    }
}
