// Places that hold records of one entity: equal records, names, or fields.

import Tarn

/// Groups places by entity.
struct ClusterFinder {
    private let places: [Place]
    private var parents: [Int]

    /// Fields that objects of many entities have: they prove nothing.
    static let common: Set = [
        "id", "name", "title", "url", "uri", "href", "self", "type", "kind", "description", "created_at", "updated_at",
        "createdat", "updatedat", "created", "updated", "node_id", "html_url", "htmlurl", "slug", "state", "status",
        "key", "label", "value", "count", "position", "image", "uuid", "links", "_links", "object", "body", "text",
    ]

    /// Returns the clusters of places, in the order of their first places.
    static func clusters(_ places: [Place]) -> [Cluster] {
        var finder = ClusterFinder(places)
        finder.join()
        var groups: [[Place]] = [], positions: [Int: Int] = [:]
        for place in places {
            let root = finder.root(place.index)
            if let position = positions[root] {
                groups[position].append(place)
            } else {
                positions[root] = groups.count
                groups.append([place])
            }
        }
        return groups.enumerated().map { Cluster(index: $0.offset, $0.element) }
    }

    private init(_ places: [Place]) {
        self.places = places
        parents = Array(places.indices)
    }

    private mutating func join() {
        let listed = places.filter(\.isListed), nested = places.filter { !$0.isListed && !$0.key.isWithinParent }
        for (index, a) in listed.enumerated() {
            for b in listed[(index + 1)...] where isSame(a, b) { parents[root(b.index)] = root(a.index) }
        }
        // Each nested object joins the list that fits best; then nested objects join each other.
        for place in nested {
            if let target = place.target {
                parents[root(place.index)] = root(target)
                continue
            }
            let fitting = listed.filter { isSame($0, place) }.map { (list: $0, score: score($0, place)) }
            guard let best = fitting.max(by: { $0.score < $1.score }) else { continue }
            parents[root(place.index)] = root(best.list.index)
        }
        for (index, a) in nested.enumerated() {
            for b in nested[(index + 1)...] where root(a.index) != root(b.index) {
                guard a.target == nil, b.target == nil, isSame(a, b), !hasList(a) || !hasList(b),
                    !isContradicted(a, b)
                else { continue }
                let (kept, joined) = hasList(b) ? (b, a) : (a, b)
                parents[root(joined.index)] = root(kept.index)
            }
        }
        joinRows()
    }

    /// Joins the rows of tables in the records of one entity.
    private mutating func joinRows() {
        let rows = places.filter(\.key.isWithinParent)
        for (index, a) in rows.enumerated() {
            for b in rows[(index + 1)...] {
                guard let first = a.owner, let second = b.owner, root(first) == root(second), a.keys == b.keys,
                    a.key.fields == b.key.fields
                else { continue }
                parents[root(b.index)] = root(a.index)
            }
        }
    }

    /// Whether the cluster of a place has a list.
    private func hasList(_ place: Place) -> Bool {
        places.contains { $0.isListed && root($0.index) == root(place.index) }
    }

    /// How well a nested object fits a list: equal records count most, then the name, then the
    /// fields.
    private func score(_ list: Place, _ place: Place) -> Double {
        let common = Double(shared(list, place))
        let all = Double(list.shape.names.count + place.shape.names.count) - common
        var score = all > 0 ? common / all : 0
        if evidence(list, place) == .for_ { score += 4 }
        if EnglishName.singularWords(of: list.name).last == EnglishName.singularWords(of: place.name).last {
            score += 2
        }
        if let schema = list.shape.schemaName, schema == place.shape.schemaName { score += 8 }
        return score
    }

    private func root(_ index: Int) -> Int {
        var index = index
        while parents[index] != index { index = parents[index] }
        return index
    }

    /// Whether two clusters have records with equal keys and different content.
    private func isContradicted(_ a: Place, _ b: Place) -> Bool {
        let first = places.filter { root($0.index) == root(a.index) }
        let second = places.filter { root($0.index) == root(b.index) }
        guard first.count + second.count > 2 else { return false }
        return first.prefix(12).contains { x in
            second.prefix(12).contains { y in evidence(x, y) == .against }
        }
    }

    private enum Evidence { case none, against, for_ }

