// The key `cache` of the `api` section: cache policy, rules and limits.

import TarnHTTP
import TarnStore

extension DescriptionReader {
    enum Policy: String, CaseIterable {
        case cacheFirst = "cache_first"
        case networkFirst = "network_first"
        case cacheOnly = "cache_only"
        case networkOnly = "network_only"
    }

    enum OffLine: String, CaseIterable { case stale, never }

    mutating func caching(_ api: Section) -> CacheDescription {
        var cache = CacheDescription()
        guard let value = api["cache"],
            let section = section(
                value, api.path("cache"),
                keys: [
                    "policy", "older_than", "shared", "heuristic", "heuristic_limit", "off_line", "entries", "bytes",
                    "age",
                ])
        else { return cache }
        func whole(_ key: String, _ minimum: Int) -> Int? {
            section[key].flatMap { integer($0, section.path(key), minimum: minimum) }
        }
        if let policy: Policy = word(section, "policy", "policy") {
            cache.policy =
                switch policy {
                case .cacheFirst: .cacheFirst
                case .networkFirst: .networkFirst
                case .cacheOnly: .cacheOnly
                case .networkOnly: .networkOnly
                }
        }
        if let seconds = whole("older_than", 0) {
            cache.policy = .olderThan(seconds: seconds)
            if section["policy"] != nil {
                report(section, "older_than", "older_than is a policy itself: remove policy, or this line")
            }
        }
        cache.rules.isShared = flag(section, "shared")
        if let value = section["heuristic"] {
            if case .scalar(let text, plain: true) = value.content, let fraction = Double(text),
                (0...1).contains(fraction)
            {
                cache.rules.heuristicFraction = fraction
            } else {
                report(section, "heuristic", "expected a fraction from 0 to 1, such as 0.1, found \(value.kind)")
            }
        }
        cache.rules.heuristicLimit = whole("heuristic_limit", 0) ?? cache.rules.heuristicLimit
        let offLine: OffLine? = word(section, "off_line", "offline policy")
        cache.rules.answersWhenDisconnected = offLine != .never
        cache.limits.entries = whole("entries", 1) ?? cache.limits.entries
        cache.limits.bytes = whole("bytes", 1) ?? cache.limits.bytes
        cache.limits.age = whole("age", 1)
        return cache
    }
}
