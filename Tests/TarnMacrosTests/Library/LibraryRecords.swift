// The records of the library model, and the requests for them.

import Foundation
import TarnMacros
import TestSupport

/// A record that both sides write.
@Record("Note") struct LibraryNote: Equatable {
    @Key var id: Int64
    /// A number that grows with each change at the server.
    var rev: Int?
    var title: String
    @Index var rank: Int?
    /// A text that only a creation sets: it finds the creation at the server again.
    var origin: String?
    @Relationship(ordered: true) var tags: References<LibraryTag>

    static func configure(_ mapping: inout EntityMapping) { mapping.version = "rev" }
}

@Record("Tag") struct LibraryTag: Equatable {
    @Key var id: Int64
    var name: String
}

/// A record of a list whose records all have the same tick in each response.
@Record("Cell") struct LibraryCell: Equatable {
    @Key var id: Int64
    var tick: Int
}

/// One of two records that only atomic batches fetch: both have the number of the same batch.
@Record("Half") struct LibraryHalf: Equatable {
    @Key var id: Int64
    var batch: Int
}

/// The policies that a seed draws for its run.
struct LibraryRules: Sendable, CustomStringConvertible {
    var orphans: Orphans?
    var conflicts: ConflictPolicy
    var conflictName: String
    /// The number of responses that the caches keep; nil for all.
    var entries: Int?
    /// Whether the answers to changes have the record.
    var answersRecord: Bool
    var hasPreconditions: Bool

    init(_ random: inout SeededRandom) {
        let policies: [(String, ConflictPolicy)] = [
            ("hold", .perField), ("server", .server), ("client", .client), ("local", .perField(overlap: .local)),
        ]
        (conflictName, conflicts) = policies[random.roll(0..<policies.count)]
        let choice = random.roll(0..<3)
        orphans = choice == 0 ? nil : Orphans(.listed, scans: choice, allowsEmpty: true)
        entries = random.roll(0..<3) == 0 ? 6 : nil
        answersRecord = random.roll(0..<3) > 0
        hasPreconditions = random.roll(0..<3) > 0
    }

    var description: String {
        "conflicts \(conflictName), orphans after \(orphans?.scans ?? 0), \(entries ?? 0) entries, "
            + "records in answers \(answersRecord), preconditions \(hasPreconditions)"
    }

    func list(_ name: String) -> RecordRequest<LibraryNote> {
        let request = RecordRequest<LibraryNote>.get("/lists/{list}", ["list": name]).domain("notes")
        return orphans.map { request.removingOrphans($0) } ?? request
    }

    static func note(_ id: Int64) -> RecordRequest<LibraryNote> { .get("/notes/{id}", ["id": "\(id)"]).domain("notes") }
    static var cells: RecordRequest<LibraryCell> { .get("/cells").domain("cells") }
    static func half(_ id: Int, _ batch: Int) -> RecordRequest<LibraryHalf> {
        .get("/halves/{id}", ["id": "\(id)", "batch": "\(batch)"])
    }

    static var writes: [String: WriteRequests] {
        var create = WriteRequest("POST", "/notes")
        create.fields = ["title", "rank", "origin"]
        var notes = WriteRequests(
            create: create, update: WriteRequest("PATCH", "/notes/{id}"), delete: WriteRequest("DELETE", "/notes/{id}"))
        notes.relationships["tags"] = WriteRequests.MemberRequests(
            add: WriteRequest("PUT", "/notes/{id}/tags/{member.id}"),
            remove: WriteRequest("DELETE", "/notes/{id}/tags/{member.id}"))
        return ["Note": notes]
    }
}
