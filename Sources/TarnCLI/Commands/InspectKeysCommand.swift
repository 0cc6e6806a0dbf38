// `tarn inspect keys`: the keys of an entity.

import ArgumentParser
import Tarn
import TarnInspect

struct InspectKeysCommand: InspectingCommand {
    static let configuration = CommandConfiguration(
        commandName: "keys",
        abstract: "List the keys of an entity in their order, one per line.",
        discussion: """
            A key is a number or a text of JSON, and a composite key is an array. Damaged rows are reported on \
            standard error and left out; the exit code is then 6. For an LMDB file of another program, name a table in \
            place of the entity, or (main) for the table without a name.

            Examples:
              tarn inspect keys forge.tarn Issue --limit 10
              tarn inspect keys forge.tarn Issue --from 100 --to 199 --count
              tarn inspect keys forge.tarn Label --prefix 'good '
              tarn inspect keys forge.tarn Membership --prefix '["acme"]'     the first parts of a composite key
              tarn inspect keys forge.tarn Issue --reverse | head -1          the greatest key
            """)

    @Argument(help: "Store directory, or its data.mdb.") var store: String
    @Argument(help: "Name of the entity, or of a table of another program.") var entity: String
    @Option(help: "Only keys that begin with this text, or with the parts of this JSON array.") var prefix: String?
    @Option(help: ArgumentHelp("Only this key and those after it.", valueName: "key")) var from: String?
    @Option(help: ArgumentHelp("Only this key and those before it.", valueName: "key")) var to: String?
    @Option(help: "Number of keys to list (default: all).") var limit: Int?
    @Flag(help: "Begin with the greatest key.") var reverse = false
    @Flag(help: "Print only the number of keys.") var count = false

    func validate() throws {
        if let limit, limit < 0 { throw ValidationError("--limit must not be negative") }
    }

    func run(on inspector: StoreInspector) throws {
        let unfit = [("--prefix", prefix != nil), ("--from", from != nil), ("--to", to != nil), ("--reverse", reverse)]
        if let tables = try TableQuestions(store, inspector, unfit: unfit) {
            return try tables.keys(of: entity, limit: limit ?? .max, countOnly: count)
        }
        let damage = DamageReport(store)
        var found = 0
        let reason = try inspector.keys(
            of: entity, KeySelection(isReversed: reverse, limit: limit ?? .max),
            within: { entity in
                KeySpan(
                    from: try from.map { try RecordKey(argument: $0, of: entity) },
                    to: try to.map { try RecordKey(argument: $0, of: entity) },
                    prefix: try prefix.map { try KeySpan.Prefix(argument: $0, of: entity) })
            },
            damaged: damage.add,
            visit: { key in
                found += 1
                guard !count else { return }
                var text = ""
                key.appendJSON(to: &text)
                Output.json(text)
            })
        noteWithoutLocks(store, reason)
        if count { Output.line("\(found)") }
        try damage.end("read")
    }
}
