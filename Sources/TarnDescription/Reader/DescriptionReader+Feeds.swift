// The parts of `since` that tell where a value is sent besides a parameter, where a first value
// comes from, and where a window ends.

import TarnHTTP
import TarnImport

extension DescriptionReader {
    // MARK: Places of the value

    /// Reads the header field that the value is sent in.
    mutating func sinceField(_ section: Section, _ endpoint: Section) -> String? {
        guard let name = text(section, "header_field") else { return nil }
        for key in ["param", "body", "link", "text", "latest_first"] where section[key] != nil {
            report(section, key, "header_field is where the value is sent: remove one of the two")
        }
        let lower = name.lowercased()
        if name.isEmpty || !name.utf8.allSatisfy(DescriptionReader.isTokenByte) {
            report(section, "header_field", "invalid name of a header field: use letters, digits and -")
        } else if let reason = DescriptionReader.reservedFields[lower] {
            report(section, "header_field", "\(reason): choose another field")
        } else if currentAPI.authenticationFields.contains(where: { $0.lowercased() == lower }) {
            report(section, "header_field", "auth already sets this header field: choose another one")
        } else if case .mapping(let entries)? = endpoint["headers"]?.content,
            let other = entries.first(where: { $0.key.lowercased() == lower })
        {
            report(
                "\(endpoint.path("headers")).\(other.key)", other.keyMark,
                "since sends this header field: remove the line")
        }
        return name
    }

    /// Reads whether the list begins with the latest record, so that nothing is sent.
    mutating func latestFirst(_ section: Section) -> Bool {
        guard section["latest_first"] != nil, flag(section, "latest_first") else { return false }
        for key in ["param", "body", "link", "range", "granularity", "format", "text"] where section[key] != nil {
            report(section, key, "with latest_first, no value is sent: remove the line")
        }
        if section["field"] == nil {
            report(
                section, "latest_first", "the order is that of a field: write field: updated_at, with its location")
        }
        return true
    }

    // MARK: The first value

    /// Reads the request for the first value of a change feed.
    mutating func firstValue(_ since: Section, _ source: Incremental.Source) -> Incremental.Start? {
        guard let value = since["start"],
            let section = section(value, since.path("start"), keys: ["path", "cursor", "status", "list"])
        else { return nil }
        let own: String?
        switch source {
        case .cursor(let path), .link(let path): own = path
        case .header: own = nil
        case .field, .window:
            report(since, "start", "only for a token of the server: write cursor, header or link, or remove the line")
            return nil
        }
        if since["initial"] != nil { report(since, "initial", "start requests the first value: remove one of the two") }
        guard let cursor = section["cursor"] == nil ? own : bodyPath(section, "cursor") else {
            if section["cursor"] == nil {
                report(
                    section.field, section.mark,
                    "missing location of the first value: write cursor: startPageToken, a path in the response")
            }
            return nil
        }
        let path = text(section, "path")
        if let path, !path.hasPrefix("/") || (try? PathTemplate(path)) == nil {
            report(section, "path", "expected a path below the base URL, such as /changes/startPageToken")
        }
        var start = Incremental.Start(path: path, value: cursor)
        if section["status"] != nil { start.statuses = statuses(section, "status") }
        start.list = text(section, "list")
        return start
    }

    /// Reports first values of several lists, and lists of change feeds that have not everything.
    mutating func checkFeeds(_ endpoints: [Endpoint]) {
        for endpoint in endpoints {
            guard let start = endpoint.incremental?.start else { continue }
            let field = "endpoints.\(endpoint.name).since.start"
            if endpoint.forEach != nil || !endpoint.partitions.isEmpty {
                report(at: field, "a first value is that of one list: for_each and partitions are not possible with it")
            }
            guard let name = start.list else { continue }
            guard let list = endpoints.first(where: { $0.name == name }) else {
                report(at: field + ".list", Spelling.unknown("endpoint", name, among: endpoints.map(\.name)))
                continue
            }
            if list.name == endpoint.name || list.incremental != nil {
                report(
                    at: field + ".list",
                    "\(name) requests changes: name the endpoint with the whole list, without since")
            } else if list.forEach != nil {
                report(
                    at: field + ".list", "\(name) has for_each, and its lists come and go: remove list, or for_each")
            }
        }
    }

    // MARK: Windows

    /// Reads the end of the windows, and their length.
    mutating func window(
        _ section: Section, _ endpoint: Section, _ parameters: [Endpoint.Parameter], _ rule: inout Incremental
    ) {
        guard section["until"] != nil else {
            if section["window"] != nil {
                report(section, "window", "a window needs an end: write until, with the name of its parameter")
            }
            return
        }
        rule.until = windowEnd(section, rule, endpoint, parameters)
        for key in ["field", "header", "link", "header_field", "latest_first", "text", "expired", "full_every"]
        where section[key] != nil {
            report(section, key, "not possible with until, by which the end of a window is the value: remove the line")
        }
        if endpoint["orphans"] != nil {
            report(endpoint, "orphans", "a window has a part of the list only: remove orphans, or until under since")
        }
        let formats = [rule.format, .rfc3339, .iso8601, .day].compactMap(\.self)
        if let initial = rule.initial {
            if !formats.contains(where: { $0.timestamp(initial) != nil }) {
                report(section, "initial", "the first window begins with a date: write one such as 2026-01-31")
            }
        } else if section["initial"] == nil {
            report(section, "until", "the first window needs a beginning: write initial: 2026-01-31")
        }
        guard let text = text(section, "window") else { return }
        rule.window = DurationText.seconds(text)
        if rule.window == nil {
            report(
                section, "window", "expected a duration such as 12h, 1d or 30d, at most 366d, found \"\(text)\"")
        } else if let window = rule.window, rule.lag >= window {
            report(section, "window", "windows that begin before the last one ends by \(rule.lag) s must be longer")
        }
    }

    /// Reads where the end of a window is sent: beside its beginning.
    private mutating func windowEnd(
        _ section: Section, _ rule: Incremental, _ endpoint: Section, _ parameters: [Endpoint.Parameter]
    ) -> Pagination.ParameterPlace? {
        guard let text = text(section, "until") else { return nil }
        let place: Pagination.ParameterPlace
        if case .body? = rule.sends {
            guard let keys = plainKeyPath(text, section.path("until"), section["until"]?.mark ?? section.mark)?.keys
            else { return nil }
            place = .body(keys)
        } else {
            place = .query(text)
            if parameters.contains(where: { $0.name == text }) {
                report(at: field(ofParameter: text, endpoint), "since sends this parameter: remove the line")
            }
        }
        if place == rule.sends { report(section, "until", "the value is sent there: name another parameter") }
        return place
    }
}
