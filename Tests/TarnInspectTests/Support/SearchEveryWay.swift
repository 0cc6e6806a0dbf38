import Testing

@testable import TarnInspect

/// The result of a search.
struct FoundTexts: Equatable {
    var matches: [SearchMatch] = []
    var damages: [StoreInspector.Damage] = []
    var records = 0, fields = 0
}

/// Searches in each way to read rows, and expects the same result.
@discardableResult
func searchEveryWay(_ inspector: StoreInspector, _ text: String, _ options: SearchOptions) throws -> FoundTexts {
    let results = SearchOptions.Reading.allCases.map { reading in
        Result {
            var options = options, found = FoundTexts()
            options.reading = reading
            let summary = try inspector.search(
                for: text, options, damaged: { found.damages.append($0) }, match: { found.matches.append($0) })
            (found.records, found.fields) = (summary.records, summary.fields)
            return found
        }
    }
    let plain = results[0]
    for result in results.dropFirst() {
        switch (plain, result) {
        case (.success(let one), .success(let other)): #expect(one == other)
        case (.failure(let one), .failure(let other)): #expect("\(one)" == "\(other)")
        default: Issue.record("\(plain) and \(result)")
        }
    }
    return try plain.get()
}
