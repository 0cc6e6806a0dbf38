// The parts of an endpoint that decide what its scans request: `since` and `partitions`.

import TarnHTTP
import TarnImport
import TarnStore

extension DescriptionReader {
    // MARK: since

    /// The keys of `since`.
    private static let sinceKeys = [
        "param", "body", "header_field", "latest_first", "until", "window", "field", "cursor", "header", "link",
        "initial", "start", "lag", "range", "granularity", "format", "text", "expired", "full_every",
    ]

    /// Reads the rule for requests of what has changed.
    mutating func incremental(
        _ endpoint: Section, _ parameters: [Endpoint.Parameter], _ pagination: Pagination?
    ) -> Incremental? {
        guard let value = endpoint["since"],
            let section = section(value, endpoint.path("since"), keys: DescriptionReader.sinceKeys)
        else { return nil }
        let source = source(section), place = sincePlace(section, endpoint, parameters, pagination)
        checkValueKeys(section)
        guard let source else { return nil }
        var rule = Incremental(source, sends: place)
        rule.headerField = sinceField(section, endpoint)
        rule.endsAtValue = latestFirst(section)
        rule.initial = text(section, "initial")
        rule.lag = lag(section)
        rule.range = word(section, "range", "range") ?? .closed
        rule.granularity = word(section, "granularity", "granularity")
        rule.format = format(section)
        rule.text = sentText(section)
        rule.expired = expired(section)
        rule.fullInterval = fullInterval(section)
        rule.start = firstValue(section, source)
        window(section, endpoint, parameters, &rule)
        return rule
    }

    /// Reads the parameter that the value is sent in; nil if it is sent elsewhere.
    private mutating func sincePlace(
        _ section: Section, _ endpoint: Section, _ parameters: [Endpoint.Parameter], _ pagination: Pagination?
    ) -> Pagination.ParameterPlace? {
        let others = ["link", "header_field", "latest_first"].filter { section[$0] != nil }
        if section["link"] != nil {
            for key in ["param", "body", "text"] where section[key] != nil {
                report(section, key, "the link is the whole request: remove the line")
            }
        } else if others.isEmpty, section["param"] == nil, section["body"] == nil {
            report(
                section.field, section.mark, "missing parameter: write param: since, or body for a value in the body")
        }
        guard others.isEmpty else { return nil }
        let place = place(section)
        if case .query(let name)? = place {
            if parameters.contains(where: { $0.name == name }) {
                report(
                    at: field(ofParameter: name, endpoint),
                    "since sends this parameter: remove the line, or move it to since as text, with {value} in it")
            }
        }
        if let place, let pagination, DescriptionReader.begins(with: place, pagination) {
            report(
                section, section["param"] == nil ? "body" : "param",
                "paginate sends this with the first request: remove start there, and write initial here, "
                    + "or choose another name")
        }
        if case .body? = place, endpoint["body"] == nil, endpoint["form"] == nil, endpoint["method"] == nil {
            report(section, "body", "a GET has no body: write method: POST, or param instead of body")
        }
        return place
    }

    /// Reports keys that are for values of another kind.
    private mutating func checkValueKeys(_ section: Section) {
        guard section["field"] == nil else { return }
        // The beginning of a window is a date.
        let keys = section["until"] == nil ? ["lag", "range", "granularity", "format"] : ["range", "granularity"]
        for key in keys where section[key] != nil {
            report(section, key, "only for the value of a field: remove the line")
        }
    }

    /// Reads the refusals of an expired token; nil for the usual ones. An empty list has none.
    private mutating func expired(_ section: Section) -> [ClosedRange<Int>]? {
        guard let value = section["expired"] else { return nil }
        if case .list(let list) = value.content, list.isEmpty { return [] }
        return statuses(section, "expired")
    }

    /// Reads the time after which everything is requested again, in seconds; nil for never.
    private mutating func fullInterval(_ section: Section) -> Int? {
        guard let text = text(section, "full_every") else { return nil }
        if let seconds = DurationText.seconds(text) { return seconds }
        report(
            section, "full_every",
            "expected a duration such as 30s, 15m, 2h or 7d, at most 366d, found \"\(text)\"")
        return nil
    }

    /// Whether the first request of a pagination has a value at a place.
    ///
    /// If only the further ones do, the value of the last scan can take that place: the token of a
    /// change feed may be the cursor behind its last page.
    private static func begins(with place: Pagination.ParameterPlace, _ pagination: Pagination) -> Bool {
        let first = pagination.style.firstPage(of: PageRequest(url: "https://api.example.org/"))
        return first.value(at: place) != nil
    }

    private mutating func source(_ section: Section) -> Incremental.Source? {
        let keys = ["field", "cursor", "header", "link"].filter { section[$0] != nil }
        guard let key = keys.first else {
            // The end of a window is the value that the next one begins with.
            if section["until"] != nil { return .window }
            report(
                section.field, section.mark,
                "missing value: write field: updated_at for that of the records, or cursor: meta.token for one of the response"
            )
            return nil
        }
        for other in keys.dropFirst() { report(section, other, "there is one value: write \(key) or \(other)") }
        switch key {
        case "header": return text(section, key).map { .header($0) }
        case "field": return bodyPath(section, key).flatMap { JSONPath($0) }.map { .field($0) }
        case "cursor": return bodyPath(section, key).map { .cursor($0) }
        default: return bodyPath(section, key).map { .link($0) }
        }
    }

