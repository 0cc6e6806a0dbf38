// Authors and labels with all their fields: what is included with issues.

import Tarn

/// The same values as the peer's `User` has.
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

    init(_ row: Row<TarnAuthor>) throws(StoreError) {
        id = try row.get(.id)
        login = try row.get(.login)
        nodeId = try row.get(.nodeId)
        avatarUrl = try row.get(.avatarUrl)
        gravatarId = try row.get(.gravatarId)
        url = try row.get(.url)
        htmlUrl = try row.get(.htmlUrl)
        followersUrl = try row.get(.followersUrl)
        followingUrl = try row.get(.followingUrl)
        gistsUrl = try row.get(.gistsUrl)
        starredUrl = try row.get(.starredUrl)
        subscriptionsUrl = try row.get(.subscriptionsUrl)
        organizationsUrl = try row.get(.organizationsUrl)
        reposUrl = try row.get(.reposUrl)
        eventsUrl = try row.get(.eventsUrl)
        receivedEventsUrl = try row.get(.receivedEventsUrl)
        type = try row.get(.type)
        siteAdmin = try row.get(.siteAdmin)
    }

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

/// The same values as the peer's `Label` has.
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

    init(_ row: Row<TarnLabel>) throws(StoreError) {
        id = try row.get(.id)
        nodeId = try row.get(.nodeId)
        url = try row.get(.url)
        name = try row.get(.name)
        color = try row.get(.color)
        isDefault = try row.get(.isDefault)
        description = try row.get(.description)
    }

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
