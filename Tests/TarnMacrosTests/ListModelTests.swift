// Random loads of a random list of a server, against a model.

import Foundation
import Synchronization
import TarnMacros
import TestSupport
import Testing

@Suite("Model of a list loader", .timeLimit(.minutes(5)))
struct ListModelTests {
    /// The list as it should be.
    private struct Model {
        var pages: [[Int64]] = []
        /// The numbers of the first and the last page.
        var first = 1, last = 1
        var hasNext = false, isLoaded = false
        /// The records that pages have brought, those of them that the list has or may have, and
        /// those that the complete list lacked.
        var stored: Set<Int64> = [], known: Set<Int64> = [], dropped: Set<Int64> = []

        var ids: [Int64] { pages.flatMap(\.self) }

        /// The items of a query of all records by their keys.
        var local: [Int64] { stored.subtracting(dropped).sorted() }

        mutating func note(_ page: [Int64]) {
            stored.formUnion(page)
            known.formUnion(page)
            dropped.subtract(page)
        }

        /// Notes the end of one load of all pages.
        mutating func judge() {
            guard first == 1, !hasNext else { return }
            dropped.formUnion(known)
            dropped.subtract(ids)
            known = Set(ids)
        }

        mutating func add(_ page: [Int64], before: Bool) {
            for index in pages.indices { pages[index].removeAll { page.contains($0) } }
            pages.insert(page, at: before ? 0 : pages.count)
        }
    }

    private static func page(_ number: Int, of ids: [Int64]) -> [Int64] {
        Array(ids.dropFirst((number - 1) * ListServer.size).prefix(ListServer.size))
    }

    @Test("random loads, changes, failures and restarts give the list of the model", arguments: 0..<12 as Range<UInt64>)
    func model(run: UInt64) async throws {
        let seed = ProcessInfo.processInfo.environment["TARN_TEST_SEED"].flatMap { UInt64($0) } ?? 0x11_57 &+ run
        var random = SeededRandom(seed: seed), model = Model()
        var ids = (1...Int64(random.roll(1..<14))).map { $0 }
        let api = try ListAPI()
        let query = Entry.all.order(by: \.id)
        var list = try await api.client.list(.numbered), local = try await api.client.list(.numbered, local: query)
        func count() -> Int { max(1, (ids.count + ListServer.size - 1) / ListServer.size) }
        func load(_ first: Int, _ pages: Int) {
            var new = Model(isLoaded: true, stored: model.stored, known: model.known, dropped: model.dropped)
            (new.first, new.last) = (first, first - 1)
            for number in first..<(first + max(1, pages)) {
                new.add(Self.page(number, of: ids), before: false)
                new.note(Self.page(number, of: ids))
                new.last = number
                new.hasNext = number < count()
                if !new.hasNext { break }
            }
            new.judge()
            model = new
        }
        for step in 0..<40 {
            switch random.roll(0..<10) {
            case 0: ids.shuffle(using: &random)
            case 1 where !ids.isEmpty: ids.removeLast(random.roll(0..<min(ids.count, 4) + 1))
            case 2: ids.insert(Int64(100 + step), at: random.roll(0..<ids.count + 1))
            default: break
            }
            api.list.set(ids)
            let fails = random.roll(0..<6) == 0, failsLater = random.roll(0..<6) == 0
            if fails { api.list.fail("500 Broken") } else if failsLater { api.list.fail("", "500 Broken") }
            let requests = api.server.requests.count
            var hasFailed = false
            do {
                switch random.roll(0..<8) {
                case 0:
                    try await list.loadFirst()
                    load(1, 1)
                case 1:
                    let start = random.roll(1..<count() + 1)
                    try await list.loadFirst(at: api.server.base + "/number?page=\(start)")
                    load(start, 1)
                case 2, 3:
                    try await list.refresh()
                    load(model.isLoaded ? model.first : 1, model.isLoaded ? model.pages.count : 1)
                case 4:
                    try await list.loadPrevious()
                    if model.isLoaded, model.first > 1 {
                        model.first -= 1
                        model.add(Self.page(model.first, of: ids), before: true)
                        model.note(Self.page(model.first, of: ids))
                    }
                default:
                    try await list.loadNext()
                    if !model.isLoaded {
                        load(1, 1)
                    } else if model.hasNext {
                        model.last += 1
                        model.add(Self.page(model.last, of: ids), before: false)
                        model.note(Self.page(model.last, of: ids))
                        model.hasNext = model.last < count()
                    }
                }
            } catch {
                hasFailed = true
                guard fails || failsLater else { throw error }
                // The second page of a refresh: the first one is in the store, and not in the list.
                if !fails { model.note(Self.page(model.first, of: ids)) }
            }
            // A failure that no request has met is still to come.
            if fails, api.server.requests.count > requests { #expect(hasFailed, "seed \(seed), step \(step)") }
            api.list.fail()
            if random.roll(0..<5) == 0 {
                let client = try ListAPI.client(api.server.base, api.folder)
                list = try await client.list(.numbered)
                local = try await client.list(.numbered, local: query)
            }
            let state = try list.state
            #expect(
                state.ids == model.ids && state.hasNext == model.hasNext && state.isLoaded == model.isLoaded
                    && state.hasPrevious == (model.isLoaded && model.first > 1), "seed \(seed), step \(step)")
            let items = try local.state.ids
            #expect(items == model.local, "seed \(seed), step \(step)")
        }
    }
}
