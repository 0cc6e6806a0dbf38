// The peer's records: typed structs, one a table, decoded by `JSONDecoder` and by GRDB with the
// same coding keys.

import Foundation
import GRDB

struct User: Codable, FetchableRecord, PersistableRecord {
    static let databaseTableName = "user"

    var id: Int64
    var login: String
    var nodeId: String
    var avatarUrl: String
    var gravatarId: String
    var url: String
    var htmlUrl: String
    var followersUrl: String
    var followingUrl: String
    var gistsUrl: String
    var starredUrl: String
    var subscriptionsUrl: String
    var organizationsUrl: String
    var reposUrl: String
    var eventsUrl: String
    var receivedEventsUrl: String
    var type: String
    var siteAdmin: Bool

    enum CodingKeys: String, CodingKey, CaseIterable {
        case id, login
        case nodeId = "node_id"
        case avatarUrl = "avatar_url"
        case gravatarId = "gravatar_id"
        case url
        case htmlUrl = "html_url"
        case followersUrl = "followers_url"
        case followingUrl = "following_url"
        case gistsUrl = "gists_url"
        case starredUrl = "starred_url"
        case subscriptionsUrl = "subscriptions_url"
        case organizationsUrl = "organizations_url"
        case reposUrl = "repos_url"
        case eventsUrl = "events_url"
        case receivedEventsUrl = "received_events_url"
        case type
        case siteAdmin = "site_admin"
    }
}

struct Label: Codable, FetchableRecord, PersistableRecord {
    static let databaseTableName = "label"

    var id: Int64
    var nodeId: String
    var url: String
    var name: String
    var color: String
    var isDefault: Bool
    var description: String?

    enum CodingKeys: String, CodingKey, CaseIterable {
        case id
        case nodeId = "node_id"
        case url, name, color
        case isDefault = "default"
        case description
    }
}

struct Milestone: Codable, FetchableRecord, PersistableRecord {
    static let databaseTableName = "milestone"

    var id: Int64
    var url: String
    var number: Int64
    var title: String
    var state: String
    var createdAt: Date
    var dueOn: Date?
    var creatorId: Int64

    enum CodingKeys: String, CodingKey, CaseIterable {
        case id, url, number, title, state
        case createdAt = "created_at"
        case dueOn = "due_on"
        case creatorId = "creator_id"
    }
}

/// An issue: 21 values and two references.
struct Issue: Codable, FetchableRecord, PersistableRecord {
    static let databaseTableName = "issue"

    var id: Int64
    var nodeId: String
    var number: Int64
    var url: String
    var repositoryUrl: String
    var labelsUrl: String
    var commentsUrl: String
    var eventsUrl: String
    var htmlUrl: String
    var timelineUrl: String
    var title: String
    var body: String?
    var state: String
    var stateReason: String?
    var locked: Bool
    var activeLockReason: String?
    var comments: Int64
    var authorAssociation: String
    var createdAt: Date
    var updatedAt: Date
    var closedAt: Date?
    var userId: Int64
    var milestoneId: Int64?

    enum CodingKeys: String, CodingKey, CaseIterable {
        case id
        case nodeId = "node_id"
        case number, url
        case repositoryUrl = "repository_url"
        case labelsUrl = "labels_url"
        case commentsUrl = "comments_url"
        case eventsUrl = "events_url"
        case htmlUrl = "html_url"
        case timelineUrl = "timeline_url"
        case title, body, state
        case stateReason = "state_reason"
        case locked
        case activeLockReason = "active_lock_reason"
        case comments
        case authorAssociation = "author_association"
        case createdAt = "created_at"
        case updatedAt = "updated_at"
        case closedAt = "closed_at"
        case userId = "user_id"
        case milestoneId = "milestone_id"
    }
}

/// That an issue has a label.
struct IssueLabel: Codable, PersistableRecord {
    static let databaseTableName = "issue_label"
    // A list may name a record twice.
    static let persistenceConflictPolicy = PersistenceConflictPolicy(insert: .ignore)

    var issueId: Int64
    var labelId: Int64

    enum CodingKeys: String, CodingKey {
        case issueId = "issue_id"
        case labelId = "label_id"
    }

    enum Columns {
        static let issueId = Column(CodingKeys.issueId)
    }
}

/// The assignment of a user to an issue.
struct IssueAssignee: Codable, PersistableRecord {
    static let databaseTableName = "issue_assignee"
    static let persistenceConflictPolicy = PersistenceConflictPolicy(insert: .ignore)

    var issueId: Int64
    var userId: Int64

    enum CodingKeys: String, CodingKey {
        case issueId = "issue_id"
        case userId = "user_id"
    }

    enum Columns {
        static let issueId = Column(CodingKeys.issueId)
    }
}
