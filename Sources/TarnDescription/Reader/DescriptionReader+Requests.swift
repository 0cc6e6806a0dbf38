// The keys `pace`, `transport` and `retry` of the `api` section, and `responses` of it and of
// endpoints.

import TarnHTTP

extension DescriptionReader {
    mutating func pace(_ api: Section) -> Pace {
        guard let value = api["pace"],
            let section = section(
                value, api.path("pace"),
                keys: ["per_second", "burst", "concurrent", "headers", "longest_wait", "longest_limit"])
        else { return Pace() }
        var pace = Pace()
        pace.perSecond = section["per_second"].flatMap { number($0, section.path("per_second"), above: 0) }
        pace.burst = section["burst"].flatMap { integer($0, section.path("burst"), minimum: 1) } ?? pace.burst
        pace.concurrent = section["concurrent"].flatMap { integer($0, section.path("concurrent"), minimum: 1) }
        pace.longestWait = seconds(section, "longest_wait") ?? pace.longestWait
        pace.longestLimit = seconds(section, "longest_limit") ?? pace.longestLimit
        if section["burst"] != nil, section["per_second"] == nil {
            report(
                section, "burst",
                "burst needs per_second: add per_second, or remove the line")
        }
        let headers: HeaderUse? = word(section, "headers", "use of the server's rate limits")
        pace.obeysHeaders = headers != .ignore
        return pace
    }

    /// Reads the options of the transport.
    ///
    /// - Parameter pace: the pace, whose concurrency is the number of connections.
    mutating func transport(_ api: Section, _ pace: Pace) -> CurlTransport.Options {
        var options = CurlTransport.Options()
        options.concurrencyPerHost = pace.concurrent ?? options.concurrencyPerHost
        guard let value = api["transport"],
            let section = section(
                value, api.path("transport"),
                keys: [
                    "connect_timeout", "idle_timeout", "total_timeout", "largest_body", "redirects", "proxy",
                    "authorities", "certificate", "key",
                    "user_agent",
                ])
        else { return options }
        options.connectTimeout = seconds(section, "connect_timeout") ?? options.connectTimeout
        options.idleTimeout = seconds(section, "idle_timeout") ?? options.idleTimeout
        options.totalTimeout = seconds(section, "total_timeout") ?? options.totalTimeout
        if let size = section["largest_body"] {
            options.maximumBodySize = integer(size, section.path("largest_body"), minimum: 1) ?? options.maximumBodySize
        }
        if let redirects = section["redirects"] {
            options.maximumRedirects =
                integer(redirects, section.path("redirects"), minimum: 0) ?? options.maximumRedirects
        }
        options.proxy = proxy(section)
        func path(_ key: String) -> String? { text(section, key).flatMap { filePath($0, section, key) } }
        (options.certificateAuthorities, options.clientCertificate, options.clientKey) = (
            path("authorities"), path("certificate"), path("key")
        )
        if section["key"] != nil, section["certificate"] == nil {
            report(section, "key", "key needs a certificate: add certificate")
        }
        if let agent = text(section, "user_agent") {
            if agent.unicodeScalars.contains(where: { $0.value < 0x20 || $0.value > 0x7E }) {
                report(section, "user_agent", "only printable ASCII characters are allowed")
            }
            options.userAgent = agent
        }
        return options
    }

    /// Reads `none` or a URL. Messages do not repeat it: it may contain a password.
    private mutating func proxy(_ section: Section) -> String? {
        guard let text = text(section, "proxy") else { return nil }
        if text == "none" { return "" }
        let schemes = ["http://", "https://", "socks5://", "socks5h://"]
        if !schemes.contains(where: text.lowercased().hasPrefix) {
            report(section, "proxy", "expected none, or a URL that begins with \(schemes.joined(separator: ", "))")
        } else if text.contains("@") {
            report(
                section, "proxy",
                "a password must not be in this file: set the proxy in the environment, as https_proxy")
        }
        return text
    }

    enum HeaderUse: String, CaseIterable { case obey, ignore }

