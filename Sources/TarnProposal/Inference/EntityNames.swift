// Names of entities: from lists, from the URLs of records, from the keys of nested objects.

import Tarn

/// Names clusters.
enum EntityNames {
    /// Keys that name the role of a person instead of the entity.
    static let roles: Set = [
        "owner", "author", "creator", "assignee", "actor", "sender", "recipient", "reviewer", "member", "assignees",
        "members", "reviewers", "closed_by", "merged_by", "created_by", "updated_by", "modified_by", "committer",
        "from", "to", "by", "requester", "submitter", "participant", "participants", "contributor", "contributors",
        "follower", "followers", "poster", "editor", "user_mentions", "mentions", "merged_by", "approver",
    ]
    /// Fields that people have.
    private static let personal: Set = ["login", "username", "screen_name", "email", "first_name", "avatar_url"]

    /// Sets the names of clusters. Those that a person has chosen, by the proposed name, are last.
    static func assign(_ clusters: [Cluster], chosen: [String: String] = [:]) {
        var taken: Set<String> = []
        // Lists have the clearest names.
        let order = clusters.sorted { a, b in
            let (first, second) = (a.main[0].isListed, b.main[0].isListed)
            return first == second ? a.index < b.index : first
        }
        for cluster in order {
            var name = name(of: cluster)
            if let other = chosen[name], EnglishName.isValid(other) { name = other }
            // Named by the owner if the name is taken.
            if taken.contains(name), let owner = cluster.places[0].owner,
                let parent = clusters.first(where: { $0.places.contains { $0.index == owner } }), !parent.name.isEmpty
            {
                name = parent.name + name
            }
            name = EnglishName.unique(name) { taken.contains($0) }
            taken.insert(name)
            cluster.name = name
        }
    }

    private static func name(of cluster: Cluster) -> String {
        if let schema = schema(of: cluster) { return EnglishName.entity(schema) }
        if let listed = cluster.main.first(where: \.isListed) { return EnglishName.entity(listed.name) }
        if let collection = collection(of: cluster) { return EnglishName.entity(collection) }
        let names = cluster.places.map(\.name)
        let plain = names.filter { !roles.contains($0.lowercased()) }
        if cluster.shape.names.contains(where: { personal.contains($0) }), plain.count * 2 <= names.count {
            return "User"
        }
        // The most frequent name; the shortest of several.
        var counts: [String: Int] = [:]
        for name in plain.isEmpty ? names : plain { counts[EnglishName.entity(name), default: 0] += 1 }
        let best = counts.max { ($0.value, -$0.key.count, $1.key) < ($1.value, -$1.key.count, $0.key) }
        return best?.key ?? "Record"
    }

    /// Endings of schema names that tell the form of a response, and not the entity.
    private static let forms = [
        "Summary", "Listing", "ListItem", "Ref", "Reference", "Response", "Dto", "DTO", "Read", "Out", "Details",
        "Detail",
        "Schema", "Model", "Resource", "Short", "Brief", "Minimal", "Simple", "Full", "Base", "Compact",
    ]

    /// Returns the words of a schema name that tell the entity, without those for the form of a
    /// response at its beginning and its end: `user` for `UserDto` and `simple-user`.
    static func subject(ofSchema name: String) -> [String] {
        let forms = Set(forms.map { $0.lowercased() } + ["nullable", "basic", "partial", "mini", "public", "private"])
        var words = EnglishName.words(of: name)[...]
        if words.count > 2, words.suffix(2) == ["list", "item"] { words = words.dropLast(2) }
        while words.count > 1, let last = words.last, forms.contains(last) { words = words.dropLast() }
        while words.count > 1, let first = words.first, forms.contains(first) { words = words.dropFirst() }
        return words.dropLast() + (words.last.map { [EnglishName.singular($0)] } ?? [])
    }

    /// Returns the name of the schema that most places have, without an ending such as `Summary`.
    private static func schema(of cluster: Cluster) -> String? {
        let names = cluster.places.compactMap(\.shape.schemaName)
        var counts: [String: Int] = [:]
        for name in names { counts[name, default: 0] += 1 }
        let most = counts.values.max() ?? 0
        guard let name = names.first(where: { counts[$0] == most }) else { return nil }
        let ending = forms.first { name.hasSuffix($0) && name.count > $0.count + 1 }
        return ending.map { String(name.dropLast($0.count)) } ?? name
    }

    /// Returns the name of the collection in the records' own URLs: `users` of `/users/ada`.
    private static func collection(of cluster: Cluster) -> String? {
        guard let field = cluster.key.fields.first, cluster.shape.fields["url"]?.scalars.forms == [.url] else {
            return nil
        }
        var names: Set<String> = []
        for sample in cluster.shape.samples.prefix(50) {
            guard let url = sample["url"]?.scalarText, let path = try? HTTPURL(url).path else { return nil }
            let segments = path.split(separator: "/").map(String.init)
            guard segments.count >= 2, let last = segments.last else { return nil }
            // The last segment names the record: by its key, or by another of its fields.
            let isNamed =
                sample[field]?.scalarText == last
                || cluster.shape.names.contains { sample[$0]?.scalarText == last }
            guard isNamed else { return nil }
            names.insert(segments[segments.count - 2])
        }
        guard names.count == 1, let name = names.first, !EnglishName.words(of: name).isEmpty else { return nil }
        return name
    }
}
