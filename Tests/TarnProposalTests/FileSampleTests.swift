// Proposals for files: what one answer tells without its URL and its header fields.

import Foundation
import Tarn
import TestSupport
import Testing

@testable import TarnProposal

@Suite("Proposals for files")
struct FileSampleTests {
    private func proposal(_ body: String) throws -> Proposal {
        let folder = try TemporaryFolder()
        return try Proposal([try Sampler.sample(file: try folder.write("things.json", body))])
    }

    /// An answer with two records, and members beside them.
    private static func page(_ members: String) -> String {
        #"{"things":[{"id":1,"name":"a"},{"id":2,"name":"b"}],\#(members)}"#
    }

    @Test(
        "the link to a next page is followed, as a sync would require",
        arguments: [
            (#""next":"https://api.example.org/things?page=2""#, "next"),
            (#""links":{"self":"/things","next":"?page=2"}"#, "links.next"),
            (#""search_metadata":{"count":2,"next_results":"?max_id=9&q=x"}"#, "search_metadata.next_results"),
        ])
    func links(members: String, path: String) throws {
        let proposal = try proposal(Self.page(members))
        #expect(proposal.text.contains("paginate: { json_link: { path: '\(path)' } }"), "\(proposal.text)")
        #expect(!proposal.text.contains("nothing in the answer"))
    }

    @Test(
        "a cursor or a number is a guess, since nothing was requested: tarn init says so",
        arguments: [
            (#""meta":{"next_cursor":"abc"}"#, "{ cursor: { path: meta.next_cursor, param: cursor } }"),
            (#""total":9,"page":1"#, "{ page_number: { param: page, total: total } }"),
        ])
    func guesses(members: String, style: String) throws {
        let proposal = try proposal(Self.page(members))
        #expect(proposal.text.contains("paginate: \(style)"), "\(proposal.text)")
        #expect(proposal.uncertain.contains { $0.contains("A file does not show") }, "\(proposal.uncertain)")
    }

    @Test("a sign without a style is UNCERTAIN, with the styles that may be right as comments")
    func sign() throws {
        let proposal = try proposal(Self.page(#""has_more":true"#))
        #expect(proposal.text.contains("paginate: single_page   # UNCERTAIN"), "\(proposal.text)")
        #expect(proposal.uncertain.contains { $0.contains("has_more is true") }, "\(proposal.uncertain)")
        #expect(proposal.text.contains("{ page_number: { param: page"))
    }

    @Test("without a sign, the reason names what a file lacks, and nothing is uncertain")
    func whole() throws {
        for body in [Self.page(#""total":2,"has_more":false,"next":null"#), #"[{"id":1},{"id":2}]"#] {
            let proposal = try proposal(body)
            #expect(proposal.text.contains("paginate: single_page\n"), "\(proposal.text)")
            #expect(proposal.text.contains("and a file has no header fields"))
            #expect(proposal.uncertain == [], "\(proposal.uncertain)")
        }
    }
}