    mutating func retry(_ api: Section) -> RetryPolicy {
        guard let value = api["retry"] else { return RetryPolicy() }
        if case .scalar("never", _) = value.content { return .never }
        guard
            let section = section(
                value, api.path("retry"), keys: ["attempts", "first_delay", "longest_delay", "longest_wait", "methods"])
        else { return RetryPolicy() }
        var policy = RetryPolicy()
        policy.attempts =
            section["attempts"].flatMap { integer($0, section.path("attempts"), minimum: 1) } ?? policy.attempts
        policy.firstDelay = seconds(section, "first_delay") ?? policy.firstDelay
        policy.longestDelay = seconds(section, "longest_delay") ?? policy.longestDelay
        policy.longestWait = seconds(section, "longest_wait") ?? policy.longestWait
        for (method, mark) in texts(section, "methods") {
            guard method.utf8.allSatisfy(DescriptionReader.isTokenByte), method == method.uppercased() else {
                report(section.path("methods"), mark, "not a method: write it in upper case, such as POST")
                continue
            }
            policy.methods.insert(method)
        }
        return policy
    }

    /// Reads a list of rules for responses.
    mutating func responses(_ owner: Section) -> [ResponseRule] {
        guard let value = owner["responses"], !value.isNull else { return [] }
        guard case .list(let list) = value.content else {
            report(
                owner, "responses",
                "expected a list of rules, such as [{ status: 404, then: empty }], found \(value.kind)")
            return []
        }
        return list.enumerated().compactMap { index, value in
            let entry = YAMLValue.Entry(key: "", keyMark: value.mark, value: value),
                field = "\(owner.path("responses"))[\(index)]"
            record(field, of: entry)
            return responseRule(value, field)
        }
    }

    private mutating func responseRule(_ value: YAMLValue, _ field: String) -> ResponseRule? {
        guard
            let section = section(
                value, field, keys: ["status", "contains", "then", "message"], required: ["then"],
                example: ["then": "then: empty"])
        else { return nil }
        let statuses = statuses(section, "status")
        let contains = text(section, "contains")
        if section["status"] == nil, section["contains"] == nil {
            report(field, section.mark, "the rule would apply to every response: add status or contains")
        }
        let action: ResponseRule.Action? = word(section, "then", "action")
        return action.map {
            ResponseRule(statuses: statuses, text: contains, action: $0, message: text(section, "message"))
        }
    }

    /// Reads statuses and ranges of statuses: one, or a list.
    mutating func statuses(_ section: Section, _ key: String) -> [ClosedRange<Int>] {
        let texts = texts(section, key)
        // A rule without a status would apply to every response.
        if texts.isEmpty, section[key] != nil, !isReported(section.path(key)) {
            report(section, key, "missing status: write one, such as 404, or remove the line")
        }
        return texts.compactMap { text, mark in
            let ends = text.split(separator: "-", omittingEmptySubsequences: false).map { Int($0) }
            guard (1...2).contains(ends.count), let first = ends[0], let last = ends[ends.count - 1], first <= last,
                first >= 200, last <= 599
            else {
                report(
                    section.path(key), mark,
                    "expected a status from 200 to 599, or a range such as 500-599, found \"\(text)\"")
                return nil
            }
            return first...last
        }
    }

    // MARK: Numbers

    mutating func number(_ value: YAMLValue, _ field: String, above minimum: Double) -> Double? {
        if case .scalar(let text, plain: true) = value.content, let number = Double(text), number > minimum,
            number < 1e9
        {
            return number
        }
        report(field, value.mark, "expected a number above \(Int(minimum)), found \(value.kind)")
        return nil
    }

    /// Reads a duration; nil without a report if the key is absent.
    mutating func seconds(_ section: Section, _ key: String) -> Duration? {
        guard let value = section[key] else { return nil }
        if case .scalar(let text, plain: true) = value.content, let seconds = Double(text), seconds >= 0, seconds < 1e9
        {
            return .milliseconds(Int((seconds * 1000).rounded()))
        }
        report(section, key, "expected seconds, such as 0.5 or 30, found \(value.kind)")
        return nil
    }
}
