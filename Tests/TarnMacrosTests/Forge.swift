// The records of a forge, as a program declares them.

import Foundation
import TarnMacros

enum State: String, AttributeValue, CaseIterable { case open, closed }

@Record struct Issue: Equatable {
    @Key var id: Int64
    @Index var number: Int
    var title: String
    @Index var state: State
    @Attribute(from: "reactions.+1", default: 0) var thumbsUp: Int
    var updatedAt: Date?
    var link: URL?
    @Attribute(type: .json) var reactions: Reactions?
    @Relationship(from: "user", inverse: \User.issues) var author: Reference<User>
    @Relationship(ordered: true) var labels: References<Label>
    var milestone: Reference<Milestone>?
    @Transient var isShown = false

    struct Reactions: Codable, Hashable {
        var heart: Int
        var url: String
    }

    static var indexes: [RecordIndex<Issue>] {
        [RecordIndex(\.author, \.updatedAt, where: { $0.state == .open })]
    }
}

@Record struct User: Equatable {
    @Key var id: Int64
    @Index(unique: true, ignoringCase: true) var login: String
    var name: String?
    var issues = Inverse<Issue>()
}

@Record struct Label: Equatable {
    @Key var id: Int64
    var name: String
}

@Record struct Milestone: Equatable {
    @Key var id: Int64
    var title: String
    var creator: Reference<User>?
}

/// A record that its owner and a part of its own identify.
@Record struct Comment: Equatable {
    @Key @Relationship(inverse: "comments") var post: Reference<Post>
    @Key var position: Int
    var text: String
}

@Record("BlogPost") struct Post: Equatable {
    @Key var slug: String
    @Attribute(from: "meta.class") var `class`: String?
    @Relationship(inverse: "post", onDelete: .cascade) var comments = Inverse<Comment>()
    var tags: [String]

    init(slug: String, class: String? = nil, tags: [String] = []) {
        self.slug = slug
        self.class = `class`
        self.tags = tags
    }
}

@Record public struct Ticket: Equatable, Sendable {
    @Key public var id: Int
    public var subject: String
}

@Record(parent: Ticket.self) struct Bug: Equatable {
    var id: Int
    var subject: String
    @Attribute(renamedFrom: "level") var severity: Int?
}
