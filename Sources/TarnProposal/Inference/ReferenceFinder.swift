// References by bare keys: `user_id`, `labelIds`, and values that are keys of other records.

import Tarn

/// Finds the entity that a bare key refers to.
struct ReferenceFinder {
    /// A reference by a bare key.
    struct Reference {
        /// The position of the cluster of the related records.
        var target: Int
        var name: String
        var isToMany: Bool
        var comment: String
    }

    private let clusters: [Cluster]
    /// The keys of the samples of each cluster.
    private let keys: [Set<ExactText>]
    /// The positions of the clusters with one key field, by the words of their names, by those of
    /// the names of their places, and by a name of one word.
    private var named: [[String]: [Int]] = [:], placed: [[String]: [Int]] = [:], single: [String: [Int]] = [:]
    /// The positions of such clusters whose names are those of people.
    private let people: [Int]

    init(_ clusters: [Cluster]) {
        self.clusters = clusters
        let targets = clusters.filter { $0.key.fields.count == 1 }
        people = targets.filter { ["User", "Person", "Account", "Member", "Customer"].contains($0.name) }.map(\.index)
        for cluster in targets {
            let words = EnglishName.words(of: cluster.name)
            named[words, default: []].append(cluster.index)
            if words.count == 1 { single[words[0], default: []].append(cluster.index) }
            for words in Set(cluster.places.map({ EnglishName.singularWords(of: $0.name) })) {
                placed[words, default: []].append(cluster.index)
            }
        }
        keys = clusters.map { cluster in cluster.places.reduce(into: []) { $0.formUnion($1.objects.keys) } }
    }

    /// Returns the reference that an attribute holds; nil for a plain value.
    func reference(_ leaf: Leaf, in cluster: Cluster) -> Reference? {
        let isList = leaf.value.isList && leaf.value.element?.isScalar == true && leaf.value.element?.nulls == 0
        guard isList || leaf.value.isScalar, let value = isList ? leaf.value.element : leaf.value else { return nil }
        guard leaf.keys.count > 1 || !cluster.key.fields.contains(leaf.name) || cluster.key.fields.count > 1 else {
            return nil
        }
        guard value.count == 0 || value.scalars.fractions == 0 && value.scalars.emptyTexts == 0 else { return nil }
        var words = EnglishName.words(of: leaf.name)
        let isNamed = words.count > 1 && ["id", "ids", "uuid", "uuids", "key", "pk"].contains(words.last ?? "")
        if isNamed { words.removeLast() }
        if let last = words.popLast() { words.append(EnglishName.singular(last)) }
        for target in candidates(words, in: cluster, isNamed: isNamed) {
            guard fits(value, target, isNamed: isNamed) else { continue }
            return Reference(
                target: target, name: isNamed ? name(words, isToMany: isList) : EnglishName.field(leaf.name),
                isToMany: isList, comment: isList ? "bare keys" : "a bare key")
        }
        guard let target = targetByValues(value, leaf, cluster) else { return nil }
        return Reference(
            target: target, name: isNamed ? name(words, isToMany: isList) : EnglishName.field(leaf.name),
            isToMany: isList,
            comment: "its values are keys of \(clusters[target].name) in the samples")
    }

    /// Returns the reference that the URL of another record is; nil for other values.
    func referenceByURL(_ leaf: Leaf, in cluster: Cluster) -> Reference? {
        let isList = leaf.value.isList && leaf.value.element?.nulls == 0
        guard let value = isList ? leaf.value.element : leaf.value, value.count > 0 else { return nil }
        let target = clusters.first { other in
            guard let form = other.urlForm, form.matches(value) else { return false }
            // The own URL is no reference.
            return !(other.index == cluster.index && leaf.keys == form.field)
        }
        guard let target else { return nil }
        var words = EnglishName.words(of: leaf.name)
        if words.count > 1, ["url", "urls", "uri", "href", "link"].contains(words.last ?? "") {
            let isPlural = words.removeLast().hasSuffix("s")
            if isPlural, let last = words.popLast() { words.append(EnglishName.plural(last)) }
        }
        return Reference(
            target: target.index, name: EnglishName.field(words.joined(separator: "_")), isToMany: isList,
            comment: "by URL")
    }

