// The text and the JSON of an inspected record.

import TarnStore

extension RecordInspection {
    /// The report for people, with a heading for each part.
    ///
    /// - Parameter bytes: Whether the stored bytes of the row are included.
    public func lines(bytes: Bool = false) -> [String] {
        var lines = ["\(entity) \(key)" + (isStored ? "" : isUnreadable ? " (unreadable)" : " (not stored)")]
        if let damage { lines.append("  damaged: \(damage)") }
        if isChangedLocally { lines.append("  changed locally: the change has not reached the server") }
        if let localChange { lines.append("  " + RecordInspection.text(of: localChange)) }
        for field in record?.fields ?? [] {
            lines.append("  \(field.name): \(field.value.jsonText)" + missingNote(field))
        }
        lines += heading("unsent changes", operations.map(\.line) + (mayHaveMoreOperations ? ["and perhaps more"] : []))
        lines += headerLines
        if bytes, let row { lines += ["stored bytes"] + RecordInspection.dump(row) }
        lines += heading("index entries", indexEntries.map(\.line))
        lines += heading("referred to by", referrers.map(\.line))
        lines += heading("listed by", listings.map(\.line))
        lines += heading("last changes", changes.map(\.line))
        return lines
    }

    private func heading(_ text: String, _ lines: [String]) -> [String] {
        lines.isEmpty ? [] : [text] + lines.map { "  " + $0 }
    }

    private var headerLines: [String] {
        guard let header else { return [] }
        let key = storageKey.withUnsafeBytes { StoreInspector.hexadecimal($0) }
        var flags = header.isPartial ? ["partial"] : []
        if header.isWide { flags.append("wide directory") }
        let checksum = RecordInspection.hexadecimal(header.checksum) + (header.isChecksumRight ? "" : " (wrong)")
        var lines = [
            "row", "  table \(table), key \(key)",
            "  format \(header.format), entity \(header.entity), version \(header.version), checksum \(checksum)"
                + (flags.isEmpty ? "" : ", " + flags.joined(separator: ", ")),
        ]
        let whole = header.wholeSize.map { "\($0)" } ?? "an unknown number of"
        lines.append(
            header.dictionary == 0
                ? "  \(header.storedSize) bytes, compression \(header.compression)"
                : "  \(header.storedSize) bytes, \(whole) without compression (\(header.compression), dictionary \(header.dictionary))"
        )
        return lines
    }

    /// Returns a checksum as eight digits.
    package static func hexadecimal(_ number: UInt32) -> String {
        let digits = String(number, radix: 16)
        return String(repeating: "0", count: max(0, 8 - digits.count)) + digits
    }

    /// Sixteen bytes a line, with their offset.
    private static func dump(_ bytes: [UInt8]) -> [String] {
        stride(from: 0, to: bytes.count, by: 16).map { offset in
            let part = bytes[offset..<min(offset + 16, bytes.count)]
            let number = String(offset, radix: 16)
            let digits = part.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined(separator: " ")
            let text = String(decoding: part.map { (0x20..<0x7F).contains($0) ? $0 : UInt8(ascii: ".") }, as: UTF8.self)
            let room = String(repeating: " ", count: max(0, 47 - digits.count))
            return "  " + String(repeating: "0", count: max(0, 6 - number.count))
                + "\(number)  \(digits)\(room)  \(text)"
        }
    }

    /// The report as a JSON object, without a line break.
    ///
    /// - Parameter bytes: Whether the stored bytes of the row are included, as hexadecimal digits.
    public func json(bytes: Bool = false) -> String {
        var text = "{\"entity\":"
        text.appendJSONString(entity)
        text += ",\"key\":"
        key.appendJSON(to: &text)
        // Unknown if a damaged page is on the way.
        text += ",\"stored\":\(isUnreadable ? "null" : "\(isStored)")"
        text += ",\"changedLocally\":\(isMarkUnreadable ? "null" : "\(isChangedLocally)")"
        text += localJSON
        if let damage {
            text += ",\"damage\":"
            text.appendJSONString(damage)
        }
        if let record {
            text += ",\"fields\":"
            record.appendFieldsJSON(to: &text)
        }
        if let header { text += ",\"row\":" + headerJSON(header, bytes) }
        func list(_ name: String, _ values: [String]) { text += ",\"\(name)\":[" + values.joined(separator: ",") + "]" }
        list("indexEntries", indexEntries.map(\.json))
        list("referrers", referrers.map(\.json))
        list("listings", listings.map(\.json))
        list("changes", changes.map(\.json))
        return text + "}"
    }

