import Foundation
import Hummingbird
import Synchronization

/// A forge of 20,000 issues on pages of 100: each time that it is listed again, all titles have changed.
final class LocalForge: Sendable {
    static let count = 20_000
    private let revision = Atomic(-1)
    /// The pages of two revisions, made before they are asked for: making them must not slow the service beside.
    private let pages: [[ByteBuffer]]

    init() throws {
        let encoder = Self.encoder
        pages = try [0, 1].map { revision in
            try stride(from: 1, through: Self.count, by: 100).map { first in
                let issues = try (first..<first + 100).map { try Self.issue($0, revision, encoder) }
                return ByteBuffer(string: "[" + issues.joined(separator: ",") + "]")
            }
        }
    }


    static func title(_ id: Int, revision: Int) -> String { "Issue number \(id) needs somebody who looks at it, revision \(revision)" }
    static func body(_ id: Int) -> String {
        "The \"body\" of issue \(id).\nIt has several lines, because people write a lot.\n" + String(repeating: "Steps to reproduce it. ", count: 6)
    }

    /// An issue as the service answers it.
    static func answer(_ id: Int, revision: Int = 0) -> IssueAnswer {
        let user = id % 1000 + 1, first = id % 17 + 1, second = id % 11 + 18
        return IssueAnswer(
            id: Int64(id), number: id, title: title(id, revision: revision), body: body(id), state: id % 3 == 0 ? "closed" : "open",
            comments: id % 50, createdAt: start, updatedAt: start.addingTimeInterval(Double(id)), milestone: nil,
            author: UserAnswer(
                id: Int64(user), login: "user-\(user)", name: "User number \(user)", avatarUrl: "https://avatars.forge.example/u/\(user)"),
            labels: [first, second].map { LabelAnswer(id: Int64($0), name: "label-\($0)", color: "f29513") })
    }

    private static let start = Date(timeIntervalSince1970: 1_767_225_600)

    /// An issue as the forge lists it.
    private static func issue(_ id: Int, _ revision: Int, _ encoder: JSONEncoder) throws -> String {
        String(decoding: try encoder.encode(answer(id, revision: revision)), as: UTF8.self).replacing("\"author\":", with: "\"user\":")
    }

    private static var encoder: JSONEncoder {
        let encoder = JSONEncoder()
        encoder.keyEncodingStrategy = .convertToSnakeCase
        encoder.dateEncodingStrategy = .iso8601
        return encoder
    }

    func application(port: Int) -> some ApplicationProtocol {
        let router = Router()
        router.get("repos/acme/anvil/issues") { [self] request, _ in
            let page = request.uri.queryParameters.get("page", as: Int.self) ?? 1
            let revision =
                page == 1 ? revision.add(1, ordering: .relaxed).newValue : revision.load(ordering: .relaxed)
            guard page > 0, page <= pages[0].count else { throw HTTPError(.notFound) }
            var headers: HTTPFields = [.contentType: "application/json"]
            if page < pages[0].count, let link = HTTPFields.Element.Name("Link") {
                headers[link] = "<http://127.0.0.1:\(port)/repos/acme/anvil/issues?per_page=100&page=\(page + 1)>; rel=\"next\""
            }
            return Response(status: .ok, headers: headers, body: .init(byteBuffer: pages[revision & 1][page - 1]))
        }
        return Application(router: router, configuration: .init(address: .hostname("127.0.0.1", port: port)))
    }
}
