// Commands that answer from the store alone.

import ArgumentParser
import Tarn

struct ListCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "List the records of an entity: all, or those that meet a condition.",
        discussion: """
            Examples:
              tarn list Issue --limit 10
              tarn list Issue --where state=open --include author --fields number,title
              tarn list Issue --where 'author.login = ada and not (title like "%wip%" or labels contains 7)'
              tarn list Issue --where 'updatedAt >= 2025-01-01' --sort 'updatedAt desc, number' --limit 20
              tarn list Issue --where 'milestone is missing' --explain
              tarn list User --format json | jq .login
            Text with spaces or signs in it stands in quotes: --where 'title = "a = b"'.
            """)

    @Argument(help: "The entity, as in the description file.") var entity: String
    @OptionGroup var query: QueryOptions
    @Flag(help: "Do not list them; show how they would be found.") var explain = false
    @Option(parsing: .singleValue, help: ArgumentHelp("Follow a relationship. May be repeated.", valueName: "relationship"))
    var include: [String] = []
    @Option(help: ArgumentHelp("Show only these fields.", valueName: "name,name"))
    var fields = ""
    @OptionGroup var format: FormatOption
    @OptionGroup var store: StoreOptions

    func run() throws {
        let store = try store.open()
        let catalog = store.catalog
        let entity = try catalog.requireEntity(entity)
        let printer = RecordPrinter(
            entity: entity, catalog: catalog, format: format.format,
            fields: RecordPrinter.names(in: fields), included: include)
        try printer.check()
        let condition = try query.condition.query(entity, catalog), query = try query.query(entity, catalog)
        try store.read { reader in
            if explain { return Output.lines(try reader.explain(query).description) }
            var table = Table(printer.columns), count = 0
            func show(_ record: Record) throws {
                count += 1
                switch format.format {
                case .json: Output.json(try printer.json(record, reader))
                case .table: table.add(try printer.cells(record, reader))
                }
            }
            var next: ContinuationToken?
            if query.limit == nil {
                try reader.forEach(query) { record in
                    try show(record)
                    return true
                }
            } else {
                let page = try reader.page(query)
                for record in page.records { try show(record) }
                next = page.next
            }
            if format.format == .table {
                for line in table.lines(width: Output.width) { Output.line(line) }
                let isWhole = next == nil && query.after == nil && query.offset == 0 && query.limit != 0
                let matches = isWhole ? count : try reader.count(condition)
                Output.note(count == matches ? "\(count) records" : "\(count) of \(matches) records")
            }
            Output.next(next)
        }
    }
}

struct GetCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "get",
        abstract: "Show one record.",
        discussion: """
            Examples:
              tarn get Issue 7
              tarn get Membership '["acme", 12]'       a composite key is a JSON array
            """)

    @Argument(help: "The entity, as in the description file.") var entity: String
    @Argument(help: "The record's key.") var key: String
    @Option(parsing: .singleValue, help: ArgumentHelp("Follow a relationship. May be repeated.", valueName: "relationship"))
    var include: [String] = []
    @OptionGroup var format: FormatOption
    @OptionGroup var store: StoreOptions

    func run() throws {
        let store = try store.open()
        let catalog = store.catalog
        let entity = try catalog.requireEntity(entity)
        let key = try RecordKey(argument: key, of: entity)
        let printer = RecordPrinter(entity: entity, catalog: catalog, format: format.format, included: include)
        try printer.check()
        try store.read { reader in
            guard let record = try reader.record(entity.name, key) else {
                throw Failure(.failed, "there is no \(entity.name) \(key) in the store")
            }
            guard format.format == .table else { return Output.json(try printer.json(record, reader)) }
            var table = Table(["\(entity.name)", record.isPartial ? "\(key) (partial)" : "\(key)"])
            for field in record.fields where !include.contains(field.name) {
                table.add([field.name, field.value == .null ? "null" : field.value.plainText])
            }
            for name in include {
                var labels: [String] = []
                try reader.forEachRelated(entity.name, key, name) { target in
                    labels.append(RecordPrinter.label(target))
                    return true
                }
                table.add([name, labels.joined(separator: ", ")])
            }
            for line in table.lines(width: Output.width) { Output.line(line) }
        }
    }
}

struct RelatedCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "related",
        abstract: "Show the records that a relationship of a record leads to.",
        discussion: """
            Both directions work: with `author: { to: User, inverse: issues }` on Issue,
              tarn related Issue 7 author
              tarn related User 3 issues --limit 10
            A record that is referred to and was never fetched is shown as missing.
            """)

    @Argument(help: "The entity, as in the description file.") var entity: String
    @Argument(help: "The record's key.") var key: String
    @Argument(help: "The relationship, or the name of its inverse.") var relationship: String
    @Option(help: ArgumentHelp("Show only these fields.", valueName: "name,name"))
    var fields = ""
    @Option(help: "Stop after this many records.") var limit: Int?
    @OptionGroup var format: FormatOption
    @OptionGroup var store: StoreOptions

    func validate() throws {
        if let limit, limit < 0 { throw ValidationError("--limit must not be negative") }
    }

    func run() throws {
        let store = try store.open()
        let catalog = store.catalog
        let entity = try catalog.requireEntity(entity)
        let key = try RecordKey(argument: key, of: entity)
        guard let found = catalog.relationship(relationship, of: entity),
            let destination = catalog.entity(id: found.destination)
        else {
            throw StoreError.unknownField(
                entity: entity.name, name: relationship, known: catalog.relationships(of: entity).map(\.name))
        }
        let printer = RecordPrinter(
            entity: destination, catalog: catalog, format: format.format, fields: RecordPrinter.names(in: fields))
        try printer.check()
        try store.read { reader in
            guard try reader.record(entity.name, key) != nil else {
                throw Failure(.failed, "there is no \(entity.name) \(key) in the store")
            }
            var table = Table(printer.columns), count = 0
            if limit != 0 {
                try reader.forEachRelated(entity.name, key, relationship) { target in
                    count += 1
                    switch (format.format, target.record) {
                    case (.json, let record?): Output.json(try printer.json(record, reader))
                    case (.json, nil): Output.json("{\"missing\":\(RecordPrinter.json(target))}")
                    case (.table, let record?): table.add(try printer.cells(record, reader))
                    case (.table, nil):
                        table.add([RecordPrinter.label(target)] + Array(repeating: "", count: printer.columns.count - 1))
                    }
                    return count < limit ?? .max
                }
            }
            if format.format == .table {
                for line in table.lines(width: Output.width) { Output.line(line) }
                Output.note("\(count) as \(relationship) of \(entity.name) \(key)")
            }
        }
    }
}
