// Fields that repeat others: links of the API to itself, and numbers repeated as text.

import Tarn

/// Finds the leaves that a person would not keep.
struct UnwantedFields {
    /// The hosts of the API.
    let hosts: Set<String>
    /// The forms of the URLs of records.
    let forms: [URLForm]
    /// The URLs that endpoints request.
    let requested: Set<[String]>

    /// Whether a leaf refers to a record by its URL, or is requested.
    private func isReference(_ leaf: Leaf) -> Bool {
        requested.contains(leaf.keys)
            || forms.contains { form in form.field != leaf.keys && form.matches(leaf.value) }
    }

    /// Returns the reason why a leaf is not wanted; nil if it is.
    func reason(_ leaf: Leaf, in cluster: Cluster) -> String? {
        let isKey = cluster.key.fields.contains(leaf.name) || cluster.key.lastResort?.field == leaf.name
        guard !(leaf.keys.count == 1 && isKey) else { return nil }
        if isTwin(leaf, cluster) { return "the same value as text" }
        guard cluster.shape.names.count > 4, isLink(leaf) else { return nil }
        // A URL that names a record of another list is a reference.
        guard !isReference(leaf) else { return nil }
        return "links of the API to itself"
    }

    /// Whether a text repeats the number of another key: `id_str`.
    private func isTwin(_ leaf: Leaf, _ cluster: Cluster) -> Bool {
        guard leaf.keys.count == 1, let suffix = ["_str", "_string", "Str"].first(where: leaf.name.hasSuffix),
            let other = cluster.shape.fields[String(leaf.name.dropLast(suffix.count))], other.scalars.numbers > 0,
            leaf.value.scalars.texts == other.scalars.numbers
        else { return false }
        return Set(leaf.value.scalars.counts.keys) == Set(other.scalars.counts.keys)
    }

    /// Whether all values are URLs of the API, or templates of them.
    private func isLink(_ leaf: Leaf) -> Bool {
        let words = EnglishName.words(of: leaf.name), facts = leaf.value.scalars
        guard let last = words.last, ["url", "uri", "href", "link", "self"].contains(last) else { return false }
        guard !words.contains(where: { ["html", "web", "avatar", "image", "download", "thumbnail"].contains($0) })
        else { return false }
        guard facts.texts > 0, facts.forms == [.url] else { return false }
        return facts.counts.keys.sorted().prefix(50).allSatisfy { text in
            let reference = URLReference(text)
            guard let host = reference.authority?.lowercased() else { return false }
            return hosts.contains(host) || host.hasPrefix("api.")
        }
    }
}
