// The server of the library model, in the process: notes in two lists of pages, with faults, delays and
// changes between and during requests.

import Foundation
import Synchronization
import TarnMacros
import TestSupport

/// A note as the server has it.
struct ServerNote: Equatable {
    var title: String
    var rank: Int
    var origin: String?
    var tags: [Int64] = []
    var rev = 0
}

/// The transport of the clients: it waits, fails, loses answers, and otherwise asks the model.
final class LibraryServer: Transport {
    let model: Mutex<LibraryServerModel>
    private let time = Mutex(Date(timeIntervalSince1970: 1_000_000_000))

    init(seed: UInt64, _ rules: LibraryRules) { model = Mutex(LibraryServerModel(seed: seed, rules)) }

    static let base = "https://library.test.example"

    func pass(_ seconds: Double) { time.withLock { $0 += seconds } }
    var now: Date { time.withLock(\.self) }
    var source: TimeSource {
        // No two moments are the same.
        TimeSource(
            now: {
                self.pass(0.00001)
                return self.now
            }, sleep: { try await Task.sleep(for: $0) }, random: { 0.5 })
    }

    func with<Result>(_ body: (inout sending LibraryServerModel) throws -> sending Result) rethrows -> sending Result {
        try model.withLock(body)
    }

    func send(_ request: TransportRequest) async throws(TransportError) -> TransportResponse {
        func failure(_ kind: TransportError.Kind) -> TransportError {
            TransportError(kind, method: request.method, url: request.url, detail: "made failure")
        }
        func pause(_ microseconds: Int) async throws(TransportError) {
            guard microseconds > 0 else { return }
            do { try await Task.sleep(for: .microseconds(microseconds)) } catch { throw failure(.cancelled) }
        }
        let plan = model.withLock { $0.plan(request.method) }
        try await pause(plan.before)
        switch plan.fate {
        case .refused(let status):
            let response = TransportResponse(status: status)
            model.withLock { $0.log(request, response, plan) }
            return response
        case .unreachable: throw failure(.connect)
        case .answered, .cut: break
        }
        let now = now
        let response = model.withLock { model in
            let response = model.answer(request, at: now)
            model.log(request, response, plan)
            if plan.changes { model.change() }
            return response
        }
        try await pause(plan.after)
        if case .cut = plan.fate { throw failure(.cutShort) }
        if Task.isCancelled { throw failure(.cancelled) }
        return response
    }
}

/// The state of the server, and the log of what it has answered.
struct LibraryServerModel {
    /// A page as it was answered.
    struct Served {
        var target: String
        var ids: [Int64]
        /// The number of the answer, in their order.
        var order: Int
        var at: Date
        /// The time until which a cache may answer with it, and until which it may while it asks again.
        var freshUntil: Date, usableUntil: Date
    }

    struct Plan {
        enum Fate { case answered, cut, unreachable, refused(Int) }
        var fate = Fate.answered
        /// Pauses in microseconds before and after the effect.
        var before = 0, after = 0
        /// Whether others change records while the answer is on its way.
        var changes = false
    }

    var notes: [Int64: ServerNote] = [:]
    var lists: [String: [Int64]] = ["a": [], "b": []]
    var tick = 1
    /// Each version that a note has had.
    var history: [Int64: [Int: ServerNote]] = [:]
    var served: [Served] = []
    var order = 0
    /// The requests and their answers, for a finding.
    var requests: [String] = []
    /// The origins that creations have brought, each as often as it had an effect.
    var origins: [String] = []
    /// The notes that deletions of the client have removed.
    var deleted: Set<Int64> = []
    var hasFaults = false, isBusy = false
    let rules: LibraryRules
    private var random: SeededRandom
    private var lastID: Int64 = 0, lastRev = 0
    private var answers: [String: TransportResponse] = [:]

    static let size = 3
    static let tags: [Int64] = [1, 2, 3, 4]

    init(seed: UInt64, _ rules: LibraryRules) {
        random = SeededRandom(seed: seed &* 31 &+ 5)
        self.rules = rules
        for _ in 0..<8 { insert(nil) }
    }

    mutating func plan(_ method: String) -> Plan {
        var plan = Plan()
        guard isBusy else { return plan }
        if random.roll(0..<2) == 0 { plan.before = random.roll(0..<1500) }
        // Answers to reads are overtaken by changes.
        if random.roll(0..<2) == 0 { plan.after = random.roll(0..<(method == "GET" ? 8000 : 1000)) }
        plan.changes = random.roll(0..<8) == 0
        guard hasFaults else { return plan }
        switch random.roll(0..<24) {
        case 0: plan.fate = .cut
        case 1: plan.fate = .unreachable
        case 2: plan.fate = .refused([500, 503, 502][random.roll(0..<3)])
        default: break
        }
        return plan
    }

