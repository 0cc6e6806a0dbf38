// The keys `commit` and `orphans` of an endpoint.

import TarnHTTP
import TarnStore

extension DescriptionReader {
    // MARK: Commits

    /// Reads `commit: walk` or `commit: { every: 20 }`.
    mutating func commitUnit(_ endpoint: Section) -> Endpoint.CommitUnit {
        guard let value = endpoint["commit"] else { return .pages(1) }
        guard case .mapping = value.content else {
            switch text(endpoint, "commit") {
            case "page"?: return .pages(1)
            case "walk"?: return .scan
            case let word?:
                report(
                    endpoint, "commit",
                    Spelling.unknown("unit", word, among: ["page", "walk"])
                        + "; or write { every: 20 } for a number of pages")
            case nil: break
            }
            return .pages(1)
        }
        guard
            let section = section(
                value, endpoint.path("commit"), keys: ["every"], required: ["every"], example: ["every": "every: 20"]),
            let every = section["every"], let pages = integer(every, section.path("every"), minimum: 1)
        else { return .pages(1) }
        return .pages(pages)
    }

    // MARK: Orphans

    private static let shortForms: [(word: String, orphans: Orphans?)] = [
        ("keep", nil), ("after_two_scans", Orphans()), ("after_one_scan", Orphans(scans: 1)),
        ("entity", Orphans(.entity)),
    ]

    /// The short forms of `orphans`.
    static var orphanWords: [String] { shortForms.map(\.word) }

    /// Reads `orphans: after_two_scans`, or a mapping.
    ///
    /// - Parameters:
    ///   - entity: the entity of the listed records; the first one if there are several.
    ///   - isEnvelope: whether the records are of several entities.
    mutating func orphans(
        _ endpoint: Section, entity: String?, isEnvelope: Bool, _ forEach: Endpoint.ForEach?, _ schema: Schema
    ) -> Orphans? {
        guard let value = endpoint["orphans"] else { return nil }
        if isEnvelope, isRefusedForEnvelope(endpoint, value) { return nil }
        guard case .mapping = value.content else {
            guard let word = text(endpoint, "orphans") else { return nil }
            if let form = DescriptionReader.shortForms.first(where: { $0.word == word }) { return form.orphans }
            report(
                endpoint, "orphans",
                Spelling.unknown("rule for orphans", word, among: DescriptionReader.shortForms.map(\.word)))
            return nil
        }
        guard
            let section = section(
                value, endpoint.path("orphans"),
                keys: ["scope", "where", "after", "keep", "allow_empty", "then", "check"])
        else { return nil }
        var orphans = Orphans(scope(section, entity, forEach, schema))
        switch text(section, "after") {
        case "two_scans"?, nil: break
        case "one_scan"?: orphans.scans = 1
        case let word?:
            report(section, "after", Spelling.unknown("number of scans", word, among: ["two_scans", "one_scan"]))
        }
        orphans.keep = condition(section, "keep", entity, schema)
        orphans.allowsEmpty = flag(section, "allow_empty")
        if let action: Orphans.Action = word(section, "then", "end") { orphans.action = action }
        if orphans.action == .unlink, !mayUnlink(section, entity, forEach, schema) { orphans.action = .delete }
        orphans.check = check(section, endpoint, entity, schema)
        return orphans
    }

    /// Reports orphan rules that an envelope cannot have.
    ///
    /// Conditions and paths concern the records of one entity. An envelope can only look for
    /// records that its scans have listed.
    private mutating func isRefusedForEnvelope(_ endpoint: Section, _ orphans: YAMLValue) -> Bool {
        func says(_ value: YAMLValue, _ word: String) -> Bool {
            if case .scalar(word, _) = value.content { true } else { false }
        }
        let message =
            "the endpoint lists several entities, so only records of earlier scans can be orphans: write orphans: after_two_scans, or an endpoint for each entity"
        guard case .mapping(let entries) = orphans.content else {
            if says(orphans, "entity") { report(endpoint, "orphans", message) }
            return says(orphans, "entity")
        }
        let refused = entries.filter { entry in
            switch entry.key {
            case "scope": !says(entry.value, "listed")
            case "then": !says(entry.value, "delete")
            default: ["where", "keep", "check"].contains(entry.key)
            }
        }
        for entry in refused { report("\(endpoint.path("orphans")).\(entry.key)", entry.value.mark, message) }
        return !refused.isEmpty
    }

