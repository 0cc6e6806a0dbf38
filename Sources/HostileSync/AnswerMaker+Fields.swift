// The generator of header fields, most of them invalid.

extension AnswerMaker {
    func field(_ chance: inout Chance, page: Int) -> String {
        let number = AnswerMaker.number(&chance)
        switch chance.below(24) {
        case 0: return "ETag: " + chance.one(of: ["\"a\"", "W/\"a\"", "a", "\"", "W/", "\"\(page)\"", "*"])
        case 1:
            let name = chance.one(of: ["Last-Modified", "Date", "Expires", "Retry-After"])
            return name + ": " + chance.one(of: AnswerMaker.dates)
        case 2: return AnswerMaker.numberName(&chance) + ": " + number
        case 3: return "Link: " + link(&chance, page: page)
        case 4: return "Link: " + AnswerMaker.repeatedLink(&chance)
        case 5: return "Location: " + location(&chance)
        case 6: return "Cache-Control: " + AnswerMaker.cacheControl(number, &chance)
        case 7:
            return "Vary: " + chance.one(of: ["*", "Accept", String(repeating: "a,", count: chance.length(30_000))])
        case 8: return "RateLimit: " + AnswerMaker.rateLimit(number, &chance)
        case 9: return AnswerMaker.rateLimitField(number, &chance)
        case 10:
            return "Content-Range: bytes "
                + chance.one(of: ["0-1/2", "0-\(number)/\(number)", "*/\(number)", "-", "5-1/0"])
        case 11:
            return "X-Next-Cursor: "
                + chance.one(of: ["c\(page)", "", String(repeating: "c", count: chance.length(90_000)), number])
        case 12: return "Content-Type: " + AnswerMaker.contentType(&chance)
        case 13: return "Set-Cookie: a=" + String(repeating: "b", count: chance.length(50_000))
        case 14: return String(repeating: "H", count: chance.length(120_000)) + ": x"
        case 15: return "no colon at all"
        case 16: return ": nothing before"
        case 17: return "X-Control: \u{1}\u{7F}\u{9B}\u{1B}]52;c;x\u{7}"
        case 18:
            return "Transfer-Encoding: "
                + chance.one(of: ["chunked", "gzip", "gzip, chunked", "chunked, chunked", "identity", "x"])
        case 19:
            return "Content-Length: "
                + chance.one(of: ["5", "5, 5", "+5", "0x5", "5 5", "-5", "99999999999999999999", ""])
        case 20: return "Alt-Svc: h3=\":443\"; ma=\(number)"
        case 21: return "Connection: " + chance.one(of: ["close", "keep-alive", "upgrade"])
        default: return "X-Any: " + JSONText.text(&chance).filter { $0 != "\r\n" }
        }
    }

    // MARK: Values

    private static let dates = [
        "Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994",
        "Fri, 31 Dec 9999 23:59:59 GMT", "Fri, 99 Dec 99999 99:99:99 GMT",
        "Sun, 00 Nov 0000 00:00:00 GMT", "0", "-1", "now", "Sun, 9223372036854775807 Nov 1994 08:49:37 GMT",
    ]

    private static func number(_ chance: inout Chance) -> String {
        guard !chance.once(in: 3) else { return JSONText.number(&chance) }
        return chance.one(of: [
            "0", "1", "2", "10", "60", "-1", "999999999999", "9223372036854775807", "1e300", "nan", "inf", "0x10",
            "",
        ])
    }

    /// Returns the name of a field whose value is a number.
    private static func numberName(_ chance: inout Chance) -> String {
        chance.one(of: [
            "Retry-After", "Age", "X-Total-Count", "X-Total-Pages", "X-Total", "X-Next-Page", "Content-Length",
        ])
    }

    private static func cacheControl(_ number: String, _ chance: inout Chance) -> String {
        chance.one(of: [
            "max-age=\(number)", "no-store", "private, max-age=0",
            String(repeating: "a=\"b\",", count: chance.length(10_000)), "max-age=\"",
        ])
    }

    private static func rateLimit(_ number: String, _ chance: inout Chance) -> String {
        chance.one(of: [
            "limit=1, remaining=0, reset=\(number)", "\"a\";r=0;t=\(number)",
            String(repeating: "\"a\";r=0;t=1,", count: chance.length(5000)), "\"",
        ])
    }

    /// Returns a field of the older, separate rate limit fields.
    private static func rateLimitField(_ number: String, _ chance: inout Chance) -> String {
        chance.one(of: [
            "X-RateLimit-Remaining: 0", "RateLimit-Remaining: \(number)", "X-RateLimit-Reset: \(number)",
            "RateLimit-Reset: \(chance.one(of: dates))", "X-RateLimit-Reset-After: \(number)",
        ])
    }

    private static func contentType(_ chance: inout Chance) -> String {
        chance.one(of: [
            "application/json; charset=\"", "text/html",
            "application/json;" + String(repeating: "a;", count: chance.length(30_000)), "",
        ])
    }

    // MARK: Links

    private static func repeatedLink(_ chance: inout Chance) -> String {
        String(
            repeating: chance.one(of: [
                "<,", "<>,", "\"", "<a>;rel=", ";", "\\", "<a>;x=\"", " ", "<a>;rel=\"next\",",
            ]), count: chance.length(40_000))
    }

    private func location(_ chance: inout Chance) -> String {
        chance.one(of: [
            "/items?r=\(chance.below(100))", base + "/x", "http://127.0.0.1:1/", "//", "", "http://[",
            "ftp://x/", String(repeating: "a", count: chance.length(90_000)), "?\u{0}",
        ])
    }

    private func link(_ chance: inout Chance, page: Int) -> String {
        let target = chance.one(of: [
            "/items?page=\(page + 1)", "?page=\(page + 1)", base + "/items?page=\(page + 1)",
            base + "/items?page=\(page + 1)", "/items", "http://other.invalid/", "",
            "//", "http://[", "/" + String(repeating: "../", count: chance.length(10_000)),
            "?" + String(repeating: "a=b&", count: chance.length(10_000)), "?%zz", "?\u{0}",
        ])
        return "<\(target)>; rel=" + chance.one(of: ["next", "\"next\"", "\"prev next\"", "NEXT", "\"next", "last"])
    }
}
