import TarnStore

extension PageUse {
    /// The use as one JSON object, for programs.
    package var json: String {
        func ratio(_ value: Double) -> String { "\((value * 10_000).rounded() / 10_000)" }
        var text = "{\"pageSize\":\(pageSize),\"filePages\":\(filePages),\"transaction\":\(transaction),\"tables\":["
        for (index, table) in tables.enumerated() {
            text += index > 0 ? ",{\"name\":" : "{\"name\":"
            text.appendJSONString(table.name)
            text += ",\"meaning\":"
            text.appendJSONString(table.meaning)
            text += ",\"options\":[\(table.options.map { "\"\($0)\"" }.joined(separator: ","))]"
            text += ",\"entries\":\(table.entries),\"branchPages\":\(table.branchPages)"
            text += ",\"leafPages\":\(table.leafPages)"
            text += ",\"overflowPages\":\(table.overflowPages),\"fill\":\(ratio(table.fill(pageSize: pageSize)))"
            text += ",\"fragmentation\":\(ratio(table.fragmentation)),\"keyBytes\":\(table.keyBytes)"
            text += ",\"valueBytes\":\(table.valueBytes),\"longestKey\":\(table.longestKey)"
            text += ",\"longestValue\":\(table.longestValue)}"
        }
        func number(_ value: UInt64?) -> String { value.map(String.init) ?? "null" }
        text += "],\"free\":{\"pages\":\(free.pages),\"reusable\":\(free.reusable),\"oldest\":\(number(free.oldest))"
        text += ",\"newest\":\(number(free.newest)),\"oldestReader\":\(number(free.oldestReader))}"
        return text + ",\"unaccounted\":\(unaccounted)}"
    }
}