    private func name(_ words: [String], isToMany: Bool) -> String {
        let joined = words.joined(separator: "_")
        return EnglishName.field(isToMany ? EnglishName.plural(joined) : joined)
    }

    /// Returns the clusters that a name may mean, the best first.
    private func candidates(_ words: [String], in own: Cluster, isNamed: Bool) -> [Int] {
        guard !words.isEmpty else { return [] }
        var found: [Int] = []
        func add(_ positions: [Int]?) {
            for position in positions ?? [] where !found.contains(position) { found.append(position) }
        }
        add(named[words])
        add(placed[words])
        guard isNamed else { return found }
        if words == ["parent"] { found.append(own.index) }
        add(words.last.flatMap { single[$0] })
        if EntityNames.roles.contains(words.joined(separator: "_")) || EntityNames.roles.contains(words.last ?? "") {
            // The owner of an account is a user, and no account.
            add(people.filter { $0 != own.index || clusters[$0].name != "Account" })
        }
        return found
    }

    /// Whether values may be keys of a cluster.
    private func fits(_ value: ValueShape, _ target: Int, isNamed: Bool) -> Bool {
        guard let field = clusters[target].key.fields.first, let key = clusters[target].shape.fields[field]?.key else {
            return false
        }
        func isText(_ shape: ValueShape) -> Bool {
            shape.count > shape.nulls
                ? shape.scalars.texts > 0 : shape.declared.map { $0.types.contains("string") } ?? false
        }
        guard isText(value) == isText(key) else { return false }
        if isNamed { return true }
        // Without `id` in the name, a number or text may be anything: it must be a key of a sample.
        let values = value.scalars.counts.keys
        return value.count == 0 ? false : values.contains { keys[target].contains(ExactText($0)) } && !isText(value)
    }

    /// Returns the cluster whose keys the values are, if they are too special for a coincidence:
    /// long texts with digits, large numbers, or shorter ids such as `cus_101` that nearly all are
    /// keys.
    private func targetByValues(_ value: ValueShape, _ leaf: Leaf, _ own: Cluster) -> Int? {
        let values = value.scalars.counts.keys
        guard values.count >= 2, !value.scalars.isOverflowing else { return nil }
        let isSpecial = value.scalars.texts > 0 ? isLongID(value) : value.scalars.smallest >= 100_000
        guard isSpecial || isShortID(value) else { return nil }
        // The samples are a part of the records: not every target is among them.
        let isLink = ["of", "by", "to", "parent", "previous", "next", "original", "root"].contains(
            EnglishName.words(of: leaf.name).last ?? "")
        let named = candidates(EnglishName.singularWords(of: leaf.name), in: own, isNamed: true)
        return clusters.first { cluster in
            let isNamed = named.contains(cluster.index)
            guard isSpecial || isNamed || isLink || cluster.index != own.index else { return false }
            let found = values.count { keys[cluster.index].contains(ExactText($0)) }
            let tenths = isSpecial || isNamed ? 3 : 8
            return cluster.key.fields.count == 1 && found >= (isLink || isNamed ? 1 : 2)
                && found * 10 >= values.count * tenths && fits(value, cluster.index, isNamed: true)
        }?.index
    }

    private func isLongID(_ value: ValueShape) -> Bool {
        let forms = value.scalars.forms ?? []
        return !forms.contains(.url) && !forms.contains { $0.dateFormat != nil }
            && value.scalars.counts.keys.allSatisfy {
                $0.utf8.count >= 12 && $0.utf8.contains { (0x30...0x39).contains($0) }
            }
    }

    /// Whether texts are short ids: letters and digits, also with `_` and `-` between them.
    private func isShortID(_ value: ValueShape) -> Bool {
        guard value.scalars.texts > 0, value.scalars.numbers == 0 else { return false }
        return value.scalars.counts.keys.allSatisfy { text in
            let hasDigit = text.utf8.contains { (0x30...0x39).contains($0) }
            let hasLetter = text.utf8.contains { (0x61...0x7A).contains($0 | 0x20) }
            return text.utf8.count >= 4 && hasDigit && hasLetter
                && text.utf8.allSatisfy {
                    (0x61...0x7A).contains($0 | 0x20) || (0x30...0x39).contains($0)
                        || [UInt8(ascii: "_"), UInt8(ascii: "-")].contains($0)
                }
        }
    }
}
