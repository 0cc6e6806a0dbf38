// A proposed description as the text of a description file.

import Tarn

/// Writes a proposed description, with the explanation of each guess as a comment.
struct ProposalWriter {
    private var lines: [String] = []

    /// Returns the text of a description file.
    static func text(_ description: ProposedDescription) -> String {
        var writer = ProposalWriter()
        writer.write(description)
        return writer.lines.joined(separator: "\n") + "\n"
    }

    private mutating func write(_ description: ProposedDescription) {
        comments(description.comments, indent: 0)
        lines.append("")
        lines.append("api:")
        line(2, "base: \(YAMLText.literal(description.base))", description.baseComment)
        if !description.aliases.isEmpty {
            line(
                2, "aliases: [\(description.aliases.map(YAMLText.literal).joined(separator: ", "))]",
                "URLs in the answers begin with it")
        }
        if !description.headers.isEmpty {
            line(2, "headers:")
            for header in description.headers {
                line(4, "\(YAMLText.scalar(header.name)): \(YAMLText.scalar(header.value))")
            }
        }
        if let naming = description.naming {
            line(2, "naming: \(naming.rawValue)", "the style of the keys: requests have it, too")
        }
        if let authentication = description.authentication {
            line(2, "auth: \(authentication)", description.authenticationComment)
        } else if !description.authenticationComment.isEmpty {
            comments([description.authenticationComment], indent: 2)
        }
        lines.append("")
        lines.append("entities:")
        for (index, entity) in description.entities.enumerated() {
            if index > 0 { lines.append("") }
            write(entity)
        }
        lines.append("")
        lines.append("endpoints:")
        for endpoint in description.endpoints { write(endpoint) }
    }

    // MARK: Entities

    private mutating func write(_ entity: ProposedEntity) {
        comments(entity.comments, indent: 2)
        line(2, "\(entity.name):")
        if let parent = entity.parent { line(4, "parent: \(parent)") }
        if !entity.key.isEmpty {
            line(4, "key: \(entity.key.count == 1 ? entity.key[0] : YAMLText.list(entity.key))", entity.keyComment)
        }
        if let alternative = entity.keyAlternative {
            line(4, "# or key: \(YAMLText.list(alternative.key))", alternative.condition)
        }
        if let doubt = entity.keyDoubt { comments(["UNCERTAIN: \(doubt)."], indent: 4) }
        if let url = entity.url { line(4, "url: \(url)", "the form of its URLs: they are keys") }
        if entity.parent == nil || !entity.attributes.isEmpty {
            line(4, "attributes:" + (entity.attributes.isEmpty ? " {}" : ""))
            for attribute in entity.attributes { write(attribute) }
        }
        if !entity.relationships.isEmpty {
            line(4, "relationships:")
            for relationship in entity.relationships { write(relationship) }
        }
        if !entity.kinds.isEmpty {
            line(4, "kinds:")
            let path = YAMLText.scalar(JSONPath(keys: entity.kindPath).description)
            for kind in entity.kinds {
                line(6, "\(kind.entity): { \(path): \(YAMLText.scalar(kind.value)) }")
            }
        }
        if !entity.ignore.isEmpty { write(ignored: entity) }
        if let writes = entity.writes { write(writes) }
        if let rest = entity.rest { line(4, "rest: \(rest)", "keeps what has no attribute of its own") }
        comments(entity.remarks, indent: 4)
    }

    private mutating func write(_ attribute: ProposedAttribute) {
        let definition = ProposalWriter.definition(of: attribute)
        line(6, "\(attribute.name): \(definition)", attribute.comment)
        if let alternative = attribute.alternative {
            line(6, "# or \(attribute.name): \(YAMLText.comment(alternative.definition))", alternative.reason)
        }
    }

