// The related records of issues with GRDB: associations, and the decoded results.

import GRDB

extension Issue {
    // No foreign key is declared in the database, so each association declares its own.
    static let author = belongsTo(User.self, key: "author", using: ForeignKey(["user_id"]))
    static let issueLabels = hasMany(IssueLabel.self, using: ForeignKey(["issue_id"]))
    static let labels = hasMany(Label.self, through: issueLabels, using: IssueLabel.label, key: "labels")
}

extension IssueLabel {
    static let label = belongsTo(Label.self, using: ForeignKey(["label_id"]))
}

/// An issue with its included records, as GRDB's documentation recommends it.
struct IssueWithTargets: Decodable, FetchableRecord {
    var issue: Issue
    var author: User
    var labels: [Label]
}

/// The result by hand.
struct PlainIssueWithTargets {
    var issue: PlainIssue
    var author: User
    var labels: [Label] = []
}

extension User {
    /// By the places of the columns, of which the first one is given.
    init(_ row: Row, from first: Int) {
        self.init(
            id: row[first], login: row[first + 1], nodeId: row[first + 2], avatarUrl: row[first + 3], gravatarId: row[first + 4],
            url: row[first + 5], htmlUrl: row[first + 6], followersUrl: row[first + 7], followingUrl: row[first + 8],
            gistsUrl: row[first + 9], starredUrl: row[first + 10], subscriptionsUrl: row[first + 11],
            organizationsUrl: row[first + 12], reposUrl: row[first + 13], eventsUrl: row[first + 14],
            receivedEventsUrl: row[first + 15], type: row[first + 16], siteAdmin: row[first + 17])
    }
}

extension Label {
    /// By the places of the columns, of which the first one is given.
    init(_ row: Row, from first: Int) {
        self.init(
            id: row[first], nodeId: row[first + 1], url: row[first + 2], name: row[first + 3], color: row[first + 4],
            isDefault: row[first + 5], description: row[first + 6])
    }
}

extension User: Checked {
    var checksum: Int64 {
        id &+ (siteAdmin ? 1 : 0)
            &+ [
                login, nodeId, avatarUrl, gravatarId, url, htmlUrl, followersUrl, followingUrl, gistsUrl, starredUrl,
                subscriptionsUrl, organizationsUrl, reposUrl, eventsUrl, receivedEventsUrl, type,
            ].reduce(Int64(0)) { $0 &+ Int64($1.utf8.count) }
    }
}

extension Label: Checked {
    var checksum: Int64 {
        id &+ (isDefault ? 1 : 0)
            &+ [nodeId, url, name, color, description ?? ""].reduce(Int64(0)) { $0 &+ Int64($1.utf8.count) }
    }
}
