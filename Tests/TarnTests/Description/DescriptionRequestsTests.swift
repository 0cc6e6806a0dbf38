// Requests in a description: pace, retry, responses, credentials, pagination, bodies. And every
// mistake once.

import Foundation
import Tarn
import TarnDescription
import Testing

private let refreshing: OAuth2 = {
    var settings = OAuth2(
        tokenURL: "https://a.example/token", clientID: .value(Secret("tarn")), account: "ada")
    settings.clientAuthentication = .body
    settings.grant = .refreshToken(.file("refresh"))
    return settings
}()

private let keyed: OAuth2 = {
    var settings = OAuth2(tokenURL: "https://a.example/token", clientID: .value(Secret("tarn")))
    settings.clientKey = JSONWebToken(.es256, key: .file("/k.pem"), header: ["kid": .json(.string("K"))])
    return settings
}()

private let asserting: OAuth2 = {
    var settings = OAuth2(tokenURL: "https://a.example/token", clientID: nil, scopes: ["a"])
    settings.grant = .assertion(
        JSONWebToken(.rs256, key: .file("/a.json"), claims: ["sub": .json(.string("ada"))]))
    return settings
}()

@Suite("Description file: requests")
struct DescriptionRequestsTests {
    private func api(_ lines: String) throws -> APIDescription {
        try Description.parse(thingDescription(lines, "", "int?"), file: "forge.yaml").api
    }

    private func endpoint(_ lines: String) throws -> Endpoint {
        let text =
            thingDescription("", "", "int?") + "\nendpoints:\n  things:\n    path: /things\n    entity: Thing\n" + lines
        return try #require(try Description.parse(text, file: "forge.yaml").endpoints.first)
    }

