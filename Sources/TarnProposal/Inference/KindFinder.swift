// Heterogeneous lists: a field such as `type` tells which other fields an object has.

import Tarn

/// Finds the discriminator of an entity, and the kinds in which each value occurs.
struct KindFinder {
    /// The key of the discriminator and its values; nil if all records are of one kind.
    private(set) var discriminator: (key: String, values: [String])?

    private static let names: Set = [
        "type", "kind", "object", "event", "eventtype", "objecttype", "resourcetype", "typename", "category", "class",
        "action", "recordtype", "itemtype",
    ]
    private static let kindLimit = 40

    /// Looks for a discriminator, and sets the kinds of the leaves that only some kinds have.
    init(_ cluster: Cluster, _ leaves: inout [Leaf]) {
        if let declared = cluster.shape.discriminator {
            guard declared.values.count > 1, leaves.contains(where: { !$0.kinds.isEmpty }) else { return }
            discriminator = (declared.property, declared.values)
            return
        }
        let shape = cluster.mainShape
        for name in shape.names where KindFinder.names.contains(EnglishName.words(of: name).joined()) {
            guard let value = shape.fields[name], value.count == shape.count, shape.count >= 4, value.isScalar,
                value.scalars.numbers == 0
            else { continue }
            let values = value.scalars.counts
            guard (2...KindFinder.kindLimit).contains(values.count), !value.scalars.isOverflowing,
                values.count * 2 <= shape.count + 1, values.keys.allSatisfy(KindFinder.isPlain)
            else { continue }
            guard let kinds = KindFinder.kinds(of: leaves, by: name, Set(values.keys), shape.samples) else { continue }
            for (index, kinds) in kinds { leaves[index].kinds = kinds }
            discriminator = (name, values.keys.sorted())
            return
        }
    }

    /// Returns the kinds of the leaves that depend on the discriminator; nil if too few do.
    private static func kinds(
        of leaves: [Leaf], by name: String, _ values: Set<String>, _ samples: [JSONValue]
    ) -> [Int: Set<String>]? {
        var groups: [String: [JSONValue]] = [:]
        for sample in samples.prefix(5000) {
            if let value = sample[name]?.scalarText { groups[value, default: []].append(sample) }
        }
        var result: [Int: Set<String>] = [:], determined = 0
        for (index, leaf) in leaves.enumerated() where leaf.keys != [name] {
            var present: Set<String> = [], isWhole = true
            for (value, group) in groups {
                let count = group.count { $0.value(at: leaf.keys) != nil }
                if count > 0 { present.insert(value) }
                if count > 0, count * 10 < group.count * 9 { isWhole = false }
            }
            guard !present.isEmpty, present.count < values.count else { continue }
            if isWhole { determined += 1 }
            // A field of most kinds, or of only some records of a kind, belongs to their parent.
            guard isWhole || leaf.keys.count > 1, present.count * 3 <= values.count * 2 || values.count == 2 else {
                continue
            }
            result[index] = present
        }
        guard determined >= 2, determined * 5 >= leaves.count else { return nil }
        return result
    }

    /// Whether a value may be a condition as it is.
    private static func isPlain(_ value: String) -> Bool {
        !value.isEmpty && value.utf8.count <= 60
            && value.utf8.allSatisfy {
                (0x61...0x7A).contains($0 | 0x20) || (0x30...0x39).contains($0) || "_-./".utf8.contains($0)
            }
    }
}
