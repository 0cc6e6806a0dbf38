// The claims of a drain: operations that can be sent, after conflicts are decided.

import Foundation
import TarnStore

extension OutboxDrain {
    /// Claims operations that can be sent, from the front of the queue, as many as wanted of each
    /// API.
    ///
    /// - Parameters:
    ///   - ended: the operations whose attempts this write applies.
    ///   - checksEach: whether unique values are checked after each operation.
    /// - Throws: `UnclaimableOperation` if each is checked; the errors of the store.
    func claim(
        _ demand: OutboxDemand, after ended: [SentOperation], checksEach: Bool, _ effects: inout Effects,
        _ writer: inout StoreWriter
    ) throws {
        var ready: [(OutboxOperation, OpenConflict?)] = [], seen: Set<UInt64> = []
        let known = state.withLock(\.claimed), now = client.now
        var left = left(of: demand, without: effects.claimed)
        let size = max(16, left.values.reduce(0, +))
        forgetClear(after: ended)
        noteDead(try writer.outbox.counts.dead)
        // Those of this pass that are under way need no look.
        let underWay = known.subtracting(ended.map(\.operation.id))
        var revision = try writer.outbox.revision
        let front = state.withLock(\.front)
        var start = beginning(for: left.keys, front), last = start, isFirst = start == front, isWhole = false
        while !left.isEmpty {
            // The APIs that are left have nothing before this.
            if !isWhole { last = max(last, beginning(for: left.keys, front)) }
            let window = try writer.outbox.window(limit: size, after: last, now: now, without: underWay)
            if isFirst { noteFront(before: window.first?.operation.id, underWay) }
            isFirst = false
            for entry in window where !left.isEmpty {
                last = entry.operation.id
                let api = outbox.api(ofEntity: entry.operation.entity)
                guard let room = left[api] else { continue }
                noteAwaited(entry.waitsFor, by: api)
                guard entry.isReady, !known.contains(last) || entry.operation.state == .pending else { continue }
                guard seen.insert(last).inserted else { continue }
                let found = try prepared(entry.operation, checks: checksEach, &effects, &writer)
                guard let (operation, conflict) = found else { continue }
                ready.append((operation, conflict))
                left[api] = room > 1 ? room - 1 : nil
            }
            guard window.count < size, !left.isEmpty else { continue }
            noteClear(Set(left.keys), upTo: last)
            // A decided conflict may have ended the wait of a later operation.
            let changed = try writer.outbox.revision
            // Before the pass ends, those in front are read again: another process may have queued
            // a dead one anew.
            if changed == revision, start == 0 || !underWay.isEmpty { break }
            (revision, last, start, isWhole) = (changed, 0, 0, true)
        }
        for (operation, conflict) in ready {
            guard let operation = try writer.claimOperation(operation, at: now) else { continue }
            let wasRead = state.withLock { $0.read.contains(operation.id) }
            effects.claimed.append(
                ClaimedOperation(
                    operation: operation, conflict: conflict, wasRead: wasRead,
                    seen: try writer.outbox.conflictingValues(of: operation)))
        }
    }

    /// The numbers of operations by API that are still to be claimed.
    private func left(of demand: OutboxDemand, without claimed: [ClaimedOperation]) -> [String: Int] {
        var left = demand.wanted, waiting = state.withLock(\.waiting)
        for one in claimed { left[outbox.api(ofEntity: one.operation.entity), default: 0] -= 1 }
        waiting.formUnion(left.keys.filter { left[$0, default: 0] <= 0 })
        return left.filter { !waiting.contains($0.key) }
    }

    /// The operation after which claims for APIs begin.
    private func beginning(for apis: some Sequence<String>, _ front: UInt64) -> UInt64 {
        state.withLock { state in apis.map { max(front, state.clear[$0] ?? 0) }.min() ?? front }
    }

    /// Notes the number of dead operations: fewer than before may mean that one was queued anew.
    private func noteDead(_ count: Int) {
        state.withLock { state in
            if count < state.dead { (state.clear, state.awaited) = ([:], [:]) }
            state.dead = count
        }
    }

