// Shared parts of the cases of typed records: the reports, and the checks of JSON.

import Foundation

/// The figures and checks of one run of the cases of typed records, per second; nil if a contender
/// does not take part.
struct TypedMeasurement: Encodable {
    /// A random record as a struct of 23 fields, in one transaction.
    var fetch: Double
    /// The reading of the same values by a conformance that a program declares without the macro.
    var fetchByHand: Double?
    /// Issues by a range of dates, in the order of the index, 50 a query, with their authors.
    var query: Double
    /// A random record as JSON of 23 fields, in one transaction.
    var json: Double
    /// A checksum of all results: it proves that the contenders found the same.
    var checksum: Int64
    var durability = "full"
    var compression = "none"

    private enum CodingKeys: String, CodingKey {
        case fetch, query, json, checksum, durability, compression
        case fetchByHand = "fetch_by_hand"
    }
}

enum Typed {
    /// The sum of the lengths of texts and of the numbers in a JSON object, whatever its names.
    static func checksum(ofJSON bytes: Data) throws -> Int64 {
        guard let object = try JSONSerialization.jsonObject(with: bytes) as? [String: Any] else {
            throw BenchmarkError("not a JSON object")
        }
        return object.values.reduce(Int64(0)) { sum, value in
            if let text = value as? String { return sum &+ Int64(text.utf8.count) }
            return sum &+ ((value as? NSNumber)?.int64Value ?? 0)
        }
    }
}
