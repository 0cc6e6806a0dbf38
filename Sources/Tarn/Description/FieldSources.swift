// The places in the JSON from which fields take their values, and which of them have changed.

import TarnImport
import TarnStore

/// The sources of the fields of a description.
///
/// A sync notes them in the store. A field that a response lacks keeps its value: after a change of
/// its sources, this may be a value of a former one, which nothing else would tell.
package struct FieldSources: Sendable {
    private struct Field: Sendable {
        var entity: String
        var name: String
        /// The keys of the note: that of the field, then those of its former names.
        var keys: [String]
        /// Digests of the sources.
        var sources: [String]
        /// Digests of the former name in JSON; empty without one.
        var formerNames: Set<Substring>
        /// Whether a record that lacks the field keeps its value.
        var keepsAbsent: Bool
        /// The entity that a relationship leads to; nil for other fields.
        var destination: String?
        /// Whether the records that a relationship leads to are known by their positions: those of
        /// another source have the keys of the former ones.
        var isPositional = false
    }

    private let fields: [Field]
    /// The base URL as a digest: descriptions of different servers may share a store.
    private let scope: String

    package init(_ description: Description) {
        let scope = FieldSources.digest(of: description.api.base), mapping = description.mapping
        let parents = Dictionary(description.schema.entities.map { ($0.name, $0.parent) }) { first, _ in first }
        self.scope = scope
        fields = description.schema.entities.sorted { $0.name < $1.name }.flatMap { entity -> [Field] in
            var line = [entity.name]
            while let parent = parents[line[line.count - 1]] ?? nil, !line.contains(parent) { line.append(parent) }
            func field(
                _ name: String, formerly: String?, isToMany: Bool?, isOptional: Bool = true, _ extra: [String]
            ) -> Field {
                let names = [name] + [formerly].compactMap(\.self)
                let entities = [entity.name] + [entity.renamedFrom].compactMap(\.self)
                let texts = mapping.sourceTexts(of: name, isToMany: isToMany, in: line) + extra
                let formerTexts = formerly.map { mapping.sourceTexts(of: $0, isToMany: isToMany, in: line) } ?? []
                return Field(
                    entity: entity.name, name: name,
                    keys: entities.flatMap { entity in names.map { "\(scope) \(entity).\($0)" } },
                    sources: texts.map(FieldSources.digest),
                    formerNames: Set(formerTexts.map { FieldSources.digest(of: $0)[...] }),
                    // A record with another key is another record.
                    keepsAbsent: !entity.key.contains(name)
                        && (mapping.keepsAbsent(name, isOptional: isOptional, in: line)
                            || isToMany == true && mapping.addsToLists(name, in: line))
                )
            }
            let attributes = entity.attributes.sorted { $0.name < $1.name }.map { attribute in
                field(
                    attribute.name, formerly: attribute.renamedFrom, isToMany: nil, isOptional: attribute.isOptional,
                    attribute.defaultValue.map { ["default \($0.jsonText)"] } ?? [])
            }
            // The rules for kinds are sources, too: a record to which none applies keeps its kind.
            let choice = mapping.entities[entity.name]?.choice
            var kinds = Field(
                entity: entity.name, name: FormerValues.kinds, keys: ["\(scope) \(entity.name).\(FormerValues.kinds)"],
                sources: (choice.map(Description.ruleTexts) ?? []).map(FieldSources.digest), formerNames: [],
                keepsAbsent: choice?.otherwise != .skip)
            if choice?.rules.contains(.entity(entity.name, when: [])) ?? false { kinds.keepsAbsent = false }
            let relationships = entity.relationships.filter { $0.join == nil }.sorted { $0.name < $1.name }.map {
                var relationship = field($0.name, formerly: $0.renamedFrom, isToMany: $0.isToMany, [])
                relationship.destination = $0.destination
                relationship.isPositional = mapping.hasPosition(inKeyOf: $0.destination, description.schema)
                return relationship
            }
            return attributes + [kinds] + relationships
        }
    }

    private static func digest(of text: String) -> String { String(SHA256.shortHexadecimal(text).prefix(8)) }

    /// The relationships whose references are stored: the present name, `Issue.labels`, then former
    /// ones, and a digest of the sources.
    var relationships: [(names: [String], digest: String)] {
        fields.compactMap { field in
            guard let destination = field.destination else { return nil }
            let names = field.keys.map { String($0.dropFirst(scope.count + 1)) }
            return (names, FieldSources.digest(ofSources: field.sources + [destination]))
        }
    }

    /// The fields that no longer have all of the sources that were noted, except for keys and for
    /// fields that are cleared or get another value where a response lacks them.
    ///
    /// A further source, or another order, leaves no former value: a record that lacks the new
    /// sources lacks the former ones, too. Records that are known by their positions keep what
    /// those of another first source lack. The former name of a field that is renamed was a source
    /// only if it had no other one.
    ///
    /// - Parameter note: the note in the store; nil for none, and then no field is returned.
    package func changed(since note: String?) -> [(entity: String, field: String)] {
        let noted = lines(of: note)
        return fields.compactMap { field in
            guard field.keepsAbsent, let line = field.keys.lazy.compactMap({ noted[$0] }).first else { return nil }
            let sources = Set(field.sources.map { $0[...] }), former = line.sources
            let declared = former.filter { !field.formerNames.contains($0) }
            let areLeft = (declared.isEmpty ? former : declared).allSatisfy(sources.contains)
            // Two descriptions take turns: both changes are known.
            let isInTurn = line.history.contains(FieldSources.returned + FieldSources.digest(ofSources: field.sources))
            let isReordered = field.isPositional && former.first != field.sources.first.map { $0[...] }
            return areLeft && !isReordered || isInTurn ? nil : (field.entity, field.name)
        }
    }

    /// The lines of a note by the keys of the fields.
    ///
    /// If it has none of this base URL, and those of one other base URL, the API has moved. The
    /// description of another server, which shares the store, has other fields.
    private func lines(of note: String?) -> [String: Line] {
        let noted = FieldSources.lines(of: note), scopes = Set(noted.keys.map { $0.prefix { $0 != " " } })
        guard scopes.count == 1, let other = scopes.first, other != scope[...] else { return noted }
        let moved = Dictionary(noted.map { (scope + $0.key.dropFirst(other.count), $0.value) }) { first, _ in first }
        let own = Set(fields.flatMap(\.keys))
        return moved.keys.count(where: own.contains) * 2 < moved.count ? noted : moved
    }

    /// The beginning of a word of the note for sources that a field had before, and for such
    /// sources to which it has returned: the first return may be an edit that was taken back.
    private static let left = "~", returned = "^"
    /// The number of former sources of a field that are noted.
    private static let mostFormer = 8

    /// The noted sources of a field, and the digests of those that it had before.
    private struct Line {
        var sources: [Substring] = []
        var history: [String] = []

        /// The line after a sync with these sources.
        func changed(to present: [String]) -> Line {
            var line = self
            let former = FieldSources.digest(ofSources: sources.map(String.init))
            let new = FieldSources.digest(ofSources: present)
            line.sources = present.map { $0[...] }
            guard !sources.isEmpty, former != new else { return line }
            if !history.contains(where: { $0.dropFirst() == former }) {
                line.history.append(FieldSources.left + former)
            }
            if let index = history.firstIndex(of: FieldSources.left + new) {
                line.history[index] = FieldSources.returned + new
            }
            line.history = Array(line.history.suffix(FieldSources.mostFormer))
            return line
        }

        var text: String { (sources.map(String.init) + history).joined(separator: " ") }
    }

    private static func digest(ofSources sources: [String]) -> String {
        digest(of: sources.sorted().joined(separator: " "))
    }

    /// The note in which these sources replace those of before; fields of other servers, and those
    /// that the description does not have, keep theirs. Former names of fields are removed: a field
    /// that is renamed back has the sources of its other name.
    func text(after note: String?) -> String {
        var lines = FieldSources.lines(of: note)
        for key in fields.flatMap({ $0.keys.dropFirst() }) { lines[key] = nil }
        for field in fields {
            lines[field.keys[0]] = (lines[field.keys[0]] ?? Line()).changed(to: field.sources)
        }
        return lines.filter { !$0.value.sources.isEmpty }.sorted { $0.key < $1.key }
            .map { "\($0.key) \($0.value.text)" }.joined(separator: "\n")
    }

    /// The digests of a note by scope and field.
    private static func lines(of note: String?) -> [String: Line] {
        var lines: [String: Line] = [:]
        for line in (note ?? "").split(separator: "\n") {
            let words = line.split(separator: " ")
            guard words.count > 2 else { continue }
            let isFormer = { (word: Substring) in word.hasPrefix(left) || word.hasPrefix(returned) }
            lines["\(words[0]) \(words[1])"] = Line(
                sources: words[2...].filter { !isFormer($0) }, history: words[2...].filter(isFormer).map(String.init))
        }
        return lines
    }
}

