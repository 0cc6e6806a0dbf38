import Foundation
import Tarn
import TarnInspect

/// Some stored responses with their freshness now, the newest first.
struct ResponsesAnswer: Encodable {
    struct Response: Encodable {
        var id: String, method: String, url: String, status: Int, isFresh: Bool, isInvalidated: Bool
        /// The seconds of the age, of the freshness lifetime, and of what is left of it.
        var age: Int, lifetime: Int, remaining: Int
        var validators: [String]
        var records: Int?
        var bytes: Int, keeper: String
    }

    private static let limit = 100

    var responses: [Response] = []
    /// The id before which the next page begins; nil after the last response.
    var next: String?
    var damages: [String] = []
    /// The number of damages that are not listed.
    var moreDamages = 0

    init(_ inspector: StoreInspector, before id: UInt64?) throws {
        let now = Int(Date().timeIntervalSince1970)
        var responses: [Response] = [], damages = DamageTexts()
        let next = try inspector.responses(
            before: id, limit: Self.limit,
            { id, entry in
                let found = StoredResponse(id, entry, at: now)
                responses.append(
                    Response(
                        id: String(id), method: found.method, url: found.url, status: found.status,
                        isFresh: found.freshness.isFresh && !found.isInvalidated, isInvalidated: found.isInvalidated,
                        age: found.freshness.age, lifetime: found.freshness.lifetime,
                        remaining: found.freshness.remaining, validators: found.validatorTexts, records: found.records,
                        bytes: found.bytes, keeper: found.keeper.rawValue))
            }, damaged: { damages.append($0) })
        (self.responses, self.damages, moreDamages) = (responses, damages.texts, damages.more)
        self.next = next.map { String($0) }
    }
}