    /// Returns the definition of an attribute: the type, or a mapping.
    static func definition(of attribute: ProposedAttribute) -> String {
        let type = attribute.type + (attribute.isOptional ? "?" : "")
        let typeText = attribute.type.hasPrefix("[") && attribute.isOptional ? "'\(type)'" : type
        var parts: [String] = []
        if !attribute.values.isEmpty { parts.append("values: \(YAMLText.list(attribute.values))") }
        if let source = attribute.source { parts.append("from: \(YAMLText.scalar(source))") }
        if let from = attribute.from { parts.append("from: \(paths(from))") }
        if let constant = attribute.constant { parts.append("value: \(YAMLText.scalar(constant))") }
        if let format = attribute.format { parts.append("format: \(YAMLText.scalar(format))") }
        if let epoch = attribute.epoch { parts.append("epoch: \(epoch)") }
        if let absent = attribute.absent { parts.append("absent: { value: \(absent) }") }
        if attribute.isIndexed { parts.append("index: true") }
        return parts.isEmpty ? typeText : "{ " + (["type: \(typeText)"] + parts).joined(separator: ", ") + " }"
    }

    private mutating func write(_ relationship: ProposedRelationship) {
        let target = relationship.isToMany ? "[\(relationship.target)]" : relationship.target
        var parts: [String] = []
        if let source = relationship.source { parts.append("from: \(YAMLText.scalar(source))") }
        if let from = relationship.from { parts.append("from: \(ProposalWriter.paths(from))") }
        if relationship.isToMany, !relationship.isExcerpt, relationship.isOrdered { parts.append("ordered: true") }
        if let inverse = relationship.inverse { parts.append("inverse: \(inverse)") }
        if relationship.isExcerpt { parts.append("to_many: append") }
        let definition =
            parts.isEmpty ? target : "{ " + (["to: \(target)"] + parts).joined(separator: ", ") + " }"
        line(6, "\(relationship.name): \(definition)", relationship.comment)
    }

    private static func paths(_ paths: [[String]]) -> String {
        let texts = paths.map { JSONPath(keys: $0).description }
        return texts.count == 1 ? YAMLText.scalar(texts[0]) : YAMLText.list(texts)
    }

    private mutating func write(ignored entity: ProposedEntity) {
        let texts = entity.ignore.map { YAMLText.scalar(JSONPath(keys: $0).description) }
        list("ignore", texts, indent: 4, entity.ignoreComment)
    }

    /// Writes a list in brackets, in several lines if it is long.
    mutating func list(_ key: String, _ texts: [String], indent: Int, _ comment: String = "") {
        let flow = "\(key): [" + texts.joined(separator: ", ") + "]"
        guard flow.count > 90 else { return line(indent, flow, comment) }
        comments([comment], indent: indent)
        line(indent, "\(key):")
        var row = "", rows: [String] = []
        for (index, text) in texts.enumerated() {
            row += row.isEmpty ? text : ", \(text)"
            if row.count > 80 || index == texts.count - 1 {
                rows.append(row)
                row = ""
            }
        }
        if rows.count == 1 {
            lines[lines.count - 1] += " [\(rows[0])]"
        } else {
            lines[lines.count - 1] += " ["
            for (index, row) in rows.enumerated() {
                line(indent + 2, row + (index == rows.count - 1 ? "]" : ","))
            }
        }
    }

    // MARK: Endpoints

