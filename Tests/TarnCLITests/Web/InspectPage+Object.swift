// The answers of the inspector's page as JSON.

import Foundation
import TarnInspectWeb
import Testing

extension InspectPage {
    /// Asks for the data of a view, without a server.
    func ask(_ view: String) -> (status: Int, text: String) {
        let answer = answer("GET", path + "api/" + view, host: "127.0.0.1:4711", port: 4711)
        return (answer.status, String(decoding: answer.body, as: UTF8.self))
    }

    /// The data of a view, which is an object.
    func object(_ view: String) throws -> [String: Any] {
        let (status, text) = ask(view)
        try #require(status == 200, "\(view): \(text)")
        return try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any])
    }
}