    mutating func log(_ request: TransportRequest, _ response: TransportResponse, _ plan: Plan) {
        var line = "\(request.method) \(request.url.dropFirst(LibraryServer.base.count))"
        if let body = request.body { line += " " + String(decoding: body, as: UTF8.self) }
        if let match = request.headers["If-Match"] { line += " if \(match)" }
        line += " → \(response.status)"
        if request.url.contains("/notes") { line += " " + String(decoding: response.body, as: UTF8.self) }
        if case .cut = plan.fate { line += " (lost)" }
        requests.append(line)
    }

    // MARK: Changes

    /// A change by another client.
    mutating func change() {
        let ids = notes.keys.sorted()
        guard ids.count > 3 else {
            insert(nil)
            return
        }
        let id = ids[random.roll(0..<ids.count)], name = random.roll(0..<2) == 0 ? "a" : "b"
        switch random.roll(0..<12) {
        case 0...3: edit(id) { $0.title = "other \($0.rev)" }
        case 4: edit(id) { $0.rank = ($0.rank + 1) % 4 }
        case 5:
            let tag = Self.tags[random.roll(0..<Self.tags.count)]
            edit(id) { $0.tags.contains(tag) ? $0.tags.removeAll { $0 == tag } : $0.tags.append(tag) }
        case 6, 7: if ids.count < 16 { insert(nil) }
        case 8: remove(id)
        case 9: lists[name]?.removeAll { $0 == id }
        case 10: place(id, in: name)
        default: tick += 1
        }
    }

    mutating func edit(_ id: Int64, _ change: (inout ServerNote) -> Void) {
        guard var note = notes[id] else { return }
        change(&note)
        lastRev += 1
        note.rev = lastRev
        notes[id] = note
        history[id, default: [:]][note.rev] = note
    }

    @discardableResult
    private mutating func insert(_ new: ServerNote?) -> Int64 {
        lastID += 1
        notes[lastID] = new ?? ServerNote(title: "new \(lastID)", rank: random.roll(0..<4))
        edit(lastID) { _ in }
        for name in ["a", "b"] where name == "a" || random.roll(0..<2) == 0 { place(lastID, in: name) }
        return lastID
    }

    /// Moves a note to another place of a list.
    private mutating func place(_ id: Int64, in name: String) {
        var list = lists[name, default: []].filter { $0 != id }
        list.insert(id, at: random.roll(0..<list.count + 1))
        lists[name] = list
    }

    private mutating func remove(_ id: Int64) {
        notes[id] = nil
        for name in lists.keys { lists[name]?.removeAll { $0 == id } }
    }

    // MARK: Answers

    mutating func answer(_ request: TransportRequest, at now: Date) -> TransportResponse {
        order += 1
        let target = String(request.url.dropFirst(LibraryServer.base.count))
        guard let url = URLComponents(string: target) else { return TransportResponse(status: 400) }
        let query = Dictionary((url.queryItems ?? []).map { ($0.name, $0.value ?? "") }) { $1 }
        let path = url.path.split(separator: "/").map(String.init)
        switch (request.method, path.first, path.count) {
        case ("GET", "lists", 2): return page(request, path[1], Int(query["page"] ?? "") ?? 1, now)
        case ("GET", "cells", 1):
            let cells = (1...5).map { "{\"id\":\($0),\"tick\":\(tick)}" }
            return tagged(request, "[" + cells.joined(separator: ",") + "]", [:])
        case ("GET", "halves", 2):
            return tagged(request, "[{\"id\":\(path[1]),\"batch\":\(query["batch"] ?? "0")}]", [:])
        case ("GET", "notes", 2):
            guard let id = Int64(path[1]), let note = notes[id] else { return TransportResponse(status: 404) }
            var response = tagged(request, json(id, note), [:])
            if rules.hasPreconditions { response.headers["ETag"] = "\"r\(note.rev)\"" }
            guard rules.hasPreconditions, request.headers["If-None-Match"] == "\"r\(note.rev)\"" else {
                return response
            }
            return TransportResponse(status: 304, headers: response.headers)
        default: return effect(request, path)
        }
    }

    private mutating func effect(_ request: TransportRequest, _ path: [String]) -> TransportResponse {
        let key = request.headers["Idempotency-Key"]
        if let key, let known = answers[key] { return known }
        let body = (try? JSONSerialization.jsonObject(with: Data(request.body ?? []))) as? [String: Any] ?? [:]
        let response = carryOut(request, path, body)
        if let key, response.status < 400 { answers[key] = response }
        return response
    }

