// The schema of the workload: the same records, values, references and indexes as the peer's tables
// have.

import Tarn

enum TarnModel {
    /// Text columns of the peer are text here, dates are dates, and every reference can be followed
    /// both ways.
    ///
    /// - Parameter indexed: attributes of issues that get an index.
    static func schema(_ compression: EntityDefinition.Compression, indexed: [String] = []) -> Schema {
        var schema = schema
        for index in schema.entities.indices { schema.entities[index].compression = compression }
        for index in schema.entities[0].attributes.indices where indexed.contains(schema.entities[0].attributes[index].name) {
            schema.entities[0].attributes[index].isIndexed = true
        }
        return schema
    }

    private static let schema = Schema([
        EntityDefinition(
            "Issue", key: ["id"],
            attributes: [
                AttributeDefinition("id", .int), AttributeDefinition("nodeId", .string),
                AttributeDefinition("number", .int), AttributeDefinition("url", .string),
                AttributeDefinition("repositoryUrl", .string), AttributeDefinition("labelsUrl", .string),
                AttributeDefinition("commentsUrl", .string), AttributeDefinition("eventsUrl", .string),
                AttributeDefinition("htmlUrl", .string), AttributeDefinition("timelineUrl", .string),
                AttributeDefinition("title", .string), AttributeDefinition("body", .string, optional: true),
                AttributeDefinition("state", .string), AttributeDefinition("stateReason", .string, optional: true),
                AttributeDefinition("locked", .bool), AttributeDefinition("activeLockReason", .string, optional: true),
                AttributeDefinition("comments", .int), AttributeDefinition("authorAssociation", .string),
                AttributeDefinition("createdAt", .date), AttributeDefinition("updatedAt", .date),
                AttributeDefinition("closedAt", .date, optional: true),
            ],
            relationships: [
                RelationshipDefinition("user", to: "User", inverse: "issues"),
                RelationshipDefinition("labels", to: "Label", many: true, ordered: true, inverse: "issues"),
                RelationshipDefinition("assignees", to: "User", many: true, ordered: true, inverse: "assignedIssues"),
                RelationshipDefinition("milestone", to: "Milestone", inverse: "issues"),
            ]),
        EntityDefinition(
            "User", key: ["id"],
            attributes: [AttributeDefinition("id", .int)]
                + [
                    "login", "nodeId", "avatarUrl", "gravatarId", "url", "htmlUrl", "followersUrl", "followingUrl",
                    "gistsUrl", "starredUrl", "subscriptionsUrl", "organizationsUrl", "reposUrl", "eventsUrl",
                    "receivedEventsUrl", "type",
                ].map { AttributeDefinition($0, .string) } + [AttributeDefinition("siteAdmin", .bool)]),
        EntityDefinition(
            "Label", key: ["id"],
            attributes: [AttributeDefinition("id", .int)]
                + ["nodeId", "url", "name", "color"].map { AttributeDefinition($0, .string) }
                + [AttributeDefinition("isDefault", .bool), AttributeDefinition("description", .string, optional: true)]),
        EntityDefinition(
            "Milestone", key: ["id"],
            attributes: [
                AttributeDefinition("id", .int), AttributeDefinition("url", .string), AttributeDefinition("number", .int),
                AttributeDefinition("title", .string), AttributeDefinition("state", .string),
                AttributeDefinition("createdAt", .date), AttributeDefinition("dueOn", .date, optional: true),
            ],
            relationships: [RelationshipDefinition("creator", to: "User", inverse: "milestones")]),
    ])

    static let mapping = Mapping(entities: [
        "Issue": EntityMapping(ignored: ["assignee", "reactions", "performed_via_app"]),
        "Label": EntityMapping(paths: ["isDefault": ["default"]]),
    ])

    /// The stored counts, by the names of the workload's counts. References are counted from both
    /// sides, by following them to existing records.
    static func counts(_ reader: StoreReader) throws -> [String: Int] {
        var counts: [String: Int] = [:]
        for (name, entity) in [("issues", "Issue"), ("users", "User"), ("labels", "Label"), ("milestones", "Milestone")] {
            counts[name] = try reader.count(entity)
        }
        let pairs = [
            ("issue_labels", "labels", "Label", "issues"), ("issue_assignees", "assignees", "User", "assignedIssues"),
            ("issue_milestones", "milestone", "Milestone", "issues"), ("issues", "user", "User", "issues"),
        ]
        for (name, relationship, target, inverse) in pairs {
            let stored = try count(relationship, of: "Issue", reader), derived = try count(inverse, of: target, reader)
            guard stored == derived, counts[name] ?? stored == stored else {
                throw BenchmarkError("\(stored) Issue.\(relationship) stand against \(derived) \(target).\(inverse)")
            }
            counts[name] = stored
        }
        return counts
    }

    /// The number of related records, from all records of an entity.
    private static func count(_ relationship: String, of entity: String, _ reader: StoreReader) throws -> Int {
        var count = 0, missing = 0
        try reader.forEach(entity) { record in
            try reader.forEachRelated(entity, record.key, relationship) { target in
                count += 1
                if target.record == nil { missing += 1 }
                return true
            }
            return true
        }
        guard missing == 0 else { throw BenchmarkError("\(missing) targets of \(entity).\(relationship) are missing") }
        return count
    }
}
