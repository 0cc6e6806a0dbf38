// The sizes of a store as a picture and as JSON.

import TarnStore

extension StoreStatistics {
    /// The sizes of the tables as a bar chart in SVG 1.1, the largest first.
    ///
    /// Texts are escaped; characters that XML does not permit become U+FFFD. The picture has no
    /// script, no style sheet and no reference to another file.
    package var plot: String {
        let bars = tables.filter { $0.pages > 0 }.sorted { ($0.bytes, $1.name) > ($1.bytes, $0.name) }
        let row = 22, left = 330, width = 900, most = max(1, bars.first?.bytes ?? 1)
        let height = 50 + row * max(1, bars.count)
        var text = """
            <?xml version="1.0" encoding="UTF-8"?>
            <svg xmlns="http://www.w3.org/2000/svg" width="\(width)" height="\(height)" viewBox="0 0 \(width) \(height)" \
            font-family="sans-serif" font-size="12" role="img">
            <title>\(StoreStatistics.escaped(path)): size by table</title>
            <rect width="\(width)" height="\(height)" fill="#ffffff"/>
            <text x="10" y="24" font-size="14">\(StoreStatistics.escaped(StoreStatistics.cut(path, 60))), \
            \(fileBytes) bytes, \(freePages) free pages</text>

            """
        for (index, table) in bars.enumerated() {
            let y = 40 + row * index
            let length = max(1, Int(Double(table.bytes) / Double(most) * Double(width - left - 150)))
            let name = table.meaning == table.name ? table.name : "\(table.meaning) (\(table.name))"
            let share = fileBytes > 0 ? Double(table.bytes) / Double(fileBytes) * 100 : 0
            let colour = table.name.hasPrefix("r/") ? "#2f6f9f" : table.name.hasPrefix("i/") ? "#7fa650" : "#999999"
            text += """
                <g><title>\(StoreStatistics.escaped(name)): \(table.entries) entries, \(table.bytes) bytes</title>\
                <text x="\(left - 8)" y="\(y + 14)" text-anchor="end">\
                \(StoreStatistics.escaped(StoreStatistics.cut(name, 46)))</text>\
                <rect x="\(left)" y="\(y + 2)" width="\(length)" height="\(row - 6)" fill="\(colour)"/>\
                <text x="\(left + length + 6)" y="\(y + 14)">\(table.bytes / 1024) KiB, \
                \((share * 10).rounded() / 10) %</text></g>

                """
        }
        return text + "</svg>\n"
    }

    private static func cut(_ text: String, _ limit: Int) -> String {
        text.count > limit ? text.prefix(limit - 1) + "…" : text
    }

    /// Returns text for XML 1.0 (§2.2, §2.4).
    private static func escaped(_ text: String) -> String {
        var result = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "<": result += "&lt;"
            case ">": result += "&gt;"
            case "&": result += "&amp;"
            case "\"": result += "&quot;"
            case "'": result += "&#39;"
            case "\u{20}"..."\u{7E}", "\u{A0}"..."\u{D7FF}", "\u{E000}"..."\u{FFFD}", "\u{10000}"..."\u{10FFFF}":
                result.unicodeScalars.append(scalar)
            default: result += "\u{FFFD}"
            }
        }
        return result
    }

    /// The statistics as one JSON object, for programs.
    package var json: String {
        var text = "{\"path\":"
        text.appendJSONString(path)
        text += ",\"incarnation\":"
        if incarnation.isEmpty { text += "null" } else { text.appendJSONString(incarnation) }
        text += ",\"sequence\":\(sequence),\"fileBytes\":\(fileBytes),\"pageSize\":\(pageSize),\"lastPage\":\(lastPage)"
        text += ",\"lastTransaction\":\(lastTransaction),\"freePages\":\(freePages),\"responses\":\(responses)"
        text += ",\"readers\":" + (readers.map { "{\"used\":\($0.used),\"all\":\($0.all)}" } ?? "null")
        text += ",\"entities\":["
        for (index, entity) in entities.enumerated() {
            text += index > 0 ? ",{\"name\":" : "{\"name\":"
            text.appendJSONString(entity.name)
            text += ",\"records\":\(entity.records)"
            if let parent = entity.parent {
                text += ",\"parent\":"
                text.appendJSONString(parent)
            }
            text += "}"
        }
        text += "],\"tables\":["
        for (index, table) in tables.enumerated() {
            text += index > 0 ? ",{\"name\":" : "{\"name\":"
            text.appendJSONString(table.name)
            text += ",\"meaning\":"
            text.appendJSONString(table.meaning)
            text += ",\"entries\":\(table.entries),\"depth\":\(table.depth),\"pages\":\(table.pages)"
            text += ",\"bytes\":\(table.bytes)}"
        }
        return text + "]}"
    }
}