    private mutating func carryOut(
        _ request: TransportRequest, _ path: [String], _ body: [String: Any]
    ) -> TransportResponse {
        func apply(to note: inout ServerNote) {
            if let title = body["title"] as? String { note.title = title }
            if let rank = body["rank"] as? Int { note.rank = rank }
        }
        if request.method == "POST" {
            var note = ServerNote(title: "", rank: 0, origin: body["origin"] as? String)
            apply(to: &note)
            origins.append(note.origin ?? "none")
            let id = insert(note)
            return changed(id, status: 201)
        }
        guard path.count >= 2, let id = Int64(path[1]), let note = notes[id] else {
            return TransportResponse(status: 404)
        }
        if path.count == 4, let tag = Int64(path[3]) {
            edit(id) { note in
                note.tags.removeAll { $0 == tag }
                if request.method == "PUT" { note.tags.append(tag) }
            }
            return TransportResponse(status: 204)
        }
        if let match = request.headers["If-Match"], match != "\"r\(note.rev)\"" {
            return TransportResponse(status: 412)
        }
        if request.method == "DELETE" {
            remove(id)
            deleted.insert(id)
            return TransportResponse(status: 204)
        }
        edit(id) { apply(to: &$0) }
        return changed(id, status: 200)
    }

    /// The answer to a creation or a change.
    private func changed(_ id: Int64, status: Int) -> TransportResponse {
        guard let note = notes[id] else { return TransportResponse(status: 500) }
        var headers = TransportHeaders([.init("Content-Type", "application/json")])
        if rules.hasPreconditions { headers["ETag"] = "\"r\(note.rev)\"" }
        if status == 201 { headers["Location"] = "/notes/\(id)" }
        guard rules.answersRecord else {
            return TransportResponse(status: status == 201 ? 201 : 204, headers: headers)
        }
        return TransportResponse(status: status, headers: headers, body: Array(json(id, note).utf8))
    }

    private mutating func page(
        _ request: TransportRequest, _ name: String, _ number: Int, _ now: Date
    ) -> TransportResponse {
        let all = lists[name] ?? [], ids = Array(all.dropFirst((number - 1) * Self.size).prefix(Self.size))
        let base = "\(LibraryServer.base)/lists/\(name)?page="
        var links: [String] = []
        if number > 1 { links.append("<\(base)\(number - 1)>; rel=\"prev\"") }
        if all.count > number * Self.size { links.append("<\(base)\(number + 1)>; rel=\"next\"") }
        var fields: [String: String] = [:], fresh = 0.0, usable = 0.0
        switch random.roll(0..<6) {
        case 0: (fields["Cache-Control"], fresh, usable) = ("max-age=30", 30, 30)
        case 1: (fields["Cache-Control"], fresh, usable) = ("max-age=10, stale-while-revalidate=40", 10, 50)
        case 2: fields["Cache-Control"] = "no-cache"
        // A 304 without the field would leave that of an earlier answer.
        default: fields["Cache-Control"] = "max-age=0"
        }
        if !links.isEmpty { fields["Link"] = links.joined(separator: ", ") }
        served.append(
            Served(
                target: "\(name) \(number)", ids: ids, order: order, at: now, freshUntil: now + fresh,
                usableUntil: now + usable))
        let body = "[" + ids.compactMap { id in notes[id].map { json(id, $0) } }.joined(separator: ",") + "]"
        return tagged(request, body, fields)
    }

    private func json(_ id: Int64, _ note: ServerNote) -> String {
        let tags = note.tags.map { "{\"id\":\($0),\"name\":\"tag \($0)\"}" }.joined(separator: ",")
        return "{\"id\":\(id),\"rev\":\(note.rev),\"title\":\"\(note.title)\",\"rank\":\(note.rank),"
            + "\"origin\":\(note.origin.map { "\"\($0)\"" } ?? "null"),\"tags\":[\(tags)]}"
    }

    private func tagged(_ request: TransportRequest, _ body: String, _ fields: [String: String]) -> TransportResponse {
        let text = body + (fields["Link"] ?? "")
        let hash = text.utf8.reduce(UInt64(14_695_981_039_346_656_037)) { ($0 ^ UInt64($1)) &* 1_099_511_628_211 }
        let tag = "\"\(hash)\""
        var headers = TransportHeaders([.init("Content-Type", "application/json"), .init("ETag", tag)])
        for (name, value) in fields { headers[name] = value }
        if request.headers["If-None-Match"] == tag { return TransportResponse(status: 304, headers: headers) }
        return TransportResponse(status: 200, headers: headers, body: Array(body.utf8))
    }
}
