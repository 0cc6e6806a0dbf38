// An issue as a struct of 23 fields, for the read cases.

import Tarn

struct TarnUser: StoredRecord {
    static let entity = "User"
    typealias Key = Int64
    enum Field: Int, RecordField { case id, login }

    var id: Int64
    var login: String

    init(_ row: Row<TarnUser>) throws(StoreError) {
        id = try row.get(.id)
        login = try row.get(.login)
    }

    func encode(into row: inout RowEncoder<TarnUser>) {
        row.set(.id, id)
        row.set(.login, login)
    }
}

struct TarnMilestone: StoredRecord {
    static let entity = "Milestone"
    typealias Key = Int64
    enum Field: Int, RecordField { case id }

    var id: Int64

    init(_ row: Row<TarnMilestone>) throws(StoreError) { id = try row.get(.id) }

    func encode(into row: inout RowEncoder<TarnMilestone>) { row.set(.id, id) }
}

/// The values of the peer's `Issue`.
struct TarnIssue: StoredRecord {
    static let entity = "Issue"
    typealias Key = Int64
    enum Field: Int, RecordField {
        case id, nodeId, number, url, repositoryUrl, labelsUrl, commentsUrl, eventsUrl, htmlUrl, timelineUrl, title, body, state
        case stateReason, locked, activeLockReason, comments, authorAssociation, createdAt, updatedAt, closedAt, user, milestone
    }

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
    var createdAt: Timestamp
    var updatedAt: Timestamp
    var closedAt: Timestamp?
    var user: Reference<TarnUser>
    var milestone: Reference<TarnMilestone>?

    func encode(into row: inout RowEncoder<TarnIssue>) {
        row.set(.id, id)
        row.set(.nodeId, nodeId)
        row.set(.number, number)
        row.set(.url, url)
        row.set(.repositoryUrl, repositoryUrl)
        row.set(.labelsUrl, labelsUrl)
        row.set(.commentsUrl, commentsUrl)
        row.set(.eventsUrl, eventsUrl)
        row.set(.htmlUrl, htmlUrl)
        row.set(.timelineUrl, timelineUrl)
        row.set(.title, title)
        row.set(.body, body)
        row.set(.state, state)
        row.set(.stateReason, stateReason)
        row.set(.locked, locked)
        row.set(.activeLockReason, activeLockReason)
        row.set(.comments, comments)
        row.set(.authorAssociation, authorAssociation)
        row.set(.createdAt, createdAt)
        row.set(.updatedAt, updatedAt)
        row.set(.closedAt, closedAt)
        row.set(.user, user)
        row.set(.milestone, milestone)
    }
}

/// With all members at once: filled one by one, a struct is copied when it is complete, and each of
/// its texts with it.
extension TarnIssue {
    init(_ row: Row<TarnIssue>) throws(StoreError) {
        try self.init(
            id: row.get(.id), nodeId: row.get(.nodeId), number: row.get(.number), url: row.get(.url),
            repositoryUrl: row.get(.repositoryUrl), labelsUrl: row.get(.labelsUrl), commentsUrl: row.get(.commentsUrl),
            eventsUrl: row.get(.eventsUrl), htmlUrl: row.get(.htmlUrl), timelineUrl: row.get(.timelineUrl),
            title: row.get(.title), body: row.get(.body), state: row.get(.state), stateReason: row.get(.stateReason),
            locked: row.get(.locked), activeLockReason: row.get(.activeLockReason), comments: row.get(.comments),
            authorAssociation: row.get(.authorAssociation), createdAt: row.get(.createdAt), updatedAt: row.get(.updatedAt),
            closedAt: row.get(.closedAt), user: row.get(.user), milestone: row.get(.milestone))
    }
}