    /// Notes that APIs have no operation up to one that can be sent: each claim would read all
    /// those of the others.
    private func noteClear(_ apis: Set<String>, upTo last: UInt64) {
        state.withLock { state in
            for api in apis { state.clear[api] = max(state.clear[api] ?? 0, last) }
        }
    }

    /// Notes the operations that an operation of an API waits for.
    private func noteAwaited(_ waits: [OutboxQueueEntry.Wait], by api: String) {
        guard !waits.isEmpty else { return }
        state.withLock { state in
            for wait in waits { state.awaited[wait.operation, default: []].insert(api) }
        }
    }

    /// Once a second, all operations are looked at again: a back-off may have ended.
    ///
    /// - Parameter ended: the operations whose waits end with this write.
    private func forgetClear(after ended: [SentOperation]) {
        state.withLock { state in
            for sent in ended {
                state.forgetClear(after: sent.operation.id, of: outbox.api(ofEntity: sent.operation.entity))
            }
            guard state.clearedAt.duration(to: .now) > .seconds(1) else { return }
            (state.clear, state.awaited, state.clearedAt) = ([:], [:], .now)
        }
    }

    /// Notes that later claims need not look at the operations before the first one that is not
    /// dead: after many refusals, each claim would read all dead ones in front.
    private func noteFront(before first: UInt64?, _ underWay: Set<UInt64>) {
        guard let open = [first, underWay.min()].compactMap({ $0 }).min(), open > 0 else { return }
        state.withLock { $0.front = max($0.front, open - 1) }
    }

    /// Prepares an operation, and checks unique values if that is wanted.
    private func prepared(
        _ operation: OutboxOperation, checks: Bool, _ effects: inout Effects, _ writer: inout StoreWriter
    ) throws -> (OutboxOperation, OpenConflict?)? {
        guard checks else { return try prepared(operation, &effects, &writer) }
        do {
            let found = try prepared(operation, &effects, &writer)
            try writer.checkUnique()
            return found
        } catch let error where OutboxDrain.isAnswers(error) {
            throw UnclaimableOperation(operation: operation, reason: error)
        }
    }

    /// Prepares an operation for its attempt: its request is declared, and conflicts are decided.
    ///
    /// - Returns: nil if it is not sent now.
    private func prepared(
        _ operation: OutboxOperation, _ effects: inout Effects, _ writer: inout StoreWriter
    ) throws -> (OutboxOperation, OpenConflict?)? {
        guard !isWaiting(operation) else { return nil }
        // The operations of another API in the same store are not this outbox's.
        let builder = outbox.builder(writer.access)
        guard let requests = builder.requests(of: operation.entity) else { return nil }
        guard requests.request(for: operation) != nil else {
            let error = WriteError.noRequest(entity: operation.entity, operation: requests.declaration(of: operation))
            let failure = OutboxFailure(kind: "request", message: error.description, at: client.now)
            try refuse(operation, failure, &effects, &writer)
            return nil
        }
        let waits = try builder.waits(of: operation.id)
        noteAwaited(waits, by: outbox.api(ofEntity: operation.entity))
        guard waits.isEmpty else { return nil }
        let isRefused = operation.failure?.kind == "conflict"
        let server = try serverValues(of: operation, &writer)
        let unordered = server.isEmpty ? [] : writer.access.catalog.unorderedLists(of: operation.entity)
        var operation = operation
        try fitToRequest(&operation, &effects, &writer)
        if operation.kind == .update, !server.isEmpty {
            operation.changes = ConflictDecision.based(
                operation.changes, on: server, try writer.outbox.valuesBeforeRefused(of: operation.id),
                unordered: unordered)
        }
        switch (operation.kind, policy(of: operation, writer.access)) {
        case (.update, .rule(let rule)):
            let decision = ConflictDecision.decide(rule, operation.changes, server: server, unordered: unordered)
            if decision != .send { effects.report.conflicts += 1 }
            return try carryOut(decision, operation, &effects, &writer).map { ($0, nil) }
        case (.update, .code(let code)):
            let differs =
                ConflictDecision.decide(.client, operation.changes, server: server, unordered: unordered) != .send
            guard differs || isRefused else { return (operation, nil) }
            if isSettled(operation, server, unordered) {
                return try carryOut(.replace([]), operation, &effects, &writer).map { ($0, nil) }
            }
            return (operation, try conflict(operation, server, code, &writer))
        case (.delete, .rule(let rule)) where isRefused:
            effects.report.conflicts += 1
            switch rule {
            case .client, .perField(.local): return (operation, nil)
            case .server, .perField(.server):
                return try carryOut(.withdraw, operation, &effects, &writer).map { ($0, nil) }
            case .perField(.hold):
                // Without earlier changes that have not reached the server.
                let base = try writer.outbox.serverRecord(ofDeletion: operation.id, takingServer: false)?.record
                let fields = server.filter { name, value in
                    !value.isSame(as: base?[name] ?? .null, isUnordered: unordered.contains(name))
                }.keys.sorted()
                if fields.isEmpty { return (operation, nil) }
                return try carryOut(.hold([], fields: fields), operation, &effects, &writer).map { ($0, nil) }
            }
        case (.delete, .code(let code)) where isRefused:
            return (operation, try conflict(operation, server, code, &writer))
        default: return (operation, nil)
        }
    }

