// `tarn watch`: a record, or the number of records of an entity, now and after each change.

import ArgumentParser
import Tarn

struct WatchCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "watch",
        abstract: "Show a record, or a number of records, now and after each change.",
        discussion: """
            Waits for commits of any process until it is interrupted. A deleted record is shown as null.

            Examples:
              tarn watch Issue 7
              tarn watch Issue --limit 2                 stop after two results
              tarn watch Issue --where 'state = open'    the number of records that meet the condition
            """)

    @Argument(help: "Name of the entity in the description.") var entity: String
    @Argument(help: "Key of the record; without a key, the number of records is shown.") var key: String?
    @OptionGroup var condition: ConditionOptions
    @Option(help: "Number of results to show (default: until interrupted).") var limit: Int?
    @OptionGroup var store: StoreOptions

    func validate() throws {
        if let limit, limit < 1 { throw ValidationError("--limit must be at least 1") }
        if key != nil, !condition.conditions.isEmpty {
            throw ValidationError("a key and --where exclude each other")
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
