// The shape of the objects at one place.

import Tarn

/// The fields of the objects at one place, and the objects themselves as samples.
final class ObjectShape {
    /// The number of objects.
    private(set) var count = 0
    /// The keys in the order of their first occurrence.
    private(set) var names: [String] = []
    private(set) var fields: [String: ValueShape] = [:]
    /// The first objects, for comparisons across fields.
    private(set) var samples: [JSONValue] = []
    /// Whether keys beyond ``fieldLimit`` were left out.
    private(set) var isTruncated = false
    /// The name of the schema in a specification.
    var schemaName: String?
    /// The names of the schemas that the schema has under `allOf`.
    var bases: Set<String> = []
    /// The property that names the kind of an object in a specification, and its values.
    var discriminator: (property: String, values: [String])?
    /// Whether the kinds declare their `id` separately: two kinds may have the same one.
    var hasSeparateKeys = false

    /// The maximum number of keys.
    static let fieldLimit = 400
    /// The maximum number of kept objects.
    static let sampleLimit = 20_000

    init() {}

    /// Adds an object. Of a key that occurs twice, the last value counts.
    func add(_ value: JSONValue, depth: Int = 0) {
        guard case .object(let members) = value else { return }
        count += 1
        if samples.count < ObjectShape.sampleLimit { samples.append(value) }
        var last: [String: Int] = [:]
        for (index, member) in members.enumerated() { last[member.key] = index }
        for (index, member) in members.enumerated() where last[member.key] == index {
            shape(of: member.key)?.add(member.value, depth: depth)
        }
    }

    /// Returns the shape of a key's values, created if necessary; nil beyond the limit.
    func shape(of name: String) -> ValueShape? {
        if let known = fields[name] { return known }
        guard names.count < ObjectShape.fieldLimit else {
            isTruncated = true
            return nil
        }
        let new = ValueShape()
        fields[name] = new
        names.append(name)
        return new
    }

    /// Adds the declarations of another shape of the same objects.
    func addDeclarations(of other: ObjectShape, depth: Int = 0) {
        guard self !== other, depth < ValueShape.depthLimit else { return }
        if schemaName == nil { (schemaName, bases) = (other.schemaName, other.bases) }
        discriminator = discriminator ?? other.discriminator
        hasSeparateKeys = hasSeparateKeys || other.hasSeparateKeys
        for name in other.names {
            guard let theirs = other.fields[name] else { continue }
            shape(of: name)?.addDeclarations(of: theirs, depth: depth + 1)
        }
    }

    /// Whether the objects have an id.
    var hasOwnKey: Bool { ["id", "uuid", "_id", "guid"].contains { fields[$0]?.isScalar == true } }

    /// Whether the keys are data, such as dates or ids, instead of names.
    var isMap: Bool {
        if isTruncated { return true }
        guard names.count >= 3 else { return names.contains { !ObjectShape.isName($0) } && !names.isEmpty }
        let odd = names.count { !ObjectShape.isName($0) }
        if odd * 2 > names.count { return true }
        // Many keys of which each object has few.
        guard count >= 3, names.count >= 40 else { return false }
        let present = names.reduce(0) { $0 + (fields[$1]?.count ?? 0) }
        return present * 5 < names.count * count
    }

    /// Whether a key begins with a letter, `_`, `@`, `$`, `+` or `-`, and is short.
    static func isName(_ key: String) -> Bool {
        guard let first = key.unicodeScalars.first, key.utf8.count <= 64 else { return false }
        return first.properties.isAlphabetic || "_@$+-#".unicodeScalars.contains(first)
    }
}