    private func headerJSON(_ header: Header, _ bytes: Bool) -> String {
        let key = storageKey.withUnsafeBytes { StoreInspector.hexadecimal($0) }
        var text = "{\"table\":\"\(table)\",\"storageKey\":\"\(key)\",\"format\":\(header.format)"
        text += ",\"partial\":\(header.isPartial),\"wide\":\(header.isWide),\"entity\":\(header.entity)"
        text += ",\"version\":\(header.version),\"checksum\":\"\(RecordInspection.hexadecimal(header.checksum))\""
        text += ",\"checksumRight\":\(header.isChecksumRight),\"compression\":\"\(header.compression)\""
        text += ",\"dictionary\":\(header.dictionary),\"storedSize\":\(header.storedSize)"
        if let size = header.wholeSize { text += ",\"wholeSize\":\(size)" }
        if bytes, let row { text += ",\"bytes\":\"\(row.withUnsafeBytes { StoreInspector.hexadecimal($0) })\"" }
        return text + "}"
    }
}

extension RecordInspection.IndexEntry {
    fileprivate var digits: String { bytes.withUnsafeBytes { StoreInspector.hexadecimal($0) } }
    fileprivate var line: String {
        let note = isUnreadable ? "unreadable" : isBuilding ? "not yet: being built" : "missing"
        return "\(index)  \(digits)" + (isPresent ? "" : "  (\(note))")
    }
    fileprivate var json: String {
        var text = "{\"index\":"
        text.appendJSONString(index)
        let present = isUnreadable ? "null" : "\(isPresent)"
        return text + ",\"entry\":\"\(digits)\",\"present\":\(present),\"building\":\(isBuilding)}"
    }
}

extension RecordInspection.Referrers {
    fileprivate var line: String {
        let name = "\(relationship)\(inverse.map { " (\($0))" } ?? "")"
        // An index that is being built lacks entries.
        guard !keys.isEmpty else { return "\(name): \(count) \(isCountWhole ? "in all" : "or more")" }
        let rest = count - keys.count, isAll = isCountWhole && rest == 0
        let more = isAll ? "" : ", and \(rest) \(isCountWhole ? "" : "or ")more"
        return "\(name): " + keys.joined(separator: ", ") + more
    }
    fileprivate var json: String {
        var text = "{\"relationship\":"
        text.appendJSONString(relationship)
        if let inverse {
            text += ",\"inverse\":"
            text.appendJSONString(inverse)
        }
        text += ",\"count\":\(count)"
        if !isCountWhole { text += ",\"isCountWhole\":false" }
        text += ",\"keys\":["
        for (index, key) in recordKeys.enumerated() {
            if index > 0 { text += "," }
            key.appendJSON(to: &text)
        }
        return text + "]}"
    }
}

extension RecordInspection.Listing {
    fileprivate var line: String {
        guard let request else { return "response \(response)  (unreadable)" }
        return "response \(response)  \(request.method) \(request.url)  endpoint \(request.endpoint), "
            + "status \(status ?? 0), validated \(validatedAt?.description ?? "?"), element \(index ?? 0)"
    }
    fileprivate var json: String {
        var text = "{\"response\":\(response)"
        for (name, value) in [
            ("method", method), ("url", url), ("endpoint", endpoint), ("validatedAt", validatedAt?.description),
        ] {
            guard let value else { continue }
            text += ",\"\(name)\":"
            text.appendJSONString(value)
        }
        if let status { text += ",\"status\":\(status)" }
        if let index { text += ",\"index\":\(index)" }
        return text + "}"
    }
}

extension RecordInspection.Change {
    fileprivate var line: String {
        let values = (fields ?? []).map { "\($0.name) \($0.value.jsonText)" }.joined(separator: ", ")
        return "commit \(sequence).\(ordinal)  \(operation)" + (values.isEmpty ? "" : "  " + values)
    }
    fileprivate var json: String {
        var text = "{\"commit\":\(sequence),\"ordinal\":\(ordinal),\"operation\":\"\(operation)\""
        if let fields {
            text += ",\"fields\":{"
            for (index, field) in fields.enumerated() {
                if index > 0 { text += "," }
                text.appendJSONString(field.name)
                text += ":\(field.value.jsonText)"
            }
            text += "}"
        }
        return text + "}"
    }
}
