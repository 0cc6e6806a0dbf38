// The sources of a field's values, as texts: two descriptions are compared by them.

extension Mapping {
    /// Returns everything from which a field takes its value: declared sources, its own names in
    /// JSON, the names of bare keys, and the value of a record that lacks it.
    ///
    /// - Parameters:
    ///   - isToMany: whether a relationship leads to several records; nil for an attribute.
    ///   - line: the entity that declares the field, and those of which it is a kind.
    package func sourceTexts(of field: String, isToMany: Bool?, in line: [String]) -> [String] {
        let mapped = line.compactMap { entities[$0] }, rules = rules(of: field, in: line)
        let declared = line.first.flatMap { entities[$0] }?.paths[field] ?? []
        let convention = (mapped.lazy.compactMap(\.convention).first ?? naming).with(rules.naming)
        var texts = declared.map(\.description)
        var keys = convention.jsonKeys(for: field)
        if let isToMany {
            for case .path(let path) in declared where path.isPlain && path.keys.count == 1 {
                keys += convention.referenceKeys(besideJSONKey: path.keys[0], isToMany: isToMany)
            }
            keys += convention.referenceKeys(for: field, isToMany: isToMany)
        }
        texts += keys.map { JSONPath(keys: [$0]).description }
        if let value = rules.absentValue { texts.append("absent \(value.text)") }
        return texts
    }

    /// Returns whether a listed record that lacks a field keeps its value.
    ///
    /// - Parameter line: as for ``sourceTexts(of:isToMany:in:)``.
    package func keepsAbsent(_ field: String, isOptional: Bool, in line: [String]) -> Bool {
        let declared = line.first.flatMap { entities[$0] }?.paths[field] ?? [], rules = rules(of: field, in: line)
        // No record lacks a constant.
        if declared.contains(where: { if case .constant = $0 { true } else { false } }) { return false }
        return rules.absentValue == nil && !(rules.absent == .clear && isOptional)
    }

    /// Returns whether the references of a to-many relationship stay beside those of a response.
    ///
    /// - Parameter line: as for ``sourceTexts(of:isToMany:in:)``.
    package func addsToLists(_ relationship: String, in line: [String]) -> Bool {
        rules(of: relationship, in: line).toMany.map { $0 != .replace } ?? false
    }

    private func rules(of field: String, in line: [String]) -> FieldRules {
        let own = line.first.flatMap { entities[$0]?.fields[field] } ?? FieldRules()
        return line.compactMap { entities[$0] }.reduce(own) { $0.or($1.rules) }.or(rules)
    }
}