    /// Fits a creation or an update to the request that the description declares now.
    ///
    /// Fields that the request does not send stay local changes. An update without any other field
    /// is refused when its request is built. A creation gets the names of the fields that it sends:
    /// those of an earlier attempt, if that may have arrived.
    func fitToRequest(
        _ operation: inout OutboxOperation, _ effects: inout Effects, _ writer: inout StoreWriter
    ) throws {
        let builder = outbox.builder(writer.access)
        // A record that the server has created is only read.
        guard operation.kind == .create || operation.kind == .update, operation.location == nil,
            let entity = writer.access.catalog.entity(operation.entity),
            var request = builder.requests(of: operation.entity)?.request(for: operation)?.request,
            request.content(for: operation.kind) != .none
        else { return }
        // The sender of an operation that is `sending` was killed.
        if operation.mayHaveArrived || operation.state == .sending { request = request.repeating(operation) }
        let names = operation.changes.map(\.name)
        var unsent: [UnsentField]
        // A wrong declaration is refused when the request is built, too.
        do {
            unsent = try builder.unsent(names, operation.kind, request, entity)
            if operation.kind == .create {
                operation.sentFields = try builder.sentFields(of: operation, request, entity)
            }
        } catch { return }
        let sentFields = operation.sentFields
        if operation.kind == .create {
            try sendDeclaredFields(of: operation, names, unsent, &writer)
            let left = unsent.isEmpty ? [] : fieldsLeftOut(of: operation, names, builder)
            unsent.removeAll { left.contains($0.name) }
        }
        guard !unsent.isEmpty, operation.kind == .create || unsent.count < names.count,
            let changed = try writer.keepLocal(Set(unsent.map(\.name)), ofOperation: operation.id)
        else { return }
        operation = changed
        operation.sentFields = sentFields
        for field in unsent { effects.report.note(operation, unsent: field, at: client.now) }
    }

    /// Sends the fields of a creation that were to stay local changes, if its request has them now.
    ///
    /// A creation that may have reached the server stays as it was sent.
    private func sendDeclaredFields(
        of creation: OutboxOperation, _ names: [String], _ unsent: [UnsentField], _ writer: inout StoreWriter
    ) throws {
        guard creation.state == .pending, !creation.mayHaveArrived else { return }
        let sent = Set(creation.unsent).intersection(names).subtracting(unsent.map(\.name))
        if !sent.isEmpty { try writer.sendFields(sent, ofCreation: creation.id) }
    }

