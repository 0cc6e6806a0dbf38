// `tarn inspect get`: one record and everything that concerns it.

import ArgumentParser
import Tarn
import TarnInspect

struct InspectGetCommand: InspectingCommand {
    static let configuration = CommandConfiguration(
        commandName: "get",
        abstract: "Show one record with its row, index entries, referrers, responses, changes and unsent changes.",
        discussion: """
            The record may be missing or deleted: its referrers and its last changes are shown nevertheless, and the \
            exit code is 1. It is 6 if the row, or a page on the way to one of these parts, is damaged: what is \
            unreadable is not reported as missing. The targets of a relationship that are not stored are marked as \
            missing, and the operations of the outbox that change the record are its unsent changes.

            For an LMDB file of another program, name a table in place of the entity, or (main) for the table without \
            a name. The key is a text, a number in a table of integers, or 0x and hexadecimal digits.

            Examples:
              tarn inspect get forge.tarn Issue 7
              tarn inspect get forge.tarn Issue 7 --bytes
              tarn inspect get forge.tarn Membership '["acme", 12]'     a composite key is a JSON array
              tarn inspect get other.mdb names key0001
              tarn inspect get forge.tarn User 3 --json | jq '.referrers[] | [.relationship, .count]'
            """)

    @Argument(help: "Store directory, or its data.mdb.") var store: String
    @Argument(help: "Name of the entity, or of a table of another program.") var entity: String
    @Argument(help: "Key of the record.") var key: String
    @Option(help: "The most referrers of each relationship, responses and changes to show.") var limit = 10
    @Flag(help: "Include the stored bytes of the row.") var bytes = false
    @Flag(help: "Print one JSON object.") var json = false

    func validate() throws {
        if limit < 0 { throw ValidationError("--limit must not be negative") }
    }

    func run(on inspector: StoreInspector) throws {
        if let tables = try TableQuestions(store, inspector, unfit: [("--bytes", bytes)]) {
            return try tables.get(key, of: entity, limit: limit, json: json)
        }
        var found = try inspector.record(entity, limit: limit) {
            try RecordKey(argument: key, of: $0)
        }
        // As in the list of responses.
        found.replaceURLs { Redaction.url($0) }
        noteWithoutLocks(store, found.aloneBecause)
        if json {
            Output.json(found.json(bytes: bytes))
        } else {
            for line in found.lines(bytes: bytes) { Output.line(line) }
        }
        if let damage = found.damage { throw Failure(.store, "\(store): \(entity) \(key): \(damage)") }
        guard found.isStored else { throw Failure(.failed, "\(entity) \(key) is not in the store") }
    }
}
