// Shared parts of `import.wide`, `import.deep` and `import.small`: the entities, and the counts.

import Foundation

/// Responses of another shape than a page of issues; gen_shapes.py generates them, with the same
/// definitions.
enum Shape: String, CaseIterable {
    /// 20 entities of 200 attributes.
    case wide
    /// Eight levels of nesting, an entity each.
    case deep
    /// One object a response.
    case small

    /// The type of an attribute.
    enum Kind {
        case text, optionalText, int, double, bool, date
    }

    /// By name in the schema and in JSON. The key `id` is not among them.
    typealias Attribute = (name: String, key: String, kind: Kind)

    var benchmark: String { "import.\(rawValue)" }

    var entities: [String] {
        switch self {
        case .wide: (0..<20).map { "Wide" + ($0 < 10 ? "0" : "") + "\($0)" }
        case .deep: ["Company", "Division", "Department", "Team", "Project", "Epic", "Story", "Task"]
        case .small: ["Item"]
        }
    }

    /// The entity of the records that a response lists.
    func entity(ofBody number: Int) -> String { self == .wide ? entities[number % entities.count] : entities[0] }

    /// Those of all entities.
    var attributes: [Attribute] {
        switch self {
        case .wide: (1..<200).map(Self.wideAttribute)
        case .deep, .small:
            [
                ("name", "name", .text), ("description", "description", .text), ("url", "url", .text), ("state", "state", .text),
                ("position", "position", .int), ("score", "score", .double), ("isArchived", "is_archived", .bool),
                ("createdAt", "created_at", .date), ("updatedAt", "updated_at", .date),
            ]
        }
    }

    private static func wideAttribute(_ number: Int) -> Attribute {
        let digits = String("00\(number)".suffix(3))
        return switch number % 10 {
        case 0, 1, 2, 3: ("labelText" + digits, "label_text" + digits, .text)
        case 4: ("noteText" + digits, "note_text" + digits, .optionalText)
        case 5, 6: ("itemCount" + digits, "item_count" + digits, .int)
        case 7: ("unitPrice" + digits, "unit_price" + digits, .double)
        case 8: ("isActive" + digits, "is_active" + digits, .bool)
        default: ("changedAt" + digits, "changed_at" + digits, .date)
        }
    }

    /// The responses of a workload, one a line.
    static func bodies(in directory: URL) throws -> [Data] {
        let lines = try Data(contentsOf: directory.appending(path: "bodies.jsonl"))
            .split(separator: UInt8(ascii: "\n")).map { Data($0) }
        if lines.isEmpty { throw BenchmarkError("No responses in \(directory.path); gen_shapes.py makes them") }
        return lines
    }
}

/// The sum over all values of all records, as gen_shapes.py makes it: keys, bytes of text,
/// integers, hundredths, seconds since 1970, 1 for true; and the keys of parents. So no value can
/// be left out or be another one.
struct ShapeChecksum {
    private(set) var value: Int64 = 0

    mutating func add(text: String) { value += Int64(text.utf8.count) }
    mutating func add(_ number: Int64) { value += number }
    mutating func add(_ number: Double) { value += Int64((number * 100).rounded()) }
    mutating func add(_ flag: Bool) { value += flag ? 1 : 0 }
}

/// The figures and checks of one such import.
struct ShapeMeasurement: Encodable {
    /// From before the first response is parsed, all being in memory, to the last acknowledged
    /// commit.
    var seconds: Double
    /// Millions of bytes of JSON.
    var megabytes: Double
    var responses: Int
    var commits: Int
    /// The records of each entity in the store afterwards, those that have a parent, and the
    /// checksum.
    var counts: [String: Int]
    var durability = "full"
    var compression: String
    var storeBytes: Int

    init(seconds: Double, bodies: [Data], commits: Int, counts: [String: Int], compression: String, storeBytes: Int) {
        self.seconds = seconds
        megabytes = Double(bodies.reduce(0) { $0 + $1.count }) / 1e6
        responses = bodies.count
        self.commits = commits
        self.counts = counts
        self.compression = compression
        self.storeBytes = storeBytes
    }

    private enum CodingKeys: String, CodingKey {
        case seconds, megabytes, responses, commits, counts, durability, compression
        case storeBytes = "store_bytes"
    }
}