    @Test("pace and retry are read, in seconds; without a word a moment's trouble is tried again and no pace is kept")
    func paceAndRetry() throws {
        let written = try api(
            "pace: { per_second: 2.5, burst: 5, concurrent: 4, headers: ignore, longest_wait: 60, longest_limit: 3600 }\n"
                + "  retry: { attempts: 6, first_delay: 0.25, longest_delay: 10, longest_wait: 120, methods: [POST] }")
        #expect(
            written.pace
                == Pace(
                    perSecond: 2.5, burst: 5, concurrent: 4, obeysHeaders: false, longestWait: .seconds(60),
                    longestLimit: .seconds(3600)))
        #expect(
            written.retry
                == RetryPolicy(
                    attempts: 6, firstDelay: .milliseconds(250), longestDelay: .seconds(10), longestWait: .seconds(120),
                    methods: ["POST"]))
        #expect(try api("").pace == Pace() && (try api("")).retry == RetryPolicy())
        #expect(try api("retry: never").retry == .never)
    }

    @Test("rules for answers are read, of the API and of an endpoint, which go before")
    func responses() throws {
        #expect(
            try api(
                "responses: [{ status: [409, 500-599], contains: locked, then: retry }, { contains: 'token expired', then: refresh_token }]"
            ).responses == [
                ResponseRule(statuses: [409...409, 500...599], text: "locked", action: .retry),
                ResponseRule(text: "token expired", action: .refreshToken),
            ])
        #expect(
            try endpoint(
                "    responses:\n      - { status: 404, then: empty }\n      - { status: 403, then: fail, message: ask ada }"
            ).responses == [
                ResponseRule(statuses: [404...404], action: .empty),
                ResponseRule(statuses: [403...403], action: .fail, message: "ask ada"),
            ])
    }

    @Test(
        "every kind of credentials is read, and every place of a secret",
        arguments: [
            ("bearer: { env: T }", Authentication.bearer(.environment("T"))),
            ("bearer: { file: /run/secrets/t }", .bearer(.file("/run/secrets/t"))),
            ("bearer: { command: [pass, show, forge] }", .bearer(.command(["pass", "show", "forge"]))),
            (
                "basic: { user: ada, password: { env: P } }",
                .basic(user: .value(Secret("ada")), password: .environment("P"))
            ),
            (
                "basic: { user: { env: U }, password: { env: P } }",
                .basic(user: .environment("U"), password: .environment("P"))
            ),
            ("api_key: { key: { env: K }, header: X-Api-Key }", .apiKey(.environment("K"), .header("X-Api-Key"))),
            (
                "api_key: { key: { env: K }, header: Authorization, prefix: 'Token ' }",
                .apiKey(.environment("K"), .header("Authorization", prefix: "Token "))
            ),
            ("api_key: { key: { env: K }, query: api_key }", .apiKey(.environment("K"), .query("api_key"))),
            ("api_key: { key: { env: K }, cookie: session }", .apiKey(.environment("K"), .cookie("session"))),
            (
                "oauth2: { token_url: 'https://a.example/token', client_id: tarn, client_secret: { env: S }, scopes: [a, b], params: { audience: x } }",
                .oauth2(
                    OAuth2(
                        tokenURL: "https://a.example/token", clientID: .value(Secret("tarn")),
                        clientSecret: .environment("S"), scopes: ["a", "b"],
                        parameters: [.init("audience", "x")]))
            ),
            (
                "oauth2: { token_url: 'https://a.example/token', client_id: tarn, refresh_token: { file: refresh }, client_auth: body, account: ada }",
                .oauth2(refreshing)
            ),
            (
                "oauth2: { token_url: 'https://a.example/token', client_id: tarn, client_key: { key: { file: /k.pem }, algorithm: ES256, key_id: K } }",
                .oauth2(keyed)
            ),
            (
                "oauth2: { token_url: 'https://a.example/token', assertion: { key: { file: /a.json }, claims: { sub: ada } }, scopes: [a] }",
                .oauth2(asserting)
            ),
            (
                "api_key: [{ key: { env: A }, header: X-A }, { key: { env: B }, query: b }]",
                .apiKeys([.header("X-A"): .environment("A"), .query("b"): .environment("B")])
            ),
            (
                "jwt: { key: { env: K }, algorithm: HS256, key_form: hex, key_id: { env: I }, claims: { aud: /admin/, n: 1 }, fields: { id: x }, lifetime: 240, send: { header: Authorization, prefix: 'Ghost ' } }",
                .jwt(
                    JSONWebToken(
                        .hs256, key: .environment("K"), keyForm: .hex,
                        header: ["kid": .secret(.environment("I")), "id": .json(.string("x"))],
                        claims: ["aud": .json(.string("/admin/")), "n": .json(.number("1"))], lifetime: .seconds(240),
                        place: .header("Authorization", prefix: "Ghost ")))
            ),
            (
                "session: { login: /login, json: { user: ada, params: [{ password: { env: P } }], keep: true }, token: data.token }",
                .session(
                    SessionLogin(
                        "/login",
                        body: .json(
                            .object([
                                "user": .json(.string("ada")), "keep": .json(.bool(true)),
                                "params": .array([.object(["password": .secret(.environment("P"))])]),
                            ])), tokens: [.init(.body(path: "data.token"))]))
            ),
            (
                "session: { login: /s, method: PUT, headers: { X-Client: tarn }, form: { u: { env: U } }, auth: { basic: { user: a, password: { env: P } } }, token: [{ header: X-Auth-Token }, { cookie: S, send: { header: X-S } }], expires: e, lifetime: 900, logout: { header: Location } }",
                .session(
                    SessionLogin(
                        "/s", method: "PUT", headers: [.init("X-Client", "tarn")],
                        body: .form(["u": .secret(.environment("U"))]),
                        authentication: .basic(user: .value(Secret("a")), password: .environment("P")),
                        tokens: [.init(.header("X-Auth-Token")), .init(.cookie("S"), place: .header("X-S"))],
                        expires: "e", lifetime: .seconds(900),
                        logout: .location(method: "DELETE", header: "Location")))
            ),
        ])
    func authentication(written: String, authentication: Authentication) throws {
        #expect(try api("auth: { \(written) }").authentication == authentication)
    }

    @Test("the account has its name beside the scheme")
    func account() throws {
        let description = try api("auth: { account: ada, bearer: { env: T } }")
        #expect(description.account == "ada" && description.authentication == .bearer(.environment("T")))
    }

    @Test("a secret's file lies beside the description")
    func secretFile() throws {
        let text = thingDescription("auth: { bearer: { file: token } }", "", "int?")
        #expect(
            try Description.parse(text, file: "/etc/tarn/forge.yaml").api.authentication
                == .bearer(.file("/etc/tarn/token")))
    }

    @Test(
        "every pagination is read, for the query and for the body",
        arguments: [
            ("auto", Pagination.automatic), ("json_link", .jsonLink(path: "next")),
            ("{ json_link: { path: links.next } }", .jsonLink(path: "links.next")),
            (
                "{ header_cursor: { field: X-Next, param: after } }",
                .headerCursor(field: "X-Next", sends: .query("after"))
            ),
            (
                "{ cursor: { path: meta.next, param: cursor } }",
                .cursor(path: "meta.next", sends: .query("cursor"))
            ),
            (
                "{ cursor: { path: next, param: c, has_more: more, last: '0', end: empty } }",
                .cursor(path: "next", sends: .query("c"), hasMore: "more", last: "0", endsAtEmptyPage: true)
            ),
            (
                "{ offset: { param: offset, per_page: { limit: 100 }, total: meta.total, has_more: more, end: empty } }",
                .offset(
                    .query("offset"), size: .init(parameter: "limit", value: 100), total: "meta.total",
                    hasMore: "more", end: .empty)
            ),
            (
                "{ page_number: { param: p, start: 0, total_pages: pages, total: total } }",
                .pageNumber(.query("p"), start: 0, totalPages: "pages", total: "total")
            ),
            (
                "{ max_id: { param: max_id, includes_named: true } }",
                .recordCursor(.backward, sends: .query("max_id"), includesNamed: true)
            ),
            (
                "{ since_id: { param: since, id: sort.key, per_page: { count: 200 } } }",
                .recordCursor(
                    .forward, sends: .query("since"), path: "sort.key", size: .init(parameter: "count", value: 200))
            ),
        ])
    func pagination(written: String, pagination: Pagination) throws {
        #expect(try endpoint("    paginate: \(written)").pagination == pagination)
    }

    @Test("a request with a body: its method, its values as JSON has them, and a cursor inside of it")
    func bodies() throws {
        let graph = try endpoint(
            """
                body:
                  query: 'query { items }'
                  variables: { first: 100, after: ~, deep: true, name: '7', kinds: [a, 1.5] }
                paginate: { cursor: { body: variables.after, path: data.next } }
            """)
        #expect(graph.method == "POST")
        #expect(
            graph.body?.text
                == #"{"query":"query { items }","variables":{"first":100,"after":null,"deep":true,"name":"7","kinds":["a",1.5]}}"#
        )
        #expect(graph.pagination == .cursor(path: "data.next", sends: .body(["variables", "after"])))
        let form = try endpoint(
            "    form: { q: a b, page: 1 }\n    paginate: { page_number: { body: page, per_page: { size: 10 } } }")
        #expect(form.method == "POST" && form.body?.text == "q=a%20b&page=1")
        #expect(form.pagination == .pageNumber(.body(["page"]), size: .init(.body(["size"]), 10)))
        #expect(try endpoint("    method: QUERY\n    body: { a: 1 }").method == "QUERY")
        #expect(try endpoint("").method == "GET")
    }

    @Test("where a walk begins again, and how far it goes")
    func restartAndLimit() throws {
        let written = try endpoint(
            "    restart: { param: since, field: updated_at, status: [422, 400], records: 10000 }\n    limit: { pages: 5, records: 100, then: stop }"
        )
        #expect(
            written.deep
                == DeepPages(
                    statuses: [422...422, 400...400], records: 10000, sends: .query("since"), path: "updated_at"))
        #expect(written.limits == Endpoint.Limits(pages: 5, records: 100, stopsQuietly: true))
    }

    @Test(
        "a mistake in how the API is asked is an error with its place",
        arguments: [
            ("pace: { per_second: 0 }", "3:23: api.pace.per_second: expected a number above 0"),
            (
                "pace: { per_secnd: 1 }",
                "3:11: api.pace.per_secnd: unknown key \"per_secnd\": did you mean \"per_second\"?"
            ),
            ("pace: { burst: 5 }", "3:18: api.pace.burst: burst needs per_second"),
            ("pace: { concurrent: 0 }", "3:23: api.pace.concurrent: expected a whole number of at least 1"),
            (
                "pace: { headers: maybe }",
                "3:20: api.pace.headers: unknown use of the server's rate limits \"maybe\": expected one of obey, ignore"
            ),
            ("pace: 10", "3:9: api.pace: expected a mapping (per_second, burst"),
            ("retry: always", "3:10: api.retry: expected a mapping (attempts, first_delay"),
            ("retry: { attempts: 0 }", "3:22: api.retry.attempts: expected a whole number of at least 1"),
            (
                "retry: { first_delay: soon }",
                "3:25: api.retry.first_delay: expected seconds, such as 0.5 or 30, found \"soon\""
            ),
            ("retry: { methods: [post] }", "3:22: api.retry.methods: not a method: write it in upper case"),
            ("responses: { status: 404, then: empty }", "3:14: api.responses: expected a list of rules"),
            ("responses: [{ then: empty }]", "3:15: api.responses[0]: the rule would apply to every response"),
            ("responses: [{ status: 404 }]", "3:15: api.responses[0].then: missing: write then: empty"),
            (
                "responses: [{ status: 4xx, then: empty }]",
                "3:25: api.responses[0].status: expected a status from 200 to 599, or a range such as 500-599, found \"4xx\""
            ),
            ("responses: [{ status: [], then: empty }]", "3:25: api.responses[0].status: missing status"),
            (
                "responses: [{ status: 404, then: skip }]",
                "3:36: api.responses[0].then: unknown action \"skip\": expected one of ignore, fail, retry, empty, stop, refresh_token"
            ),
            ("follow: cdn.example", "3:11: api.follow: not an http or https URL"),
            ("auth: { bearer: { env: A, file: b } }", "3:19: api.auth.bearer: more than one source"),
            ("auth: { bearer: { command: [] } }", "3:30: api.auth.bearer.command: missing program"),
            (
                "auth: { bearer: { file: ~/token } }",
                "3:27: api.auth.bearer.file: ~ is not expanded"
            ),
            (
                "auth: { bearer: { env: A }, basic: { user: a, password: { env: B } } }",
                "3:3: api.auth: expected one of bearer, basic, api_key, oauth2, session, jwt"
            ),
            (
                "auth: { basic: { user: 'a:b', password: { env: P } } }",
                "3:26: api.auth.basic.user: a user name cannot contain a colon"
            ),
            (
                "auth: { basic: { user: a, password: hunter2 } }",
                "3:39: api.auth.basic.password: a secret must not be in this file"
            ),
            (
                "auth: { basic: 'ada:hunter2' }",
                "3:18: api.auth.basic: expected a mapping (user, password), found a text"
            ),
            (
                "auth: { api_key: { key: { env: K } } }",
                "3:11: api.auth.api_key: missing location of the key (header, query or cookie)"
            ),
            (
                "auth: { api_key: { key: { env: K }, query: k, prefix: x } }",
                "3:57: api.auth.api_key.prefix: only a header field can have a prefix"
            ),
            (
                "auth: { api_key: { key: { env: K }, header: 'a b' } }",
                "3:47: api.auth.api_key.header: invalid name of a header field"
            ),
            (
                "auth: { oauth2: { token_url: 'http://a.example/t', client_id: a, client_secret: { env: S } } }",
                "3:32: api.auth.oauth2.token_url: tokens are only requested over https"
            ),
            (
                "auth: { oauth2: { token_url: 'https://a.example/t', client_id: a } }",
                "3:11: api.auth.oauth2.client_secret: missing"
            ),
            (
                "auth: { digest: { env: A } }",
                "3:11: api.auth.digest: not supported: use one of bearer, basic, api_key, oauth2, session, jwt"
            ),
            (
                "auth: { session: { login: /login, json: { password: hunter2 }, token: t } }",
                "3:55: api.auth.session.json.password: a secret must not be in this file"
            ),
            (
                "auth: { session: { login: 'http://id.example/l', token: t } }",
                "3:29: api.auth.session.login: secrets are sent to another server over https only"
            ),
            (
                "auth: { session: { login: /login } }",
                "3:11: api.auth.session.token: missing: write token: access_token"
            ),
            (
                "auth: { session: { login: /l, token: t, auth: { oauth2: {} } } }",
                "3:51: api.auth.session.auth.oauth2: a login has no OAuth 2.0 of its own"
            ),
            (
                "auth: { session: { login: /l, token: { path: a, header: b } } }",
                "3:40: api.auth.session.token: expected one place in the answer to the login"
            ),
            (
                "auth: { session: { login: /l, token: [{ path: a }, { path: b }] } }",
                "3:54: api.auth.session.token[1]: two keys have the same place"
            ),
            (
                "auth: { session: { login: /l, token: { header: 'X: y' } } }",
                "3:50: api.auth.session.token.header: invalid name of a header field"
            ),
            (
                "auth: { jwt: { key: { env: K }, algorithm: RS257 } }",
                "3:46: api.auth.jwt.algorithm: unknown algorithm"
            ),
            (
                "auth: { jwt: { key: { env: K }, key_form: hex } }",
                "3:45: api.auth.jwt.key_form: only a shared key has a form"
            ),
            (
                "auth: { api_key: [{ key: { env: A }, query: a }, { key: { env: B }, query: b }] }",
                "3:52: api.auth.api_key[1]: only one key can be a query parameter"
            ),
        ])
    func apiProblems(lines: String, expected: String) {
        let found = problems(thingDescription(lines, "", "int?"))
        #expect(found.contains { $0.hasPrefix("forge.yaml:\(expected)") }, "\(found)")
        #expect(!found.contains { $0.contains("hunter2") })
    }

    @Test(
        "a mistake in how pages are asked for is an error with its place",
        arguments: [
            ("paginate: cursor", "15:15: endpoints.things.paginate: cursor needs a path and a parameter"),
            (
                "paginate: { cursor: { path: next } }",
                "15:17: endpoints.things.paginate.cursor.param: missing: write param: cursor"
            ),
            (
                "paginate: { cursor: { param: c } }",
                "15:17: endpoints.things.paginate.cursor.path: missing: write path: meta.next"
            ),
            (
                "paginate: { cursor: { path: 'a.*', param: c } }",
                "15:33: endpoints.things.paginate.cursor.path: \"a.*\" is not a path to one value"
            ),
            (
                "paginate: { cursor: { path: a, param: c, body: d } }",
                "15:52: endpoints.things.paginate.cursor.body: it is sent in one place"
            ),
            (
                "paginate: { cursor: { path: a, body: d } }",
                "15:15: endpoints.things.paginate: a GET has no body: write method: POST"
            ),
            (
                "paginate: { offset: { param: o, end: late } }",
                "15:42: endpoints.things.paginate.offset.end: unknown end \"late\": expected one of short, empty"
            ),
            ("paginate: { auto: { a: b } }", "15:17: endpoints.things.paginate.auto: auto has no options"),
            (
                "paginate: { max_id: { param: a, id: $ } }",
                "15:41: endpoints.things.paginate.max_id.id: \"$\" is not a path to one value"
            ),
            (
                "restart: { param: s, field: a }",
                "15:5: endpoints.things.restart: says when with status, records or pages"
            ),
            (
                "restart: { param: s, status: 422 }",
                "15:5: endpoints.things.restart.field: missing: write field: updated_at"
            ),
            (
                "restart: { param: s, field: a, status: 99 }",
                "15:44: endpoints.things.restart.status: expected a status"
            ),
            (
                "restart: { param: s, field: a, status: [] }",
                "15:44: endpoints.things.restart.status: missing status"
            ),
            ("limit: { pages: 0 }", "15:21: endpoints.things.limit.pages: expected a whole number of at least 1"),
            (
                "limit: { then: go }",
                "15:20: endpoints.things.limit.then: unknown end \"go\": expected one of fail, stop"
            ),
            (
                "method: DELETE",
                "15:13: endpoints.things.method: unknown method \"DELETE\": expected one of GET, POST, PUT, QUERY"
            ),
            (
                "body: text",
                "15:11: endpoints.things.body: expected a mapping, which is sent as a JSON object, found \"text\""
            ),
            ("body: { id: '{who}' }", "15:11: endpoints.things.body: no value for {who}"),
        ])
    func endpointProblems(lines: String, expected: String) {
        let text =
            thingDescription("", "", "int?") + "\nendpoints:\n  things:\n    path: /things\n    entity: Thing\n    "
            + lines
        let found = problems(text)
        #expect(found.contains { $0.hasPrefix("forge.yaml:\(expected)") }, "\(found)")
    }
}