/// A field that takes its values from elsewhere than before, and of which records have values.
package struct FormerValues: Sendable, Hashable {
    package var entity: String
    package var field: String
    /// The number of records with a value, among the first 10,000 of the entity.
    package var records: Int

    /// The place of a field's name for the rules for kinds; no field has such a name.
    package static let kinds = "(kinds)"
    /// Whether the rules for kinds have changed.
    package var isOfKinds: Bool { field == FormerValues.kinds }

    /// The sentence about the rules for kinds.
    package var kindsText: String {
        "the rules for kinds of \(entity) have changed: of \(records) records of kinds, those to which no rule "
            + "applies keep their kind (a last rule `\(entity): {}` makes them records of \(entity))"
    }

    /// The consequence for the records, as the rest of a sentence about fields.
    package static let consequence =
        "come from elsewhere in the JSON than before (records without a value there keep the old one; "
        + "`absent: clear` clears it)"
}

extension FieldSources {
    /// Finds the fields of which records may have values of former sources.
    package func formerValues(_ reader: borrowing StoreReader) throws -> [FormerValues] {
        let byEntity = Dictionary(grouping: changed(since: try reader.access.settings.fieldSources), by: \.entity)
        return try byEntity.sorted { $0.key < $1.key }.flatMap { entity, fields -> [FormerValues] in
            // A description that was not synced may have a new name for it.
            guard let known = reader.catalog.entity(entity) else { return [] }
            var found = fields.map { FormerValues(entity: entity, field: $0.field, records: 0) }, seen = 0
            try reader.forEach(known.name, in: .all) { record in
                for index in found.indices {
                    let hasValue =
                        found[index].isOfKinds
                        ? record.entity != known.name : record[found[index].field].map { $0 != .null } ?? false
                    if hasValue { found[index].records += 1 }
                }
                seen += 1
                return seen < FieldSources.sampleSize
            }
            return found.filter { $0.records > 0 }
        }
    }

    /// The maximum number of records that are read per entity.
    private static let sampleSize = 10_000
}

extension Mapping {
    /// Whether a record's position in its list is a part of the key of an entity.
    fileprivate func hasPosition(inKeyOf entity: String, _ schema: Schema) -> Bool {
        guard let declared = schema.entities.first(where: { $0.name == entity }) else { return false }
        return declared.key.contains { sourceTexts(of: $0, isToMany: nil, in: [entity]).contains("@position") }
    }
}
