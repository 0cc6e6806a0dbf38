import Foundation
import Hummingbird
import Synchronization

/// A forge of 20,000 issues on pages of 100: each time that it is listed again, all titles have changed.
final class LocalForge: Sendable {
    static let count = 20_000
    private let revision = Atomic(-1)

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
            let first = (page - 1) * 100 + 1, last = min(page * 100, Self.count)
            var headers: HTTPFields = [.contentType: "application/json"]
            if last < Self.count, let link = HTTPField.Name("Link") {
                headers[link] = "<http://127.0.0.1:\(port)/repos/acme/anvil/issues?per_page=100&page=\(page + 1)>; rel=\"next\""
            }
            let encoder = Self.encoder
            let text = "[" + (try (first...last).map { try Self.issue($0, revision, encoder) }.joined(separator: ",")) + "]"
            return Response(status: .ok, headers: headers, body: .init(byteBuffer: ByteBuffer(string: text)))
        }
        return Application(router: router, configuration: .init(address: .hostname("127.0.0.1", port: port)))
    }
}
