// The check of a whole store against its workload.
//
// A line of standard input names a store, and bounds for the progress of each stream:
// `PATH<TAB>0=17..18<TAB>1=3..3`. The answer for each store is a line:
// `ok<TAB>PATH<TAB>0=17<TAB>1=3<TAB>sequence`, or `bad<TAB>PATH<TAB>the problem`.

import Foundation
import LMDB
import TarnInspect
import TarnStore

struct Problem: Error, CustomStringConvertible {
    var description: String
    init(_ description: String) { self.description = description }
}

/// Checks the stores that standard input names.
///
/// - Parameter further: Whether each store then gets one more transaction of stream 0 and another
///   check.
/// - Returns: 0 if every store is as expected.
func checkStores(further: Bool) -> Int32 {
    var status: Int32 = 0
    while let line = readLine() {
        let words = line.split(separator: "\t").map(String.init)
        let path = words.first ?? ""
        do {
            var bounds: [Int: ClosedRange<Int>] = [:]
            for word in words.dropFirst() {
                // Units of an import are stream -1.
                let numbers = word.replacingOccurrences(of: "import", with: "-1").split(whereSeparator: {
                    "=.".contains($0)
                }).compactMap { Int($0) }
                guard numbers.count == 3, numbers[1] <= numbers[2] else { throw Problem("`\(word)` is no bound") }
                bounds[numbers[0]] = numbers[1]...numbers[2]
            }
            if words.count == 2, words[1].hasPrefix("import=") {
                say("ok\t\(path)\t0=\(try checkImport(path, bounds[-1] ?? 0...0, further: further))")
                continue
            }
            var check = try Check(path, bounds), summary = try check.run()
            if further {
                try check.write()
                summary = try check.run()
            }
            say("ok\t\(path)\t\(summary)")
        } catch {
            say("bad\t\(path)\t\(error)")
            status = 1
        }
    }
    return status
}

/// Checks the number of imported units and the consistency of the store.
///
/// - Parameter further: Whether one more unit is imported and the store is checked again.
/// - Returns: The number of units before that.
private func checkImport(_ path: String, _ bounds: ClosedRange<Int>, further: Bool) throws -> Int {
    func check(_ store: Store, _ bounds: ClosedRange<Int>) throws -> Int {
        let count = try store.read { try ImportWorkload.count($0) }
        guard bounds.contains(count) else { throw Problem("\(count) units are there, and it must be \(bounds)") }
        let report = try StoreInspector(at: path).verification()
        guard report.isSound else { throw Problem("verify: \(report.findings.prefix(3)), \(report.notCompared)") }
        return count
    }
    let store = try Store.open(at: path, schema: ImportWorkload.schema), count = try check(store, bounds)
    guard further else { return count }
    try ImportWorkload(store).run(count + 1)
    return try check(store, count + 1...count + 1) - 1
}

/// Dumps all tables except `meta`, which contains the store's UUID and times.
func dump(_ path: String) throws {
    var isMeta = false
    try StoreInspector(at: path).dumpTables { line in
        if line.hasPrefix("database=") { isMeta = line == "database=meta" }
        if !isMeta { print(line) }
    } damaged: { damage in
        say("damaged \(damage)")
    }
}

/// Verifies a store and prints the findings.
///
/// - Returns: 0 if the store is sound.
func verify(_ path: String) throws -> Int32 {
    let report = try StoreInspector(at: path).verification()
    if report.isSound { say("sound") }
    for finding in report.findings { say("\(finding.code.rawValue) \(finding.place): \(finding.detail)") }
    for part in report.notCompared { say("not compared: \(part)") }
    return report.isSound ? 0 : 1
}

struct Check {
    let store: Store
    private var bounds: [Int: ClosedRange<Int>]

    /// Opens the store as a writer does.
    init(_ path: String, _ bounds: [Int: ClosedRange<Int>]) throws {
        store = try Store.open(at: path, schema: Workload.schema)
        self.bounds = bounds
    }

