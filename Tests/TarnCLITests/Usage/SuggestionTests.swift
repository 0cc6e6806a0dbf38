// Misspelt names: the nearest one is suggested wherever a name is taken.

import Foundation
import TestSupport
import Testing

@Suite("Command line: suggestions")
struct SuggestionTests {
    @Test(
        "a misspelt command or option is exit 2, and its first line names the nearest one",
        arguments: [
            (["lits"], #"unknown command "lits": did you mean "list"?"#),
            (["helpp"], #"unknown command "helpp": did you mean "help"?"#),
            (["Sync"], #"unknown command "Sync": did you mean "sync"?"#),
            (["inspect", "stta"], #"unknown command "stta": did you mean "stat"?"#),
            (["store", "bakcup", "a", "b"], #"unknown command "bakcup": did you mean "backup"?"#),
            (["store", "salvage", "a", "b"], #"unknown command "salvage": did you mean `tarn inspect salvage`?"#),
            (["verify", "a"], #"unknown command "verify": did you mean `tarn inspect verify`?"#),
            (["inspect", "sync", "a"], #"unknown command "sync": did you mean `tarn sync`?"#),
            (["help", "synk"], #"unknown command "synk": did you mean "sync"?"#),
            (["help", "exitcodes"], #"unknown command "exitcodes": did you mean "exit-codes"?"#),
            (["help", "inspect", "verfy"], #"unknown command "verfy": did you mean "verify"?"#),
            (["list", "Issue", "--fiedls", "number"], #"unknown option "--fiedls": did you mean "--fields"?"#),
            (["sync", "--file", "x", "--refech"], #"unknown option "--refech": did you mean "--refetch"?"#),
            (["list", "Issue", "--wheer=a"], #"unknown option "--wheer": did you mean "--where"?"#),
            (["li\u{1B}[31mst"], #"unknown command "li\u{1B}[31mst": expected one of"#),
        ] as [([String], String)])
    func commandsAndOptions(arguments: [String], message: String) async throws {
        let result = try await tarn(arguments)
        #expect(result.status == 2)
        #expect(result.errorLines.first?.hasPrefix("tarn: \(message)") == true, "\(result.error)")
        #expect(result.output == "" && !result.error.contains("\u{1B}"))
    }

    @Test("the value of an option is no command, and words after -- are none either")
    func values() async throws {
        let result = try await tarn("list", "Issue", "--store", "lits", "--limit", "x")
        #expect(result.errorLines.first?.hasPrefix("tarn: The value 'x' is invalid") == true, "\(result.error)")
        let rest = try await tarn("get", "Issue", "--", "--fiedls", "more")
        #expect(rest.errorLines.first?.hasPrefix("tarn: Unexpected argument 'more'") == true, "\(rest.error)")
    }

    @Test(
        "a misspelt entity, field, relationship or endpoint names the nearest one",
        arguments: [
            (["list", "Isue"], "unknown entity Isue: did you mean Issue?"),
            (["get", "isseu", "1"], "unknown entity isseu: did you mean Issue?"),
            (["list", "Issue", "--fields", "titel"], "Issue has no titel: did you mean title?"),
            (["list", "Issue", "--include", "autor"], "Issue has no autor: did you mean author?"),
            (["list", "Issue", "--where", "titel = a"], #"unknown field "titel": did you mean "title"?"#),
            (["list", "Issue", "--sort", "numbr"], #"unknown field "numbr": did you mean "number"?"#),
            (["count", "Issue", "--by", "sate"], #"unknown field "sate": did you mean "state"?"#),
            (["related", "Issue", "2262018391", "lables"], "Issue has no lables: did you mean labels?"),
            (["changes", "--entity", "Comnent"], "unknown entity Comnent: did you mean Comment?"),
        ] as [([String], String)])
    func names(arguments: [String], message: String) async throws {
        let result = try await tarn(arguments + ["--store", try await Forge.store])
        #expect(result.status == 2, "\(result.error)")
        #expect(result.error.contains(message), "\(result.error)")
    }

    @Test(
        "a misspelt endpoint is exit 2, wherever one is named",
        arguments: [["sync"], ["fetch"], ["check", "--online"]])
    func endpoints(command: [String]) async throws {
        let result = try await tarn(command + ["isues", "--file", Repository.forgeFile])
        #expect(result.status == 2)
        #expect(
            result.error.contains(#"unknown endpoint "isues": did you mean "issues"?"#)
                || result.error.contains("did you mean issues?"), "\(result.error)")
    }
}
