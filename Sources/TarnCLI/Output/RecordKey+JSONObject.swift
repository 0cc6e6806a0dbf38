import Foundation
import Tarn

extension RecordKey {
    /// The key for `JSONSerialization`.
    var jsonObject: Any {
        var text = ""
        appendJSON(to: &text)
        return (try? JSONSerialization.jsonObject(with: Data(text.utf8), options: .fragmentsAllowed)) ?? description
    }
}