    func run() throws -> String {
        let summary = try store.read { reader in
            let access = reader.access
            let counts = try checkCounters(access)
            let rows = try checkRows(access)
            try checkRecords(access, counts)
            try checkIndexes(access)
            try checkRelationships(reader)
            try checkChanges(access, rows, counts)
            let streams = counts.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }
            return (streams + [String(try reader.sequence)]).joined(separator: "\t")
        }
        try checkPages()
        try checkEverything()
        return summary
    }

    /// Verifies the store independently of the workload.
    private func checkEverything() throws {
        let report = try StoreInspector(at: store.path).verification()
        guard report.isSound, report.isHeld else {
            throw Problem("verify: \(report.findings.prefix(3)), \(report.notCompared), \(report.aloneBecause ?? "")")
        }
    }

    /// Writes the next transaction of stream 0, which the next check then requires.
    mutating func write() throws {
        let number = try store.read { try Workload.count(of: 0, $0.access) } + 1
        try store.write { try Workload(stream: 0).run(number, &$0) }
        bounds[0] = number...number
    }

    /// Checks that the progress of every stream is within its bounds.
    ///
    /// Every transaction also increments the shared counter, so its value reveals a partial
    /// transaction.
    ///
    /// - Returns: The progress of each stream.
    private func checkCounters(_ access: StoreAccess) throws -> [Int: Int] {
        var counts: [Int: Int] = [:]
        for (stream, bounds) in bounds {
            let count = try Workload.count(of: Int64(stream), access)
            guard bounds.contains(count) else {
                throw Problem("stream \(stream) has come to \(count), and it must be \(bounds)")
            }
            counts[stream] = count
        }
        let shared = try Workload.count(of: Workload.shared, access), sum = counts.values.reduce(0, +)
        guard shared == sum else { throw Problem("the shared counter is at \(shared), the streams together at \(sum)") }
        guard try access.settings.sequence == UInt64(sum) else {
            throw Problem("the commit sequence is \(try access.settings.sequence) after \(sum) transactions")
        }
        return counts
    }

    /// Checks the checksum and the body of every row.
    ///
    /// - Returns: The keys and versions by entity.
    private func checkRows(_ access: StoreAccess) throws -> [String: [[UInt8]: UInt64]] {
        var found: [String: [[UInt8]: UInt64]] = [:]
        for entity in access.catalog.entities {
            var versions: [[UInt8]: UInt64] = [:]
            try access.records.scan(entity) { key, row in
                func problem(_ what: String) -> Problem { Problem("\(entity.name) \(access.describe(key)): \(what)") }
                guard row.hasValidChecksum(table: UInt32(entity.id), key: key) else { throw problem("checksum") }
                guard row.body.isWellFormed, row.entity == entity.id, !row.isPartial else { throw problem("row") }
                versions[Array(key)] = row.version
                return true
            }
            guard try access.records.count(entity) == versions.count else {
                throw Problem("\(entity.name): the number of rows")
            }
            found[entity.name] = versions
        }
        return found
    }

    /// Checks that the store has exactly the records of the streams, with every field.
    private func checkRecords(_ access: StoreAccess, _ counts: [Int: Int]) throws {
        var expected: [String: [RecordKey: Workload.Item]] = [:]
        for (stream, count) in counts where count > 0 {
            for item in Workload(stream: stream).everything(at: count) {
                expected[item.entity, default: [:]][item.key] = item
            }
        }
        let sum = counts.values.reduce(0, +)
        if sum > 0 {
            let key = RecordKey(Workload.shared)
            expected["Counter", default: [:]][key] = Workload.Item("Counter", key, ["count": .int(Int64(sum))])
        }
        for entity in access.catalog.entities {
            var missing = expected[entity.name] ?? [:]
            try access.records.scan(entity) { key, row in
                let record = try access.record(entity, key, row)
                guard let item = missing.removeValue(forKey: record.key) else {
                    throw Problem("\(entity.name) \(record.key) should not be there")
                }
                let keyNames = Set(entity.key.compactMap { entity.field(id: $0)?.name })
                let fields = record.fields.filter { !keyNames.contains($0.name) }
                guard fields.count == item.fields.count, fields.allSatisfy({ item.fields[$0.name] == $0.value }) else {
                    throw Problem("\(entity.name) \(record.key) is \(fields), not \(item.fields)")
                }
                return true
            }
            if let (key, _) = missing.first {
                throw Problem("\(entity.name) \(key) is missing, and \(missing.count - 1) more")
            }
        }
    }

    /// Checks that every index has exactly the entries of the rows.
    private func checkIndexes(_ access: StoreAccess) throws {
        for entity in access.catalog.entities {
            for field in entity.fields {
                guard let index = field.index else { continue }
                var expected: [[UInt8]] = [], scratch = ByteWriter()
                try access.records.scan(entity) { key, row in
                    IndexEntry.forEach(field, row.body.value(of: field.id), owner: key, scratch: &scratch) {
                        expected.append(Array($0))
                    }
                    return true
                }
                // Duplicates of a target in a list are one entry.
                expected = Set(expected).sorted { $0.lexicographicallyPrecedes($1) }
                let cursor = try access.raw.cursor(access.state.index(index))
                defer { cursor.close() }
                var entry = try cursor.first(), position = 0
                while let (key, value) = entry {
                    guard position < expected.count, key.elementsEqual(expected[position]), value.isEmpty else {
                        throw Problem("the index \(entity.name).\(field.name) at \(position): \(access.describe(key))")
                    }
                    position += 1
                    entry = try cursor.next()
                }
                guard position == expected.count else {
                    throw Problem("the index \(entity.name).\(field.name) has \(position) entries of \(expected.count)")
                }
            }
        }
    }

    /// Checks that both ends of every relationship agree.
    private func checkRelationships(_ reader: StoreReader) throws {
        var linesOfOrder: [RecordKey: [RecordKey]] = [:], linesOfTag: [RecordKey: Set<RecordKey>] = [:]
        try reader.forEach("Line") { line in
            if case .reference(let order)? = line["order"] { linesOfOrder[order, default: []].append(line.key) }
            if case .references(let tags)? = line["tags"] {
                for tag in tags { linesOfTag[tag, default: []].insert(line.key) }
            }
            return true
        }
        func keys(_ entity: String, _ key: RecordKey) throws -> [RecordKey] {
            var keys: [RecordKey] = []
            try reader.forEachRelated(entity, key, "lines") { target in
                guard let key = target.key, target.record != nil else {
                    throw Problem("\(entity) \(key): a line is missing")
                }
                keys.append(key)
                return true
            }
            return keys
        }
        try reader.forEach("Order") { order in
            guard try keys("Order", order.key) == linesOfOrder[order.key] ?? [] else {
                throw Problem("Order \(order.key): lines")
            }
            return true
        }
        for number in 0..<Workload.tags {
            let tag = RecordKey("t\(number)"), lines = try keys("Tag", tag)
            guard Set(lines) == linesOfTag[tag] ?? [], Set(lines).count == lines.count else {
                throw Problem("Tag \(tag): lines")
            }
        }
    }

    /// Checks that the change log has every commit in full and in order.
    ///
    /// A replay of the log must give the stored rows and versions.
    private func checkChanges(
        _ access: StoreAccess, _ rows: [String: [[UInt8]: UInt64]], _ counts: [Int: Int]
    ) throws {
        var replay = Replay(access.catalog)
        let log = access.state.changes, cursor = try access.raw.cursor(log.table)
        defer { cursor.close() }
        var entry = try cursor.first()
        while let (key, value) = entry {
            guard let content = log.content(value, key: key) else {
                throw Problem("an entry of the change log is damaged")
            }
            try replay.add(key, content)
            entry = try cursor.next()
        }
        try replay.finishCommit()
        guard try replay.sequence == access.settings.sequence else {
            throw Problem("the change log ends at \(replay.sequence), the store is at \(try access.settings.sequence)")
        }
        guard replay.progress == counts.filter({ $0.value > 0 }) else {
            throw Problem("the change log tells of \(replay.progress)")
        }
        for entity in access.catalog.entities
        where replay.live[entity.name, default: [:]] != rows[entity.name, default: [:]] {
            throw Problem("the change log, played back, gives other rows or versions of \(entity.name)")
        }
    }

    /// Checks that every page is in a table, free or the environment's own, and only one of these.
    private func checkPages() throws {
        let environment = store.environment
        let tables = try environment.existingTables(environment.tableNames()).compactMap(\.self)
        var used = 0
        try environment.read { transaction in
            for table in tables {
                let s = try transaction.statistics(table)
                used += s.branchPages + s.leafPages + s.overflowPages
            }
        }
        let information = try environment.information()
        let all = used + information.freePages + information.ownPages
        guard all == information.lastPage + 1 else {
            throw Problem(
                "\(information.lastPage + 1) pages: \(used) of tables, \(information.freePages) free, \(information.ownPages) own"
            )
        }
    }
}
