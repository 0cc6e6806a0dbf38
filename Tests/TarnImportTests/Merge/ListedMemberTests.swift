// Many-to-many relationships in units with repeated records, against a plain model.

import TarnImport
import TarnStore
import TestSupport
import Testing

/// A JSON object of a post or of a tag: the fields that it has.
private struct Said {
    var id: Int
    /// JSON texts of attributes.
    var values: [String: String] = [:]
    /// The tags of a post as keys; nil if they are absent.
    var tags: [Int]?
    /// The posts of a tag as keys or objects; nil if they are absent.
    var posts: [Said]?
    var isKey = false

    var json: String {
        if isKey { return "\(id)" }
        var members = ["\"id\":\(id)"] + values.sorted { $0.key < $1.key }.map { "\"\($0.key)\":\($0.value)" }
        if let tags { members.append("\"tags\":\(tags)") }
        if let posts { members.append("\"posts\":[\(posts.map(\.json).joined(separator: ","))]") }
        return "{\(members.joined(separator: ","))}"
    }
}

/// The records that a store must have after a unit.
private struct ListModel {
    struct Post: Equatable {
        var values: [String: String] = [:]
        var tags: [Int] = []
    }

    var posts: [Int: Post] = [:]
    var tags: [Int: [String: String]] = [:]
    let policy: ToManyPolicy
    let firstWins: Bool
    /// The unit: each post and each tag with the values of all its objects.
    private var postDrafts: [Int: Said] = [:], tagDrafts: [Int: Said] = [:]
    private var lists: [(tag: Int, posts: [Int], loses: Bool)] = []
    private(set) var created = 0, total = 0

    init(_ policy: ToManyPolicy, firstWins: Bool) { (self.policy, self.firstWins) = (policy, firstWins) }

    private func united(_ known: Said?, _ new: Said) -> Said {
        guard let known else { return new }
        let (winner, loser) = firstWins ? (known, new) : (new, known)
        var united = winner
        united.values.merge(loser.values) { winner, _ in winner }
        united.tags = winner.tags ?? loser.tags
        return united
    }

    mutating func takePost(_ post: Said) { postDrafts[post.id] = united(postDrafts[post.id], post) }

    mutating func takeTag(_ tag: Said) {
        if let posts = tag.posts {
            lists.append((tag.id, posts.map(\.id), firstWins && tagDrafts[tag.id] != nil))
        }
        tagDrafts[tag.id] = united(tagDrafts[tag.id], tag)
        for post in tag.posts ?? [] where !post.isKey { takePost(post) }
    }

    /// Whether a list of the unit is in effect.
    private func counts(_ number: Int) -> Bool {
        let list = lists[number], same = lists.indices.filter { lists[$0].tag == list.tag }
        let winning = same.filter { !lists[$0].loses }
        if list.loses { return winning.isEmpty && same.first == number }
        return policy != .replace || winning.last == number
    }

    mutating func commit() {
        (created, total) = (0, postDrafts.count + tagDrafts.count)
        for (id, draft) in postDrafts {
            if posts[id] == nil { created += 1 }
            posts[id, default: Post()].values.merge(draft.values) { $1 }
            guard let tags = draft.tags else { continue }
            let known = unique(tags)
            posts[id]?.tags = known
        }
        for (id, draft) in tagDrafts {
            if tags[id] == nil { created += 1 }
            tags[id, default: [:]].merge(draft.values) { $1 }
        }
        let before = posts
        for (number, list) in lists.enumerated() where counts(number) {
            for id in list.posts where posts[id]?.tags.contains(list.tag) == false {
                posts[id]?.tags.append(list.tag)
            }
            guard policy == .replace else { continue }
            for id in posts.keys where !list.posts.contains(id) { posts[id]?.tags.removeAll { $0 == list.tag } }
        }
        total += posts.keys.count { postDrafts[$0] == nil && posts[$0] != before[$0] }
        (postDrafts, tagDrafts, lists) = ([:], [:], [])
    }

    private func unique(_ ids: [Int]) -> [Int] {
        ids.enumerated().filter { ids.firstIndex(of: $1) == $0 }.map(\.element)
    }
}

@Suite("Import: lists of members")
struct ListedMemberTests {
    private static let id = AttributeDefinition("id", .int)
    private static let name = AttributeDefinition("name", .string, optional: true)
    private static let text = AttributeDefinition("text", .string, optional: true)
    private static let schema = Schema([
        EntityDefinition(
            "Post", key: ["id"], attributes: [id, name, text],
            relationships: [RelationshipDefinition("tags", to: "Tag", many: true, ordered: true, inverse: "posts")]),
        EntityDefinition(
            "Tag", key: ["id"], attributes: [id, name, text],
            relationships: [RelationshipDefinition("posts", to: "Post", many: true, inverse: "tags")]),
        EntityDefinition("Topic", parent: "Tag", attributes: []),
    ])

    private static func mapping(_ policy: ToManyPolicy, firstWins: Bool = false) -> Mapping {
        var tag = EntityMapping(declared: ["posts"], fields: ["posts": FieldRules(toMany: policy)])
        var post = EntityMapping()
        if firstWins { (tag.duplicates, post.duplicates) = (.firstWins, .firstWins) }
        return Mapping(entities: ["Tag": tag, "Post": post])
    }

