import Foundation
import Testing

@testable import TarnStore

@Suite("UUIDs as text")
struct UUIDTextTests {
    @Test("the text of a UUID is Foundation's, in lower case")
    func text() {
        for _ in 0..<500 {
            let id = UUID()
            #expect(id.lowercasedText == id.uuidString.lowercased())
        }
    }
}
