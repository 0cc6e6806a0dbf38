// The requests of a specification: credentials in the header field Authorization, lists of values as
// one text, and cookies.

import Tarn
import Testing

@testable import TarnProposal

@Suite("Requests of a specification")
struct SpecificationRequestTests {
    /// Returns the proposal of a list with a security scheme and parameters, as JSON.
    private func proposal(scheme: String = "{}", parameters: String = "") throws -> Proposal {
        let get = TestSpecification.get(TestSpecification.list("Item"), parameters)
        let text =
            #"{"openapi":"3.0.3","info":{"title":"Shop","version":"1"},"servers":[{"url":"https://a.example"}],"#
            + #""paths":{"/items":\#(get)},"components":{"securitySchemes":{"key":\#(scheme)},"#
            + #""schemas":{"Item":\#(TestSpecification.item["Item"] ?? "")}}}"#
        return try Proposal([], specification: try OpenAPIDocument(Array(text.utf8), name: "openapi.json"))
    }

    @Test(
        "the word before a key in Authorization is the one that the description of the scheme quotes, else Bearer",
        arguments: [
            (
                #"Token-based authentication with required prefix \"Token\""#,
                "{ api_key: { key: { env: SHOP_KEY }, header: Authorization, prefix: 'Token ' } }", false
            ),
            (
                "Send `ApiKey <your key>`",
                "{ api_key: { key: { env: SHOP_KEY }, header: Authorization, prefix: 'ApiKey ' } }", false
            ),
            (
                "Authorization: JWT <your token>",
                "{ api_key: { key: { env: SHOP_KEY }, header: Authorization, prefix: 'JWT ' } }", false
            ),
            ("The Bearer of your account", "{ bearer: { env: SHOP_TOKEN } }", false),
            ("The API Token of your account", "{ bearer: { env: SHOP_TOKEN } }", true),
        ])
    func word(description: String, auth: String, isDoubtful: Bool) throws {
        let text = try proposal(
            scheme: #"{"type":"apiKey","in":"header","name":"Authorization","description":"\#(description)"}"#
        ).text
        #expect(text.contains("auth: \(auth)"), "\(text)")
        #expect(text.contains("does not say what is") == isDoubtful, "\(text)")
    }

    @Test(
        "the values of a list are joined as the style of the parameter says",
        arguments: [
            (#","style":"pipeDelimited""#, "ids: 'a|b'"), (#","style":"spaceDelimited","explode":false"#, "ids: a b"),
            (#","explode":false"#, "ids: 'a,b'"), (#","style":"pipeDelimited","explode":true"#, "ids: [a, b]"),
            ("", "ids: [a, b]"),
        ])
    func joined(style: String, expected: String) throws {
        let schema = #"{"type":"array","items":{"type":"string"}}"#
        let text = try proposal(
            parameters: TestSpecification.query("ids", schema, #","required":true,"example":["a","b"]\#(style)"#)
        ).text
        #expect(text.contains("\(expected)\n") || text.contains("{ \(expected) }"), "\(text)")
    }

    @Test("a required cookie is named, unless it is the credential")
    func cookie() throws {
        let cookie = #"{"name":"session","in":"cookie","required":true,"schema":{"type":"string"}}"#
        let uncertain = try proposal(parameters: cookie).uncertain
        #expect(uncertain.count == 1 && uncertain[0].contains("`session` is a required cookie"), "\(uncertain)")
        let scheme = #"{"type":"apiKey","in":"cookie","name":"session"}"#
        #expect(try proposal(scheme: scheme, parameters: cookie).uncertain == [])
    }

    @Test("without a scheme of the whole API, the one that most lists require is the credential")
    func ofOperations() throws {
        func list(_ security: String) -> String {
            TestSpecification.get(TestSpecification.list("Item")).replacing(
                #""get":{"#, with: #""get":{"security":\#(security),"#)
        }
        let schemes =
            #"{"a":{"type":"http","scheme":"bearer"},"k":{"type":"apiKey","in":"query","name":"key"},"#
            + #""d":{"type":"apiKey","in":"header","name":"X-App"}}"#
        func text(_ paths: [String], _ security: String = "[]") throws -> String {
            let items = paths.enumerated().map { "\"/items\($0)\":\(list($1))" }.joined(separator: ",")
            let text =
                #"{"openapi":"3.0.3","info":{"title":"Shop","version":"1"},"servers":[{"url":"https://a.example"}],"#
                + #""security":\#(security),"paths":{\#(items)},"components":{"securitySchemes":\#(schemes),"#
                + #""schemas":{"Item":\#(TestSpecification.item["Item"] ?? "")}}}"#
            return try Proposal([], specification: try OpenAPIDocument(Array(text.utf8), name: "openapi.json")).text
        }
        let mixed = [#"[{"a":[]}]"#, #"[{"k":[],"d":[]}]"#, #"[{"k":[],"d":[]}]"#, "[]"]
        let key = try text(mixed)
        let keys = "api_key: [{ key: { env: SHOP_KEY }, query: key }, { key: { env: SHOP_X_APP }, header: X-App }]"
        #expect(key.contains(keys), "\(key)")
        #expect(key.contains("by the schemes k and d, which are needed together"), "\(key)")
        #expect(try text(mixed, #"[{"a":[]}]"#).contains("auth: { bearer:"))
        #expect(try text(["[]"]).contains("auth: { bearer:"))
    }
}
