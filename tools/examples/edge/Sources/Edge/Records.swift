import Foundation
import TarnMacros

enum State: String, AttributeValue, CaseIterable { case open, closed }

@Record struct Issue {
    @Key var id: Int64
    @Index var number: Int
    var title: String
    var body: String?
    @Index var state: State
    var comments: Int
    var createdAt: Date
    @Index var updatedAt: Date
    @Relationship(from: "user", inverse: \User.issues) var author: Reference<User>
    @Relationship(ordered: true) var labels: References<Label>
    var milestone: Reference<Milestone>?
}

@Record struct User {
    @Key var id: Int64
    @Index(unique: true, ignoringCase: true) var login: String
    var name: String?
    var avatarUrl: URL?
    var issues = Inverse<Issue>()
}

@Record struct Label { @Key var id: Int64; var name: String; var color: String }

@Record struct Milestone { @Key var id: Int64; var title: String; var dueOn: Date? }

extension RecordRequest where Value == Issue {
    static func issues(_ repository: String) -> Self {
        .get("/repos/{+repository}/issues", ["repository": repository, "state": "all", "per_page": "100"])
    }
}
