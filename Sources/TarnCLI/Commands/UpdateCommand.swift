import ArgumentParser
import Tarn

/// The command `tarn update`.
struct UpdateCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "update",
        abstract:
            "Set fields of the records that meet a condition: in the store, and with --send at the server.",
        discussion: """
            The fields are marked as changed locally: a sync keeps their values, and reports them, until a program \
            clears the mark. With --queue, `tarn push` sends the change; --send sends it at once, with everything that \
            is queued. A change that was made without them is queued by repeating it. With --as-server, nothing is marked, and the next sync may overwrite the values.

            Examples:
              tarn update Issue --where 'milestone = 7' --set state=closed --dry-run
              tarn update Issue --where 'milestone = 7' --set state=closed --set 'title="done"'
              tarn update Issue --where 'id = 17' --set state=closed --send
              tarn update User --all --set seenAt=null
            """)

    @Argument(help: "Name of the entity in the description.") var entity: String
    @Option(
        parsing: .singleValue,
        help: ArgumentHelp(
            "Field and its new value, as field=value; null clears it. May be repeated.", valueName: "field=value"))
    var set: [String] = []
    @OptionGroup var options: WriteOptions

    func validate() throws {
        if set.isEmpty { throw ValidationError("nothing to set: add --set field=value") }
    }

    func run() async throws {
        if try options.goesThroughQueue() {
            return try await options.queue(entity) { outbox, query in
                let values = try Assignment.values(set, entity: query.entity, outbox.store.catalog)
                let result = try await outbox.updates(
                    query, set: values, step: options.step, isDryRun: options.dryRun)
                if result.matched > 0 { try outbox.warnOfUnsent(.update, query.entity, values.keys.sorted()) }
                return WriteOptions.Queued(matched: result.matched, queued: result.operations.count)
            }
        }
        func assigned(_ store: Store, _ query: Query) throws -> [String: Value] {
            try Assignment.values(set, entity: query.entity, store.catalog)
        }
        // A dry run refuses what the write refuses.
        func check(_ store: Store, _ query: Query) throws {
            let values = try assigned(store, query)
            try store.read { try $0.checkChange(values, of: query.entity) }
        }
        try options.run(entity, "changed", check: check) { store, query in
            let values = try assigned(store, query)
            return try options.asServer
                ? store.update(query, set: values, step: options.step)
                : store.updateLocally(query, set: values, step: options.step)
        }
    }
}
