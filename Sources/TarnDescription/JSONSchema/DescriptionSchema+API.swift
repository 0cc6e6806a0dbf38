// The schema of the `api` section.

import Tarn
import TarnHTTP

extension DescriptionSchema {
    static var api: SchemaNode {
        .object(
            [
                Property(name: "base", about: "The absolute URL to which paths are appended.", node: .text),
                Property(name: "aliases", about: "Other base URLs of the same API.", node: .oneOrMore(.text)),
                Property(
                    name: "follow", about: "Other servers to which links may lead, without credentials.",
                    node: .oneOrMore(.text)),
                Property(name: "headers", about: "Header fields of every request.", node: .map(.text)),
                Property(name: "parameters", about: "Parameters of every request.", node: .map(.oneOrMore(.text))),
                Property(name: "auth", about: "How requests are authenticated.", node: authentication),
                Property(name: "transport", about: "Time limits, sizes, proxy and certificates.", node: transport),
                Property(name: "pace", about: "How fast requests are sent.", node: pace),
                Property(name: "retry", about: "How failed requests are repeated.", node: retry),
                Property(name: "responses", about: "Rules for responses.", node: .reference("responses")),
                Property(name: "cache", about: "How single responses are stored and reused.", node: cache),
                Property(name: "naming", about: "How names are written in JSON.", node: .reference("naming")),
                // An included file may have the base URL.
            ] + rules, required: [])
    }

    private static var transport: SchemaNode {
        .object(
            [
                Property(name: "connect_timeout", about: "Seconds for a connection.", node: .number),
                Property(name: "idle_timeout", about: "Seconds without any byte.", node: .number),
                Property(name: "total_timeout", about: "Seconds for a whole request.", node: .number),
                Property(name: "largest_body", about: "Bytes of a body at most.", node: .integer(minimum: 1)),
                Property(name: "redirects", about: "Redirects at most.", node: .integer(minimum: 0)),
                Property(name: "proxy", about: "none, or the URL of a proxy.", node: .text),
                Property(name: "authorities", about: "A file of certificate authorities.", node: .text),
                Property(name: "certificate", about: "The file of a client certificate.", node: .text),
                Property(name: "key", about: "The file of the certificate's key.", node: .text),
                Property(name: "user_agent", about: "The text of User-Agent.", node: .text),
            ], required: [])
    }

    private static var pace: SchemaNode {
        .object(
            [
                Property(name: "per_second", about: "Requests a second at most.", node: .number),
                Property(name: "burst", about: "Requests at once before the pace applies.", node: .integer(minimum: 1)),
                Property(name: "concurrent", about: "Requests under way at most.", node: .integer(minimum: 1)),
                Property(
                    name: "headers", about: "Whether the server's rate limits are obeyed.",
                    node: words(DescriptionReader.HeaderUse.self)),
                Property(name: "longest_wait", about: "Seconds that a request waits at most.", node: .number),
                Property(name: "longest_limit", about: "Seconds of a server's limit at most.", node: .number),
            ], required: [])
    }

    private static var retry: SchemaNode {
        .either([
            .words(["never"]),
            .object(
                [
                    Property(name: "attempts", about: "Attempts at most.", node: .integer(minimum: 1)),
                    Property(name: "first_delay", about: "Seconds before the second attempt.", node: .number),
                    Property(name: "longest_delay", about: "Seconds between two attempts at most.", node: .number),
                    Property(name: "longest_wait", about: "Seconds of Retry-After at most.", node: .number),
                    Property(name: "methods", about: "Further methods to repeat.", node: .oneOrMore(.text)),
                ], required: []),
        ])
    }

    private static var cache: SchemaNode {
        .object(
            [
                Property(name: "policy", about: "Where answers come from.", node: words(DescriptionReader.Policy.self)),
                Property(
                    name: "older_than", about: "Stored answers serve up to this age in seconds.",
                    node: .integer(minimum: 0)),
                Property(name: "shared", about: "Whether several users share the cache.", node: .flag),
                Property(name: "heuristic", about: "The part of the age that counts as fresh.", node: .number),
                Property(name: "heuristic_limit", about: "Seconds of it at most.", node: .integer(minimum: 0)),
                Property(
                    name: "off_line", about: "What is answered without a network.",
                    node: words(DescriptionReader.OffLine.self)),
                Property(name: "entries", about: "Stored responses at most.", node: .integer(minimum: 1)),
                Property(name: "bytes", about: "Bytes of stored responses at most.", node: .integer(minimum: 1)),
                Property(name: "age", about: "Seconds after which a response is removed.", node: .integer(minimum: 1)),
            ], required: [])
    }
}