    /// Compares the records with equal keys at two places.
    private func evidence(_ a: Place, _ b: Place) -> Evidence {
        guard !a.objects.isEmpty, !b.objects.isEmpty else { return .none }
        let (few, many) = a.objects.count <= b.objects.count ? (a, b) : (b, a)
        var compared = 0, agreeing = 0, examined = 0, pairs: [[JSONValue]] = []
        let keys = Set(a.key.fields)
        for (key, object) in few.objects {
            guard let other = many.objects[key] else { continue }
            let agreement = JSONValue.agreement(object, other, except: keys)
            compared += agreement.compared
            agreeing += agreement.agreeing
            examined += 1
            pairs.append([object, other])
            if examined >= 200 { break }
        }
        guard compared > 0 else { return .none }
        if agreeing * 10 < compared * 5 { return .against }
        // Nested objects are excerpts: a text may be a shorter one.
        // A detail is more than an excerpt of a listed object, whose texts may be shorter.
        let areLists = a.isListed && b.isListed && few.objects.count > 1
        if KeyConsistency(pairs, except: keys).isRefuted(weight: areLists ? 3 : 1) { return .against }
        return agreeing * 10 >= compared * 8 && hasDistinctive(a, b) ? .for_ : .none
    }

    /// Whether a specification declares the objects as those of two schemas.
    private func haveOtherSchemas(_ a: Place, _ b: Place) -> Bool {
        guard let mine = a.shape.schemaName, let theirs = b.shape.schemaName, mine != theirs,
            !a.shape.bases.contains(theirs), !b.shape.bases.contains(mine)
        else { return false }
        return a.subject != b.subject
    }

    /// Whether the names of two places suggest one entity.
    private func haveOneName(_ a: Place, _ b: Place) -> Bool {
        let mine = EnglishName.singularWords(of: a.name), theirs = EnglishName.singularWords(of: b.name)
        guard let last = mine.last, last == theirs.last else { return false }
        // `open_issues` are issues, and `user_types` are no `project_types`.
        if a.isListed, b.isListed {
            return Array(mine.suffix(theirs.count)) == theirs || Array(theirs.suffix(mine.count)) == mine
        }
        // `items` of an order are others than those of an invoice.
        return a.isListed || b.isListed
            || ![a.name, b.name].contains { ListFinder.wrappers.contains($0.lowercased()) }
    }

    private func isSame(_ a: Place, _ b: Place) -> Bool {
        // Equal records prove more than names of schemas.
        if haveOtherSchemas(a, b) { return typesAgree(a, b) && a.key.fields == b.key.fields && evidence(a, b) == .for_ }
        guard a.key.fields.count == 1, a.key.fields == b.key.fields else {
            // The kinds of one schema.
            if let name = a.shape.schemaName, name == b.shape.schemaName, !a.key.fields.isEmpty {
                return a.key.fields == b.key.fields
            }
            // Identifiers with their type.
            if !a.isListed, !b.isListed, a.key.fields == ["type", "id"], b.key.fields == a.key.fields { return true }
            // Two lists of one collection.
            return a.isListed && b.isListed && !a.key.fields.isEmpty && a.key.fields == b.key.fields
                && shared(a, b) * 10 >= max(a.shape.names.count, b.shape.names.count) * 9
        }
        guard typesAgree(a, b) else { return false }
        if let mine = a.shape.schemaName, let theirs = b.shape.schemaName, mine == theirs { return true }
        switch evidence(a, b) {
        case .against: return false
        case .for_: return true
        case .none: break
        }
        let smaller = min(a.shape.names.count, b.shape.names.count)
        let common = shared(a, b)
        if haveOneName(a, b), common * 2 >= smaller { return true }
        if a.isListed, b.isListed { return false }
        guard common * 10 >= smaller * 8, hasDistinctive(a, b) else { return false }
        // Short objects are excerpts of others if their names say so: an owner of a user.
        return isRole(a) && isRole(b) || common * 2 >= a.shape.names.count + b.shape.names.count - common
    }

    /// Whether the name of a place is that of a person, or of a person's role.
    private func isRole(_ place: Place) -> Bool {
        let name = EnglishName.words(of: place.name).joined(separator: "_")
        return EntityNames.roles.contains(name)
            || ["user", "account", "person", "profile"].contains(EnglishName.singularWords(of: place.name).last ?? "")
    }

    /// The number of fields that both places have.
    private func shared(_ a: Place, _ b: Place) -> Int { a.shape.names.count { b.shape.fields[$0] != nil } }

    /// Whether both places have a field that not every entity has.
    private func hasDistinctive(_ a: Place, _ b: Place) -> Bool {
        a.shape.names.contains {
            b.shape.fields[$0] != nil && !a.key.fields.contains($0) && !ClusterFinder.common.contains($0.lowercased())
        }
    }

    /// Whether the keys are of one type.
    private func typesAgree(_ a: Place, _ b: Place) -> Bool {
        func isText(_ place: Place) -> Bool? {
            guard let field = place.key.fields.first, let value = place.shape.fields[field]?.key else { return nil }
            if value.count > 0 { return value.scalars.texts > 0 }
            return value.declared.map { $0.types.contains("string") }
        }
        guard let first = isText(a), let second = isText(b) else { return true }
        return first == second
    }
}
