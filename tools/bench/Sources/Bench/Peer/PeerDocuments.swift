// What the peer decodes a page into: the records of the tables, with what the JSON nests inside them.

import Foundation

/// An issue as the API lists it: decoded in one pass into the records it holds.
struct IssueDocument: Decodable {
    var issue: Issue
    var user: User
    var labels: [Label]
    var assignees: [User]
    var milestone: MilestoneDocument?

    private enum NestedKeys: String, CodingKey {
        case user, labels, assignees, milestone
    }

    init(from decoder: any Decoder) throws {
        let nested = try decoder.container(keyedBy: NestedKeys.self)
        user = try nested.decode(User.self, forKey: .user)
        labels = try nested.decode([Label].self, forKey: .labels)
        assignees = try nested.decode([User].self, forKey: .assignees)
        milestone = try nested.decodeIfPresent(MilestoneDocument.self, forKey: .milestone)

        let values = try decoder.container(keyedBy: Issue.CodingKeys.self)
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

    private enum NestedKeys: String, CodingKey {
        case creator
    }

    init(from decoder: any Decoder) throws {
        creator = try decoder.container(keyedBy: NestedKeys.self).decode(User.self, forKey: .creator)
        let values = try decoder.container(keyedBy: Milestone.CodingKeys.self)
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