    /// Returns the fields that a creation did not send when it was queued: local changes, and the
    /// fields of a struct that are left to the server.
    ///
    /// Entries of earlier versions do not have the latter. All fields that the description still
    /// declares count as such then.
    private func fieldsLeftOut(
        of creation: OutboxOperation, _ names: [String], _ builder: WriteMessageBuilder
    ) -> Set<String> {
        let left = creation.serverFields.map { Set($0) }
        return Set(creation.unsent).union(
            left ?? Set(names).subtracting(builder.undeclared(of: creation.entity)))
    }

    /// Carries out a decision.
    ///
    /// - Returns: the operation if it is to be sent.
    func carryOut(
        _ decision: ConflictDecision, _ operation: OutboxOperation, _ effects: inout Effects,
        _ writer: inout StoreWriter
    ) throws -> OutboxOperation? {
        let id = operation.id
        switch decision {
        case .send: return operation
        case .replace(let changes):
            var isAtServer = false
            let server = try serverValues(of: operation, &writer)
            let unordered = writer.access.catalog.unorderedLists(of: operation.entity)
            noteWithdrawal(of: operation, keeping: changes, server, unordered, &effects)
            if changes.isEmpty {
                isAtServer = isSettled(operation, server, unordered)
                if isAtServer { try writer.dropOvertakenChanges(by: id) }
            }
            guard let next = try writer.replaceChanges(ofOperation: id, changes) else {
                effects.ended.insert(id)
                if isAtServer { effects.report.sent += 1 } else { effects.report.withdrawn += 1 }
                return nil
            }
            return operation.state == .sending ? try writer.claimOperations([next.id], at: client.now).first : next
        case .withdraw:
            let server = try serverValues(of: operation, &writer)
            noteWithdrawal(of: operation, server, writer.access.catalog.unorderedLists(of: operation.entity), &effects)
            try writer.discardOperation(id, evenIfSending: true)
            effects.ended.insert(id)
            effects.report.withdrawn += 1
            return nil
        case .hold(let changes, let fields):
            if operation.kind == .update { try writer.replaceChanges(ofOperation: id, changes) }
            let failure = OutboxFailure(
                kind: "conflict", status: operation.failure?.status,
                message: "changed both here and at the server: \(fields.joined(separator: ", ")); "
                    + "retry to send the local values, or discard to take the server's",
                at: client.now)
            try refuse(operation, failure, &effects, &writer)
            return nil
        case .failed(let message):
            let failure = OutboxFailure(
                kind: "conflict", message: message.printable(OutboxFailure.longestText), at: client.now)
            try refuse(operation, failure, &effects, &writer)
            return nil
        }
    }

    // MARK: Conflicts

    func policy(of operation: OutboxOperation, _ access: StoreAccess) -> ConflictPolicy.Decision {
        outbox.builder(access).requests(of: operation.entity)?.conflicts.map { .rule($0) } ?? outbox.policy.decision
    }

    func serverValues(
        of operation: OutboxOperation, _ writer: inout StoreWriter
    ) throws -> [String: Value] {
        guard operation.kind == .update || operation.kind == .delete else { return [:] }
        return try serverValues(of: operation.entity, operation.key, &writer)
    }

    /// The server's values of changed fields, as far as responses have brought them.
    func serverValues(
        of entity: String, _ key: RecordKey, _ writer: inout StoreWriter
    ) throws -> [String: Value] {
        let change = try writer.reader().localChange(entity, key)
        return Dictionary(change?.server.map { ($0.name, $0.value) } ?? []) { $1 }
    }

    func conflict(
        _ operation: OutboxOperation, _ server: [String: Value], _ resolution: @escaping ConflictPolicy.Resolution,
        _ writer: inout StoreWriter
    ) throws -> OpenConflict {
        let empty = Record(entity: operation.entity, key: operation.key, fields: [])
        let stored = try writer.reader().record(operation.entity, operation.key)
        let local = stored ?? operation.deleted ?? empty
        var base = local, remote = local
        for change in operation.changes { base.set(change.name, change.before) }
        for (name, value) in server { remote.set(name, value) }
        for change in operation.changes where server[change.name] == nil { remote.set(change.name, change.before) }
        return OpenConflict(base: base, local: local, remote: remote, resolution: resolution, kind: operation.kind)
    }
}