    private mutating func write(_ endpoint: ProposedEndpoint) {
        comments(endpoint.comments, indent: 2)
        let first = lines.count
        line(2, "\(endpoint.name):")
        if let url = endpoint.url {
            line(4, "url: \(YAMLText.scalar(url))")
        } else {
            line(4, "path: \(YAMLText.path(endpoint.path))")
        }
        write(endpoint.parameters)
        if !endpoint.headers.isEmpty {
            line(4, "headers:")
            for header in endpoint.headers {
                line(6, "\(YAMLText.scalar(header.name)): \(YAMLText.scalar(header.value))", header.comment)
            }
        }
        if endpoint.hasLines { line(4, "format: lines") }
        if !endpoint.partitions.isEmpty {
            let lists = endpoint.partitions.map { "\(YAMLText.scalar($0.name)): \(YAMLText.list($0.values))" }
            line(4, "partitions: { \(lists.joined(separator: ", ")) }", "one list for each value")
        }
        if let forEach = endpoint.forEach {
            let parent = forEach.parent.map { "{ entity: \(forEach.entity), parent: \($0) }" }
            line(4, "for_each: \(parent ?? forEach.entity)")
        }
        if endpoint.lists.count == 1, !endpoint.lists[0].isOptional, endpoint.lists[0].exceptions.isEmpty {
            if !endpoint.lists[0].keys.isEmpty {
                line(4, "records: \(YAMLText.scalar(ProposalWriter.path(endpoint.lists[0].keys)))")
            }
            if let columns = endpoint.lists[0].columns, endpoint.tables.isEmpty {
                line(4, "columns: \(columns)")
            } else {
                write(columns: endpoint)
            }
            line(4, "entity: \(endpoint.lists[0].entity)")
        } else {
            line(4, "records:")
            for list in endpoint.lists {
                var parts = ["entity: \(list.entity)"]
                if list.isOptional { parts.append("optional: true") }
                if !list.exceptions.isEmpty { parts.append("except: \(YAMLText.list(list.exceptions))") }
                let definition = parts.count == 1 ? list.entity : "{ \(parts.joined(separator: ", ")) }"
                line(6, YAMLText.scalar(ProposalWriter.path(list.keys)) + ": " + definition)
            }
            write(columns: endpoint)
        }
        line(4, "paginate: \(endpoint.pagination)", endpoint.paginationComment)
        for style in endpoint.paginationAlternatives {
            line(4, "# or paginate: \(YAMLText.comment(style.text))", style.condition)
        }
        if let sign = endpoint.ignoredSign {
            line(4, "more: { ignore: [\(sign)] }", "every page names a next one, also the last one")
        }
        if let status = endpoint.endStatus {
            line(
                4, "responses: [{ status: \(status), then: stop }]",
                "the server refuses a page behind the last one")
        } else if let text = endpoint.endText {
            line(
                4, "responses: [{ status: 200, contains: \(YAMLText.scalar(text)), then: empty }]",
                "a page behind the last one has this text, and no list")
        }
        if endpoint.hasPositions {
            line(4, "orphans: after_one_scan", "positions behind the end of a list are removed, unless it is empty")
        }
        if let since = endpoint.since {
            since.isActive
                ? line(4, "since: \(since.text)")
                : line(4, "# since: \(since.text)", "if the server can list only what has changed since a time")
        }
        comments(endpoint.remarks, indent: 4)
        guard endpoint.isCommentedOut else { return }
        for index in first..<lines.count { lines[index] = "  # " + lines[index].dropFirst(2) }
    }

    /// Writes the places of the names of several lists, and of tables inside of records.
    private mutating func write(columns endpoint: ProposedEndpoint) {
        let lists = endpoint.lists.compactMap { list in
            list.columns.map { "\(YAMLText.scalar(ProposalWriter.path(list.keys))): \($0)" }
        }
        let columns = lists + endpoint.tables.map { "\(YAMLText.scalar($0.path)): \($0.names)" }
        if !columns.isEmpty { line(4, "columns: { \(columns.joined(separator: ", ")) }") }
    }

    private mutating func write(_ parameters: [ProposedParameter]) {
        guard !parameters.isEmpty else { return }
        let texts = parameters.map { parameter in
            let value =
                parameter.values.isEmpty ? YAMLText.literal(parameter.value) : YAMLText.literals(parameter.values)
            return "\(YAMLText.scalar(parameter.name)): \(value)"
        }
        let flow = "with: { " + texts.joined(separator: ", ") + " }"
        guard flow.count > 90 || parameters.contains(where: { !$0.comment.isEmpty }) else { return line(4, flow) }
        line(4, "with:")
        for (text, parameter) in zip(texts, parameters) { line(6, text, parameter.comment) }
    }

    /// Returns the key path of a list.
    static func path(_ steps: [ListStep]) -> String { FoundList(steps: steps, isList: true).path.description }

    // MARK: Lines

    mutating func comments(_ texts: [String], indent: Int) {
        for text in texts where !text.isEmpty { lines += YAMLText.commentLines(text, indent: indent) }
    }

    mutating func line(_ indent: Int, _ text: String, _ comment: String = "") {
        let start = String(repeating: " ", count: indent) + text
        guard !comment.isEmpty else {
            lines.append(start)
            return
        }
        let end = "   # " + YAMLText.comment(comment)
        if start.count + end.count <= YAMLText.width {
            lines.append(start + end)
        } else {
            lines += YAMLText.commentLines(comment, indent: indent) + [start]
        }
    }
}
