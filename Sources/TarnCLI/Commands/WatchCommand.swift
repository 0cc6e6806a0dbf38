// `tarn watch`: a record, or the number of records of an entity, now and after each change.

import ArgumentParser
import Tarn

struct WatchCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "watch",
        abstract: "Show a record, or how many there are, now and whenever that changes.",
        discussion: """
            Waits for commits of any process, until it is interrupted. A record that is deleted is shown as null.

            Examples:
              tarn watch Issue 7
              tarn watch Issue --limit 2                 ends after two results
              tarn watch Issue --where 'state = open'    how many meet the condition
            """)

    @Argument(help: "The entity, as in the description file.") var entity: String
    @Argument(help: "The record's key; without one the number of records is shown.") var key: String?
    @OptionGroup var condition: ConditionOptions
    @Option(help: "Stop after this many results.") var limit: Int?
    @OptionGroup var store: StoreOptions

    func validate() throws {
        if let limit, limit < 1 { throw ValidationError("--limit must be 1 at least") }
        if key != nil, !condition.conditions.isEmpty {
            throw ValidationError("a key names one record; --where is for the others")
        }
    }

    func run() async throws {
        let store = try store.open(), entity = try store.catalog.requireEntity(entity), limit = limit ?? .max
        let key = try key.map { try RecordKey(argument: $0, of: entity) },
            query = try condition.query(entity, store.catalog)
        try await FollowedTask.run {
            var count = 0
            func show(_ sequence: UInt64, _ text: String) -> Bool {
                Output.json("{\"sequence\":\(sequence),\(text)}")
                Output.flush()
                count += 1
                return count < limit
            }
            guard let key else {
                for try await result in store.observe(countOf: query) {
                    guard show(result.sequence, "\"count\":\(result.value)") else { return }
                }
                return
            }
            for try await result in store.observe(entity.name, key) {
                var text = ""
                result.value?.appendFieldsJSON(to: &text)
                guard show(result.sequence, "\"record\":\(text.isEmpty ? "null" : text)") else { return }
            }
        }
    }
}