    /// Reads a number, or a duration such as `15m`, in seconds.
    private mutating func lag(_ section: Section) -> Int {
        guard let text = text(section, "lag") else { return 0 }
        let units: [Character: Int] = ["s": 1, "m": 60, "h": 3600, "d": 86_400]
        let unit = text.last.flatMap { units[$0] }, digits = unit == nil ? text[...] : text.dropLast()
        if let number = Int(digits), number >= 0, digits.first?.isNumber == true {
            let (seconds, overflow) = number.multipliedReportingOverflow(by: unit ?? 1)
            if !overflow { return seconds }
        }
        report(section, "lag", "expected a number, or a duration such as 90s, 15m, 2h or 1d, found \"\(text)\"")
        return 0
    }

    private mutating func format(_ section: Section) -> DateFormat? {
        guard let text = text(section, "format") else { return nil }
        do {
            return try DateFormat(text)
        } catch {
            report(section, "format", "\(error)")
            return nil
        }
    }

    /// Reads the text that is sent with the value in it.
    private mutating func sentText(_ section: Section) -> String? {
        guard let text = text(section, "text") else { return nil }
        if !Endpoint.variables(in: text).contains(Incremental.variable) {
            report(section, "text", "the text has no place for the value: write {value} in it")
        }
        if section["initial"] == nil, section["link"] == nil {
            report(
                section, "text",
                "the first scan would send nothing: add initial, such as initial: '1970-01-01T00:00:00Z'")
        }
        return text
    }

    /// Reports endpoints that list changes only, and whose records take their position in the list:
    /// a record would get that of another one.
    mutating func checkPositions(_ endpoints: [Endpoint], _ schema: Schema, _ mapping: Mapping) {
        let parents = Dictionary(schema.entities.map { ($0.name, $0.parent) }) { first, _ in first }
        /// An entity, and those of which it is a kind. A cycle, which is reported elsewhere, ends.
        func line(_ name: String) -> [String] {
            var line = [name]
            while line.count <= parents.count, let parent = parents[line[line.count - 1]] ?? nil { line.append(parent) }
            return line
        }
        for endpoint in endpoints where endpoint.incremental != nil {
            let listed = endpoint.envelope.isEmpty ? [endpoint.entity] : endpoint.envelope.map(\.entity)
            let kinds = schema.entities.map(\.name).filter { !Set(line($0)).isDisjoint(with: listed) }
            for name in Set((listed + kinds).flatMap(line)).sorted() {
                let paths = mapping.entities[name]?.paths.sorted { $0.key < $1.key } ?? []
                guard
                    let found = paths.first(where: {
                        $0.value.first?.paths.contains { $0.origin == .position } ?? false
                    })
                else { continue }
                report(
                    at: "endpoints.\(endpoint.name).since",
                    "a list of changes has other positions than the whole list, and \(name).\(found.key) takes "
                        + "@position: remove one of them")
                break
            }
        }
    }

    // MARK: partitions

    /// Reads names and the lists of values that an endpoint is scanned for.
    mutating func partitions(
        _ endpoint: Section, _ parameters: [Endpoint.Parameter], _ pagination: Pagination?
    ) -> [Endpoint.Partition] {
        var count = 1
        let found = entries(endpoint, "partitions", of: "names to lists of values").compactMap {
            entry -> Endpoint.Partition? in
            let field = "\(endpoint.path("partitions")).\(entry.key)"
            if parameters.contains(where: { $0.name == entry.key }) {
                report(field, entry.keyMark, "with has this parameter already: remove one of the lines")
            } else if pagination?.style.parameters.contains(.query(entry.key)) == true {
                report(field, entry.keyMark, "paginate sends this parameter: choose another name")
            }
            var values: [String] = []
            if case .list(let list) = entry.value.content {
                values = list.compactMap { text($0, field) }
            } else if let value = text(entry.value, field) {
                values = [value]
            }
            if values.isEmpty {
                report(field, entry.value.mark, "missing values: write a list, such as [open, closed]")
            }
            if Set(values.map { ExactText($0) }).count < values.count {
                report(field, entry.value.mark, "a value occurs twice: remove one")
            }
            // Such a value in the path would name another resource: RFC 3986 §5.2.4.
            if values.contains(where: { ["", ".", ".."].contains($0) }) {
                report(field, entry.value.mark, "a value cannot be empty, \".\" or \"..\"")
            }
            count = count.multipliedReportingOverflow(by: max(1, values.count)).partialValue
            return Endpoint.Partition(entry.key, values)
        }
        if !(1...Endpoint.Partition.most).contains(count) {
            report(
                endpoint, "partitions",
                "\(count) combinations of values: at most \(Endpoint.Partition.most) are possible")
        }
        return found
    }

    /// Reports parameters of partitions and of `with` that the authentication, `since` or `restart`
    /// would replace.
    mutating func check(
        _ partitions: [Endpoint.Partition], _ parameters: [Endpoint.Parameter], _ incremental: Incremental?,
        _ deep: DeepPages?, _ template: PathTemplate, _ endpoint: Section
    ) {
        let secret = currentAPI.authenticationParameter.flatMap { template.variables.contains($0) ? nil : $0 }
        if let secret, parameters.contains(where: { $0.name == secret }) {
            report(
                at: field(ofParameter: secret, endpoint), "auth already sets this parameter: remove one of the two")
        }
        for partition in partitions {
            let field = "\(endpoint.path("partitions")).\(partition.name)",
                place = Pagination.ParameterPlace.query(partition.name)
            let isSince = [incremental?.sends, incremental?.until].contains(place)
            let other =
                partition.name == secret
                ? "auth" : isSince ? "since" : deep?.sends == place ? "restart" : nil
            if let other { report(field, keyMark(field), "\(other) sends this parameter: choose another name") }
        }
    }
}
