// The state and the rules of the model API.

import Foundation

/// Items, comments and labels, as a server keeps them.
package struct ModelAPI: Sendable {
    package struct Item: Sendable, Equatable {
        package var title: String
        package var state = "open"
        package var votes: Int?
        package var labels: [Int] = []
        package var version = 1

        package init(title: String) { self.title = title }
    }

    package struct Comment: Sendable, Equatable {
        package var text: String
        package var item: Int
        package var version = 1
    }

    package struct Request: Sendable {
        package var method: String
        package var target: String
        package var fields: [String: String]
        package var body: [UInt8]

        package var text: String { String(decoding: body, as: UTF8.self) }
    }

    package struct Answer: Sendable {
        package var status: Int
        package var fields: [String: String] = [:]
        package var body: [UInt8] = []
        /// Whether the connection is closed without an answer.
        package var isLost = false

        package init(status: Int, fields: [String: String] = [:], body: [UInt8] = []) {
            self.status = status
            self.fields = fields
            self.body = body
        }
    }

    /// A fault of one request.
    package enum Fault: Sendable {
        /// The connection is closed before the request has an effect.
        case dropped
        /// The connection is closed after the request has had its effect.
        case lost
        /// The request has no effect.
        case status(Int, fields: [String: String] = [:], body: String = "")
    }

    /// The form of answers to writes.
    package enum AnswerForm: String, Sendable, CaseIterable {
        /// 200 or 201 with the record.
        case record
        /// 204, or 201 with `Location` and no body.
        case empty
        /// 202 with the record.
        case accepted
    }

    package var items: [Int: Item] = [:]
    package var comments: [Int: Comment] = [:]
    package var labels: [Int: String] = [:]
    package var nextID = 100
    /// Whether a repeated idempotency key repeats the answer instead of the effect.
    package var honoursKeys = true
    package var hasTags = true
    package var form = AnswerForm.record
    /// Returns the fault of a write; nil for none.
    package var fault: @Sendable (Request) -> Fault? = { _ in nil }
    /// Returns the fault of a GET; nil for none.
    package var readFault: @Sendable (Request) -> Fault? = { _ in nil }
    /// The effects in their order: `POST item 100 title=a`.
    package private(set) var effects: [String] = []
    /// The requests in their order.
    package private(set) var requests: [Request] = []
    private var answers: [String: Answer] = [:]

    package init() {}

    package mutating func clearLog() {
        effects = []
        requests = []
    }

    /// Changes an item as another client does.
    package mutating func edit(_ id: Int, _ change: (inout Item) -> Void) {
        guard var item = items[id] else { return }
        change(&item)
        item.version += 1
        items[id] = item
    }

    // MARK: Answers

    package mutating func answer(_ request: Request) -> Answer {
        requests.append(request)
        let isWrite = request.method != "GET"
        let fault = isWrite ? fault(request) : readFault(request)
        var lost = Answer(status: 500)
        lost.isLost = true
        switch fault {
        case .dropped?: return lost
        case .status(let status, let fields, let body)?:
            return Answer(status: status, fields: fields, body: Array(body.utf8))
        case .lost?, nil: break
        }
        var answer: Answer
        let key = isWrite && honoursKeys ? request.fields["idempotency-key"] : nil
        if let key, let known = answers[key] {
            answer = known
        } else {
            answer = effect(of: request)
            if let key, answer.status < 400 { answers[key] = answer }
        }
        if case .lost? = fault { answer.isLost = true }
        return answer
    }

    private mutating func effect(of request: Request) -> Answer {
        let path = request.target.split(separator: "?")[0].split(separator: "/").map(String.init)
        let json = (try? JSONSerialization.jsonObject(with: Data(request.body))) as? [String: Any] ?? [:]
        if json.values.contains(where: { ($0 as? String)?.contains("refuse") == true }) {
            return problem(422, "the text is refused")
        }
        switch (request.method, path.first ?? "", path.count) {
        case ("GET", "items", 1):
            return list(items.keys.sorted().compactMap { object(item: $0) })
        case ("GET", "comments", 1): return list(comments.keys.sorted().compactMap { object(comment: $0) })
        case ("GET", "labels", 1): return list(labels.keys.sorted().compactMap { object(label: $0) })
        case ("POST", "items", 1): return create(json)
        case ("POST", "labels", 1):
            let id = newID()
            labels[id] = json["name"] as? String ?? ""
            return created("label", id, object(label: id), "name=\(labels[id] ?? "")")
        case (_, "items", 2...): return item(request, path, json)
        case (_, "comments", 2): return comment(request, Int(path[1]) ?? 0, json)
        default: return problem(404, "no such resource")
        }
    }

    private mutating func newID() -> Int {
        nextID += 1
        return nextID
    }

    private mutating func create(_ json: [String: Any]) -> Answer {
        guard let title = json["title"] as? String else { return problem(422, "title is missing") }
        let id = json["id"] as? Int ?? newID()
        guard items[id] == nil else { return problem(409, "the item exists") }
        var item = Item(title: title)
        ModelAPI.apply(json, to: &item)
        items[id] = item
        return created("item", id, object(item: id), "title=\(title)")
    }

    private mutating func item(_ request: Request, _ path: [String], _ json: [String: Any]) -> Answer {
        guard let id = Int(path[1]), var item = items[id] else { return problem(404, "no such item") }
        if path.count == 3, path[2] == "comments", request.method == "POST" {
            guard let text = json["text"] as? String else { return problem(422, "text is missing") }
            let comment = newID()
            comments[comment] = Comment(text: text, item: id)
            return created("comment", comment, object(comment: comment), "text=\(text) item=\(id)")
        }
        if path.count == 4, path[2] == "labels", let label = Int(path[3]) {
            guard labels[label] != nil else { return problem(404, "no such label") }
            if request.method == "DELETE", !item.labels.contains(label) { return problem(404, "no such label here") }
            item.labels.removeAll { $0 == label }
            if request.method == "PUT" { item.labels.append(label) }
            item.version += 1
            items[id] = item
            effects.append("\(request.method) item \(id) label \(label)")
            return Answer(status: 204)
        }
        if let refusal = precondition(request, item.version) { return refusal }
        switch request.method {
        case "GET":
            return Answer(status: 200, fields: fields(item.version), body: data(object(item: id) ?? [:]))
        case "PATCH", "PUT":
            ModelAPI.apply(json, to: &item)
            item.version += 1
            items[id] = item
            effects.append("\(request.method) item \(id) " + ModelAPI.summary(json))
            return changed(object(item: id), item.version)
        case "DELETE":
            items[id] = nil
            comments = comments.filter { $0.value.item != id }
            effects.append("DELETE item \(id)")
            return Answer(status: 204)
        default: return problem(405, "no such method")
        }
    }

    private mutating func comment(_ request: Request, _ id: Int, _ json: [String: Any]) -> Answer {
        guard var comment = comments[id] else { return problem(404, "no such comment") }
        if let refusal = precondition(request, comment.version) { return refusal }
        switch request.method {
        case "GET":
            return Answer(status: 200, fields: fields(comment.version), body: data(object(comment: id) ?? [:]))
        case "PATCH":
            comment.text = json["text"] as? String ?? comment.text
            comment.version += 1
            comments[id] = comment
            effects.append("PATCH comment \(id) " + ModelAPI.summary(json))
            return changed(object(comment: id), comment.version)
        case "DELETE":
            comments[id] = nil
            effects.append("DELETE comment \(id)")
            return Answer(status: 204)
        default: return problem(405, "no such method")
        }
    }

    // MARK: Parts

    private static func apply(_ json: [String: Any], to item: inout Item) {
        if let title = json["title"] as? String { item.title = title }
        if let state = json["state"] as? String { item.state = state }
        if let votes = json["votes"] { item.votes = votes as? Int }
    }

    private static func summary(_ json: [String: Any]) -> String {
        json.keys.sorted().map { "\($0)=\(json[$0] is NSNull ? "null" : "\(json[$0] ?? "")")" }.joined(separator: " ")
    }

    private func precondition(_ request: Request, _ version: Int) -> Answer? {
        guard let tag = request.fields["if-match"], tag != "\"v\(version)\"" else { return nil }
        return problem(412, "the version differs")
    }

    private func fields(_ version: Int) -> [String: String] { hasTags ? ["ETag": "\"v\(version)\""] : [:] }

    private func problem(_ status: Int, _ message: String) -> Answer {
        Answer(status: status, body: data(["message": message]))
    }

    private mutating func created(_ kind: String, _ id: Int, _ object: [String: Any]?, _ summary: String) -> Answer {
        effects.append("POST \(kind) \(id) \(summary)")
        if form == .empty { return Answer(status: 201, fields: ["Location": "/\(kind)s/\(id)"]) }
        return Answer(status: form == .accepted ? 202 : 201, fields: fields(1), body: data(object ?? [:]))
    }

    private func changed(_ object: [String: Any]?, _ version: Int) -> Answer {
        if form == .empty { return Answer(status: 204, fields: fields(version)) }
        return Answer(status: form == .accepted ? 202 : 200, fields: fields(version), body: data(object ?? [:]))
    }

    private func list(_ objects: [[String: Any]]) -> Answer { Answer(status: 200, body: data(objects)) }

    private func data(_ value: Any) -> [UInt8] {
        (try? JSONSerialization.data(withJSONObject: value, options: .sortedKeys)).map { Array($0) } ?? []
    }

    private func object(item id: Int) -> [String: Any]? {
        guard let item = items[id] else { return nil }
        return [
            "id": id, "title": item.title, "state": item.state, "votes": item.votes.map { $0 as Any } ?? NSNull(),
            "labels": item.labels.compactMap { object(label: $0) },
        ]
    }

    private func object(comment id: Int) -> [String: Any]? {
        comments[id].map { ["id": id, "text": $0.text, "item_id": $0.item] }
    }

    private func object(label id: Int) -> [String: Any]? { labels[id].map { ["id": id, "name": $0] } }

    // MARK: Description

    /// The description of the API.
    package static func yaml(base: String, write: String = "") -> String {
        """
        store: model.tarn
        api: { base: '\(base)', pace: { concurrent: 4 } }
        entities:
          Item:
            key: id
            url: /items/{id}
            attributes: { id: int, title: string, state: string, votes: int? }
            relationships:
              labels: { to: [Label], ordered: true, inverse: items }
              comments: { to: [Comment], inverse: item }
            write:
              create: { request: POST /items, fields: [title, state, votes] }
              update: 'PATCH /items/{id}'
              delete: 'DELETE /items/{id}'
              relationships:
                labels: { add: 'PUT /items/{id}/labels/{member.id}', remove: 'DELETE /items/{id}/labels/{member.id}' }
              \(write)
          Comment:
            key: id
            url: /comments/{id}
            attributes: { id: int, text: string }
            relationships: { item: { to: Item, from: item_id, inverse: comments } }
            write:
              create: { request: 'POST /items/{item.id}/comments', fields: [text] }
              update: 'PATCH /comments/{id}'
              delete: 'DELETE /comments/{id}'
          Label:
            key: id
            url: /labels/{id}
            attributes: { id: int, name: string }
            relationships: { items: { to: [Item], inverse: labels } }
            write: { create: { request: POST /labels, fields: [name] } }
        endpoints:
          items: { path: /items, entity: Item, paginate: single_page }
          comments: { path: /comments, entity: Comment, paginate: single_page }
          labels: { path: /labels, entity: Label, paginate: single_page }
        """
    }
}
