import Foundation

/// A request of the page: the segments of the path, and the query.
struct PageRequest: Sendable {
    /// The segments of the path, decoded.
    let path: [String]
    /// The query, decoded; of a repeated name, the last value.
    let query: [String: String]

    /// Parses a request target; nil if it is malformed.
    init?(target: String) {
        guard target.hasPrefix("/") else { return nil }
        let parts = target.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        var path: [String] = [], query: [String: String] = [:]
        for segment in parts[0].dropFirst().split(separator: "/", omittingEmptySubsequences: false) {
            guard let text = segment.removingPercentEncoding else { return nil }
            path.append(text)
        }
        for pair in parts.count > 1 ? parts[1].split(separator: "&") : [] {
            let sides = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard let name = sides[0].removingPercentEncoding,
                let value = (sides.count > 1 ? sides[1] : "").removingPercentEncoding
            else { return nil }
            query[name] = value
        }
        (self.path, self.query) = (path, query)
    }

    /// A position that an earlier answer has named; nil if it is missing, for the beginning.
    ///
    /// - Throws: `ParameterError` for another text: the beginning would pass for the wanted page.
    func position(_ name: String) throws(ParameterError) -> [UInt8]? {
        guard let text = query[name] else { return nil }
        guard let bytes = Hexadecimal.bytes(text), !bytes.isEmpty else { throw ParameterError(name: name) }
        return bytes
    }

    /// The id of a response that an earlier answer has named; nil if it is missing.
    ///
    /// - Throws: As ``position(_:)``.
    func id(_ name: String) throws(ParameterError) -> UInt64? {
        guard let text = query[name] else { return nil }
        guard let id = UInt64(text) else { throw ParameterError(name: name) }
        return id
    }

    /// A whole number of the query within bounds; the default if it is missing or malformed.
    func number(_ name: String, default value: Int, in bounds: ClosedRange<Int>) -> Int {
        min(max(query[name].flatMap { Int($0) } ?? value, bounds.lowerBound), bounds.upperBound)
    }
}
