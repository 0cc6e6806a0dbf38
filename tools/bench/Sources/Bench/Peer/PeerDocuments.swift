// The decoded form of a page: the records of the tables, with the nested ones inside them.

import Dispatch
import Foundation
import Synchronization

/// An issue as the API lists it: decoded in one pass into the records it holds.
struct IssueDocument: Decodable {
    var issue: Issue
    var user: User
    var labels: [Label]
    var assignees: [User]
    var milestone: MilestoneDocument?

    // One container for everything: `JSONDecoder` builds a dictionary of all keys for each
    // container.
    private enum CodingKeys: String, CodingKey {
        case user, labels, assignees, milestone
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
    }

    init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        user = try values.decode(User.self, forKey: .user)
        labels = try values.decode([Label].self, forKey: .labels)
        assignees = try values.decode([User].self, forKey: .assignees)
        milestone = try values.decodeIfPresent(MilestoneDocument.self, forKey: .milestone)

        issue = Issue(
            id: try values.decode(Int64.self, forKey: .id),
            nodeId: try values.decode(String.self, forKey: .nodeId),
            number: try values.decode(Int64.self, forKey: .number),
            url: try values.decode(String.self, forKey: .url),
            repositoryUrl: try values.decode(String.self, forKey: .repositoryUrl),
            labelsUrl: try values.decode(String.self, forKey: .labelsUrl),
            commentsUrl: try values.decode(String.self, forKey: .commentsUrl),
            eventsUrl: try values.decode(String.self, forKey: .eventsUrl),
            htmlUrl: try values.decode(String.self, forKey: .htmlUrl),
            timelineUrl: try values.decode(String.self, forKey: .timelineUrl),
            title: try values.decode(String.self, forKey: .title),
            body: try values.decodeIfPresent(String.self, forKey: .body),
            state: try values.decode(String.self, forKey: .state),
            stateReason: try values.decodeIfPresent(String.self, forKey: .stateReason),
            locked: try values.decode(Bool.self, forKey: .locked),
            activeLockReason: try values.decodeIfPresent(String.self, forKey: .activeLockReason),
            comments: try values.decode(Int64.self, forKey: .comments),
            authorAssociation: try values.decode(String.self, forKey: .authorAssociation),
            createdAt: try values.decode(Date.self, forKey: .createdAt),
            updatedAt: try values.decode(Date.self, forKey: .updatedAt),
            closedAt: try values.decodeIfPresent(Date.self, forKey: .closedAt),
            userId: user.id,
            milestoneId: milestone?.milestone.id)
    }
}

/// A milestone as an issue nests it.
struct MilestoneDocument: Decodable {
    var milestone: Milestone
    var creator: User

    private enum CodingKeys: String, CodingKey {
        case creator, id, url, number, title, state
        case createdAt = "created_at"
        case dueOn = "due_on"
    }

    init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        creator = try values.decode(User.self, forKey: .creator)
        milestone = Milestone(
            id: try values.decode(Int64.self, forKey: .id),
            url: try values.decode(String.self, forKey: .url),
            number: try values.decode(Int64.self, forKey: .number),
            title: try values.decode(String.self, forKey: .title),
            state: try values.decode(String.self, forKey: .state),
            createdAt: try values.decode(Date.self, forKey: .createdAt),
            dueOn: try values.decodeIfPresent(Date.self, forKey: .dueOn),
            creatorId: creator.id)
    }
}

extension IssueDocument {
    /// Decodes pages on all cores, as Tarn's import may use them all too.
    ///
    /// - Throws: the error of the first page that is not what it should be.
    static func decode(_ pages: ArraySlice<Data>) throws -> [IssueDocument] {
        try decodeOnAllCores([IssueDocument].self, pages).flatMap(\.self)
    }
}

/// Decodes bodies on all cores.
///
/// - Parameter run: how many follow each other on one core.
/// - Throws: the error of the first one that is not what it should be.
func decodeOnAllCores<Document: Decodable & Sendable>(
    _ type: Document.Type, _ bodies: ArraySlice<Data>, run: Int = 1
) throws -> [Document] {
    let decoded = Mutex<[Int: Result<[Document], any Error>]>([:])
    DispatchQueue.concurrentPerform(iterations: (bodies.count + run - 1) / run) { number in
        let first = bodies.startIndex + number * run
        let result = Result {
            let decoder = JSONDecoder()
            decoder.dateDecodingStrategy = .iso8601
            return try bodies[first..<min(first + run, bodies.endIndex)].map { try decoder.decode(type, from: $0) }
        }
        decoded.withLock { $0[number] = result }
    }
    return try decoded.withLock { results in
        try results.sorted { $0.key < $1.key }.flatMap { try $0.value.get() }
    }
}
