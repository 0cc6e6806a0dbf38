// Paths of this checkout.

import Foundation

package enum Checkout {
    /// The top level, found from this file.
    package static let root: String = {
        var url = URL(fileURLWithPath: #filePath)
        for _ in 0..<3 { url.deleteLastPathComponent() }
        return url.path
    }()
}
