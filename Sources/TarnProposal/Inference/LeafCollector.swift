// The values of an entity's records: scalars, lists and references, also those of nested objects
// that are no records.

import Tarn

/// Collects the leaves of a cluster.
struct LeafCollector {
    private let cluster: Cluster
    /// The clusters of nested records, by their keys from this cluster's records.
    private let targets: [[String]: (cluster: Int, isToMany: Bool)]
    private(set) var leaves: [Leaf] = []
    /// Fields that belong to the place where a record is nested, and not to the record.
    private(set) var contextual: [[String]] = []

    /// An object with more values than this is kept as JSON.
    private static let flatteningLimit = 80

    init(_ cluster: Cluster, _ targets: [[String]: (cluster: Int, isToMany: Bool)]) {
        self.cluster = cluster
        self.targets = targets
        collect(cluster.shape, cluster.mainShape, [], isOptional: false)
        if cluster.shape.discriminator != nil { noteKinds() }
    }

    private mutating func collect(_ shape: ObjectShape, _ main: ObjectShape?, _ keys: [String], isOptional: Bool) {
        // The order of the main places first.
        let names = (main?.names ?? []) + shape.names.filter { main?.fields[$0] == nil }
        for name in names {
            guard let value = shape.fields[name] else { continue }
            let path = keys + [name], mainValue = main?.fields[name]
            // Its value is that of the key.
            if path == [RecordMap.nameField],
                cluster.key.fields.first.map({ RecordMap.repeatsName($0, shape.samples) }) == true,
                cluster.key.fields != path
            {
                continue
            }
            if keys.isEmpty, mainValue == nil, isContextual(name) {
                contextual.append(path)
                continue
            }
            let isMissing = isOptional || LeafCollector.isOptional(mainValue, in: main)
            if let target = targets[path] {
                var leaf = Leaf(keys: path, value: value, isOptional: isMissing)
                (leaf.target, leaf.isToMany) = target
                leaves.append(leaf)
            } else if value.isObject, let object = value.object, !object.isMap, !object.names.isEmpty,
                path.count < PlaceCollector.nestingLimit,
                leafCount(object, path, upTo: LeafCollector.flatteningLimit) <= LeafCollector.flatteningLimit
            {
                collect(object, mainValue?.object, path, isOptional: isMissing)
            } else {
                leaves.append(Leaf(keys: path, value: value, isOptional: isMissing))
            }
        }
    }

    /// The number of attributes and relationships that an object would become.
    ///
    /// - Parameter limit: the number beyond which nothing is counted: schemas may refer to
    ///   themselves.
    private func leafCount(_ object: ObjectShape, _ keys: [String], upTo limit: Int) -> Int {
        var sum = 0
        for name in object.names where sum <= limit {
            let path = keys + [name]
            guard targets[path] == nil, path.count < PlaceCollector.nestingLimit, let value = object.fields[name],
                value.isObject, let inner = value.object
            else {
                sum += 1
                continue
            }
            sum += leafCount(inner, path, upTo: limit - sum)
        }
        return sum
    }

    /// Whether a value may be missing or null.
    private static func isOptional(_ value: ValueShape?, in shape: ObjectShape?) -> Bool {
        guard let value, let shape else { return true }
        if value.count == 0, let declared = value.declared { return !declared.isRequired || declared.isNullable }
        return value.count < shape.count || value.nulls > 0 || value.declared?.isNullable == true
    }

    /// Whether a field of nested objects has different values in the same record: `indices` of a
    /// mentioned user.
    private func isContextual(_ name: String) -> Bool {
        guard let field = cluster.key.fields.first else { return false }
        return cluster.places.contains { place in
            guard place.shape.fields[name] != nil else { return false }
            var values: [String: JSONValue] = [:]
            return place.shape.samples.prefix(2000).contains { sample in
                guard let key = sample[field]?.keyText, let value = sample[name] else { return false }
                guard let other = values[key] else {
                    values[key] = value
                    return false
                }
                return other != value
            }
        }
    }

    /// Notes the kinds of leaves that a specification declares.
    private mutating func noteKinds() {
        for index in leaves.indices {
            guard let first = leaves[index].keys.first, let value = cluster.shape.fields[first] else { continue }
            leaves[index].kinds = value.declared?.kinds ?? []
        }
    }
}