    /// Values of a few lengths: a record grows, shrinks and stays equal.
    private func values(_ random: inout SeededRandom) -> [String: String] {
        var values: [String: String] = [:]
        for name in ["name", "text"] where random.roll(0..<3) > 0 {
            values[name] =
                "\"" + String(repeating: "x", count: [0, 1, 40, 300, 70_000][random.roll(0..<40) % 5]) + "\""
            if random.roll(0..<8) > 0 { values[name] = "\"\(name.prefix(random.roll(0..<4)))\"" }
        }
        return values
    }

    private func post(_ random: inout SeededRandom, _ ids: Int, isListed: Bool) -> Said {
        var post = Said(id: random.roll(1..<ids), values: values(&random))
        if isListed, random.roll(0..<2) == 0 {
            post.tags = (0..<random.roll(0..<4)).map { _ in random.roll(1..<ids) }
        }
        return post
    }

    private func tag(_ random: inout SeededRandom, _ ids: Int) -> Said {
        var tag = Said(id: random.roll(1..<ids), values: values(&random))
        guard random.roll(0..<4) > 0 else { return tag }
        // More than the lists that are searched one by one.
        let count = random.roll(0..<[3, 6, 40][random.roll(0..<3)])
        tag.posts = (0..<count).map { _ in
            var member = post(&random, ids, isListed: false)
            member.isKey = random.roll(0..<2) == 0
            return member
        }
        return tag
    }

    @Test(
        "units of records that come again and again, with lists of both sides, give the records of a plain model",
        arguments: Array(UInt64(1)...48))
    func model(_ seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        let policy = ToManyPolicy.allCases[Int(seed % UInt64(ToManyPolicy.allCases.count))], firstWins = seed % 3 == 0
        let bed = try TestStore(Self.schema, Self.mapping(policy, firstWins: firstWins)),
            ids = [4, 8, 40][Int(seed % 5) % 3]
        var model = ListModel(policy, firstWins: firstWins)
        for unit in 0..<(isSanitized ? 5 : 15) {
            for _ in 0..<random.roll(1..<4) {
                let isOfTags = random.roll(0..<3) > 0, count = random.roll(0..<12)
                let objects = (0..<count).map { _ in isOfTags ? tag(&random, ids) : post(&random, ids, isListed: true) }
                for object in objects { if isOfTags { model.takeTag(object) } else { model.takePost(object) } }
                try bed.add("[\(objects.map(\.json).joined(separator: ","))]", isOfTags ? "Tag" : "Post")
            }
            let label = "seed \(seed), unit \(unit)", report = try bed.commit()
            model.commit()
            #expect(report.created == model.created, "\(label)")
            #expect(report.created + report.updated + report.unchanged == model.total, "\(label)")
            #expect(try bed.count("Post") == model.posts.count && bed.count("Tag") == model.tags.count, "\(label)")
            for (id, post) in model.posts {
                try compare(bed, "Post", id, post.values, label)
                let tags = try bed.related("Post", Int64(id), "tags")
                #expect(tags == post.tags.map { model.tags[$0] == nil ? "\($0)?" : "\($0)" }, "\(label), post \(id)")
            }
            for (id, values) in model.tags {
                try compare(bed, "Tag", id, values, label)
                let posts = model.posts.filter { $0.value.tags.contains(id) }.keys.sorted()
                #expect(try bed.related("Tag", Int64(id), "posts") == posts.map { "\($0)" }, "\(label), tag \(id)")
            }
        }
    }

    private func compare(
        _ bed: TestStore, _ entity: String, _ id: Int, _ values: [String: String], _ label: String
    ) throws {
        for name in ["name", "text"] {
            let expected = values[name].map { Value.string(String($0.dropFirst().dropLast())) }
            // A record that never had the value has null for it.
            let found = try bed.value(entity, Int64(id), name)
            #expect(found == expected ?? .null || found == expected, "\(label), \(entity) \(id).\(name)")
        }
    }

    @Test("a list that replaces others takes away what one before it in the unit has added, as of another entity")
    func replacedInUnit() throws {
        var mapping = Self.mapping(.append)
        mapping.entities["Topic"] = EntityMapping(fields: ["posts": FieldRules(toMany: .replace)])
        for isOneUnit in [false, true] {
            let bed = try TestStore(Self.schema, mapping)
            try bed.take(#"[{"id":7},{"id":8,"tags":[1]},{"id":9}]"#, "Post")
            try bed.add(#"[{"id":1,"posts":[7,9]},{"id":2,"posts":[7]}]"#, "Tag")
            if !isOneUnit { _ = try bed.commit() }
            try bed.add(#"[{"id":1,"posts":[9]}]"#, "Topic")
            _ = try bed.commit()
            #expect(try bed.related("Post", 7, "tags") == ["2"], "one unit: \(isOneUnit)")
            #expect(try bed.related("Post", 8, "tags") == [], "one unit: \(isOneUnit)")
            #expect(try bed.related("Post", 9, "tags") == ["1"], "one unit: \(isOneUnit)")
        }
    }
}
