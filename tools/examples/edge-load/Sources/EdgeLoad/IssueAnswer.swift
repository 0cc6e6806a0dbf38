import Foundation
import Hummingbird

/// The answer of the service as structs: for the constant answer, and for GRDB.
struct IssueAnswer: ResponseEncodable, Codable {
    var id: Int64
    var number: Int
    var title: String
    var body: String?
    var state: String
    var comments: Int
    var createdAt: Date
    var updatedAt: Date
    var milestone: Int64?
    var author: UserAnswer
    var labels: [LabelAnswer]

    /// One of them.
    static let constant = LocalForge.answer(77)
}

struct UserAnswer: Codable {
    var id: Int64
    var login: String
    var name: String?
    var avatarUrl: String?
}

struct LabelAnswer: Codable {
    var id: Int64
    var name: String
    var color: String
}