    private mutating func scope(
        _ section: Section, _ entity: String?, _ forEach: Endpoint.ForEach?, _ schema: Schema
    ) -> Orphans.Scope {
        if section["where"] != nil {
            if section["scope"] != nil {
                report(section, "scope", "where and scope exclude each other: remove one of the two")
            }
            return condition(section, "where", entity, schema).map { .matching($0) } ?? .listed
        }
        switch text(section, "scope") {
        case "listed"?, nil: return .listed
        case "entity"?: return .entity
        case "owner"?:
            if forEach?.parent != nil { return .owner }
            if !isReported(in: "\(section.field.dropLast(".orphans".count)).for_each") {
                report(section, "scope", "missing owner: declare it with for_each: { entity: …, parent: … }")
            }
            return .listed
        case let word?:
            report(section, "scope", Spelling.unknown("scope", word, among: ["listed", "owner", "entity"]))
            return .listed
        }
    }

    /// Reads a condition on the records of an entity.
    private mutating func condition(_ section: Section, _ key: String, _ entity: String?, _ schema: Schema)
        -> Condition?
    {
        guard let text = text(section, key), let entity, let value = section[key] else { return nil }
        // The problems of the entities are reported already.
        guard let catalog = Catalog(schema) else { return nil }
        do {
            return try Condition(text: text, entity: entity, catalog: catalog)
        } catch let error as QueryTextError {
            report(
                section.path(key), DescriptionReader.place(error.column, of: text, value),
                error.message + (error.expected.map { "; expected \($0)" } ?? ""))
        } catch {
            report(section, key, "\(error)")
        }
        return nil
    }

    /// The location of a column in the file, if the text is on one line and has no escapes.
    static func place(_ column: Int, of text: String, _ value: YAMLValue) -> Mark {
        let isPlain = if case .scalar(_, let plain) = value.content { plain } else { true }
        var place = value.mark
        place.column += text.prefix(column - 1).unicodeScalars.count + (isPlain ? 0 : 1)
        return place
    }

    private mutating func mayUnlink(
        _ section: Section, _ entity: String?, _ forEach: Endpoint.ForEach?, _ schema: Schema
    ) -> Bool {
        guard let parent = forEach?.parent else {
            report(section, "then", "missing owner to unlink from: declare it with for_each: { entity: …, parent: … }")
            return false
        }
        if schema.entities.first(where: { $0.name == entity })?.key.contains(parent) == true {
            report(section, "then", "\(parent) is part of the key and cannot be cleared: write then: delete")
            return false
        }
        return true
    }

    /// Reads the path of a request for one record.
    private mutating func check(_ section: Section, _ endpoint: Section, _ entity: String?, _ schema: Schema) -> String?
    {
        guard let path = text(section, "check"), let template = pathTemplate(path, section, "check"), let entity else {
            return nil
        }
        let variable = Endpoint.ForEach.variable(of: entity),
            forEach = Endpoint.ForEach(entity: entity, parent: nil, variable: variable)
        // A value of the record of `for_each` is not known here.
        let given: [String] =
            if case .mapping(let entries)? = endpoint["with"]?.content {
                entries.filter { entry in
                    let values = if case .list(let list) = entry.value.content { list } else { [entry.value] }
                    return values.allSatisfy { value in
                        guard case .scalar(let text, _) = value.content else { return true }
                        return Endpoint.variables(in: text).isEmpty
                    }
                }.map(\.key)
            } else { [] }
        var usesRecord = false
        for name in template.variables {
            let parts = name.split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
            if parts[0] == variable {
                usesRecord = true
                checkVariable(name, attribute: parts.count == 2 ? parts[1] : nil, forEach, section, "check", schema)
            } else if !given.contains(name), !currentAPI.parameters.contains(where: { $0.name == name }) {
                report(section, "check", "no value for {\(name)}: write with: { \(name): … }")
            }
        }
        if !usesRecord {
            report(section, "check", "the path does not use {\(variable).…}, so every request would be the same")
        }
        return path
    }
}
