// Authors and labels with all their fields, as included with issues.

import Tarn

/// The values of the peer's `User`.
struct TarnAuthor: StoredRecord {
    static let entity = "User"
    typealias Key = Int64
    enum Field: Int, RecordField {
        case id, login, nodeId, avatarUrl, gravatarId, url, htmlUrl, followersUrl, followingUrl, gistsUrl, starredUrl
        case subscriptionsUrl, organizationsUrl, reposUrl, eventsUrl, receivedEventsUrl, type, siteAdmin
    }

    var id: Int64
    var login: String
    var nodeId: String
    var avatarUrl: String
    var gravatarId: String
    var url: String
    var htmlUrl: String
    var followersUrl: String
    var followingUrl: String
    var gistsUrl: String
    var starredUrl: String
    var subscriptionsUrl: String
    var organizationsUrl: String
    var reposUrl: String
    var eventsUrl: String
    var receivedEventsUrl: String
    var type: String
    var siteAdmin: Bool

    func encode(into row: inout RowEncoder<TarnAuthor>) {
        row.set(.id, id)
        row.set(.login, login)
        row.set(.nodeId, nodeId)
        row.set(.avatarUrl, avatarUrl)
        row.set(.gravatarId, gravatarId)
        row.set(.url, url)
        row.set(.htmlUrl, htmlUrl)
        row.set(.followersUrl, followersUrl)
        row.set(.followingUrl, followingUrl)
        row.set(.gistsUrl, gistsUrl)
        row.set(.starredUrl, starredUrl)
        row.set(.subscriptionsUrl, subscriptionsUrl)
        row.set(.organizationsUrl, organizationsUrl)
        row.set(.reposUrl, reposUrl)
        row.set(.eventsUrl, eventsUrl)
        row.set(.receivedEventsUrl, receivedEventsUrl)
        row.set(.type, type)
        row.set(.siteAdmin, siteAdmin)
    }
}

/// With all members at once: filled one by one, a struct is copied when it is complete, and each of
/// its texts with it.
extension TarnAuthor {
    init(_ row: Row<TarnAuthor>) throws(StoreError) {
        try self.init(
            id: row.get(.id), login: row.get(.login), nodeId: row.get(.nodeId), avatarUrl: row.get(.avatarUrl),
            gravatarId: row.get(.gravatarId), url: row.get(.url), htmlUrl: row.get(.htmlUrl),
            followersUrl: row.get(.followersUrl), followingUrl: row.get(.followingUrl), gistsUrl: row.get(.gistsUrl),
            starredUrl: row.get(.starredUrl), subscriptionsUrl: row.get(.subscriptionsUrl),
            organizationsUrl: row.get(.organizationsUrl), reposUrl: row.get(.reposUrl), eventsUrl: row.get(.eventsUrl),
            receivedEventsUrl: row.get(.receivedEventsUrl), type: row.get(.type), siteAdmin: row.get(.siteAdmin))
    }
}

/// The values of the peer's `Label`.
struct TarnLabel: StoredRecord {
    static let entity = "Label"
    typealias Key = Int64
    enum Field: Int, RecordField { case id, nodeId, url, name, color, isDefault, description }

    var id: Int64
    var nodeId: String
    var url: String
    var name: String
    var color: String
    var isDefault: Bool
    var description: String?

    func encode(into row: inout RowEncoder<TarnLabel>) {
        row.set(.id, id)
        row.set(.nodeId, nodeId)
        row.set(.url, url)
        row.set(.name, name)
        row.set(.color, color)
        row.set(.isDefault, isDefault)
        row.set(.description, description)
    }
}

/// With all members at once: filled one by one, a struct is copied when it is complete, and each of
/// its texts with it.
extension TarnLabel {
    init(_ row: Row<TarnLabel>) throws(StoreError) {
        try self.init(
            id: row.get(.id), nodeId: row.get(.nodeId), url: row.get(.url), name: row.get(.name), color: row.get(.color),
            isDefault: row.get(.isDefault), description: row.get(.description))
    }
}

extension TarnAuthor: Checked {
    var checksum: Int64 {
        id &+ (siteAdmin ? 1 : 0)
            &+ [
                login, nodeId, avatarUrl, gravatarId, url, htmlUrl, followersUrl, followingUrl, gistsUrl, starredUrl,
                subscriptionsUrl, organizationsUrl, reposUrl, eventsUrl, receivedEventsUrl, type,
            ].reduce(Int64(0)) { $0 &+ Int64($1.utf8.count) }
    }
}

extension TarnLabel: Checked {
    var checksum: Int64 {
        id &+ (isDefault ? 1 : 0)
            &+ [nodeId, url, name, color, description ?? ""].reduce(Int64(0)) { $0 &+ Int64($1.utf8.count) }
    }
}
