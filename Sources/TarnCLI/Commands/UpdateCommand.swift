import ArgumentParser
import Tarn

/// The command `tarn update`.
struct UpdateCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "update",
        abstract:
            "Set fields of the records that meet a condition, or change the members of a relationship: in the store, "
            + "and with --send at the server.",
        discussion: """
            The fields are marked as changed locally: a sync keeps their values, and reports them, until a program \
            clears the mark. With --queue, `tarn push` sends the change; --send sends it at once, with everything that \
            is queued. A change that was made without them is queued by repeating it. With --as-server, nothing is \
            marked, and the next sync may overwrite the values.

            --add and --remove queue a request for each member of a to-many relationship, if the description declares \
            these requests (write.relationships). --set replaces the whole list, and `update` sends it.

            Examples:
              tarn update Issue --where 'milestone = 7' --set state=closed --dry-run
              tarn update Issue --where 'milestone = 7' --set state=closed --set 'title="done"'
              tarn update Issue --where 'id = 17' --set state=closed --send
              tarn update Issue --where 'id = 17' --add labels=bug --remove labels=wontfix --send
              tarn update User --all --set seenAt=null
            """)

    @Argument(help: "Name of the entity in the description.") var entity: String
    @Option(
        parsing: .singleValue,
        help: ArgumentHelp(
            "Field and its new value, as field=value; null clears it. May be repeated.", valueName: "field=value"))
    var set: [String] = []
    @Option(
        parsing: .singleValue,
        help: ArgumentHelp(
            "A record that a to-many relationship gets, with --queue or --send. May be repeated.",
            valueName: "relationship=key"))
    var add: [String] = []
    @Option(
        parsing: .singleValue,
        help: ArgumentHelp(
            "A record that a to-many relationship loses, with --queue or --send. May be repeated.",
            valueName: "relationship=key"))
    var remove: [String] = []
    @OptionGroup var options: WriteOptions

    func validate() throws {
        if set.isEmpty, add.isEmpty, remove.isEmpty {
            throw ValidationError("nothing to set: add --set field=value, or --add or --remove relationship=key")
        }
        if !add.isEmpty || !remove.isEmpty, !options.queue, !options.send {
            throw ValidationError(
                "--add and --remove are requests to the server: add --queue or --send, or set the whole list with "
                    + "--set relationship=[key,key]")
        }
    }

    func run() async throws {
        if try options.goesThroughQueue() {
            return try await options.queue(entity, .update) { outbox, query in
                let catalog = outbox.store.catalog
                let values = try Assignment.values(set, entity: query.entity, catalog)
                let members = try MemberEdit.edits(add: add, remove: remove, entity: query.entity, catalog)
                let result = try await outbox.updates(
                    query, set: values, members, step: options.step, isDryRun: options.dryRun)
                if result.matched > 0, !values.isEmpty {
                    try outbox.warnOfUnsent(.update, query.entity, values.keys.sorted())
                }
                return WriteOptions.Queued(matched: result.matched, operations: result.operations)
            }
        }
        func assigned(_ store: Store, _ query: Query) throws -> [String: Value] {
            try Assignment.values(set, entity: query.entity, store.catalog)
        }
        // A dry run refuses what the write refuses.
        func check(_ store: Store, _ query: Query) throws {
            let values = try assigned(store, query)
            _ = try MemberEdit.edits(add: add, remove: remove, entity: query.entity, store.catalog)
            try store.read { try $0.access.checkChange(values, of: query.entity) }
        }
        try options.run(entity, "changed", check: check) { store, query in
            let values = try assigned(store, query)
            return try options.asServer
                ? store.update(query, set: values, step: options.step)
                : store.updateLocally(query, set: values, step: options.step)
        }
    }
}

extension MemberEdit {
    /// Reads the values of `--add` and `--remove`: an edit for each relationship that they name.
    fileprivate static func edits(
        add: [String], remove: [String], entity name: String, _ catalog: Catalog
    ) throws -> [MemberEdit] {
        let entity = try catalog.requireEntity(name)
        var edits: [MemberEdit] = []
        for (isAddition, texts) in [(false, remove), (true, add)] {
            for text in texts {
                let option = isAddition ? "--add \(text)" : "--remove \(text)"
                let (field, key): (String, RecordKey)
                do { (field, key) = try member(text, option, entity, catalog) } catch let error as StoreError {
                    throw Failure(Failure(error).code, "\(option): \(error)")
                }
                if edits.contains(where: { $0.relationship == field && $0.members.contains(key) }) {
                    throw Failure(.usage, "\(option): the same record is named more than once")
                }
                if edits.last?.relationship == field, edits.last?.isAddition == isAddition {
                    edits[edits.count - 1].members.append(key)
                } else {
                    edits.append(MemberEdit(isAddition: isAddition, relationship: field, members: [key]))
                }
            }
        }
        return edits
    }

    /// Reads `relationship=key`.
    private static func member(
        _ text: String, _ option: String, _ entity: Catalog.Entity, _ catalog: Catalog
    ) throws -> (relationship: String, key: RecordKey) {
        // As a scalar: a key may begin with a combining one.
        guard let equal = text.unicodeScalars.firstIndex(of: "=") else {
            throw Failure(.usage, "\(option): not relationship=key")
        }
        let field = String(text[..<equal])
        guard let relationship = catalog.relationship(field, of: entity),
            let destination = catalog.entity(id: relationship.destination)
        else {
            throw StoreError.unknownField(
                entity: entity.name, name: field, known: catalog.relationships(of: entity).map(\.name))
        }
        guard relationship.isToMany else {
            throw Failure(.usage, "\(option): \(field) of \(entity.name) has one record: write --set \(text)")
        }
        return (
            field,
            try RecordKey(
                argument: String(text.unicodeScalars[text.unicodeScalars.index(after: equal)...]), of: destination)
        )
    }
}
