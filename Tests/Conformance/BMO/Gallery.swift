// A made-up gallery: photos of users, with albums and comments.

import Foundation
import TarnMacros

enum Gallery {
    @Record struct Photo: Equatable {
        @Key var id: Int
        var title: String?
        @Attribute(from: "image.src") var image: URL?
        @Attribute(from: "@position") var place: Int?
        @Attribute(from: "hidden") var isHidden: Bool?
        @Relationship(from: "owner", inverse: \User.photos) var owner: Reference<User>?
        @Relationship(ordered: true) var tags: References<Tag>?
    }

    @Record struct User: Equatable {
        @Key var id: Int
        var name: String?
        var photos = Inverse<Photo>()
    }

    @Record struct Tag: Equatable {
        @Key var id: Int
        var name: String?
    }

    static func client(_ base: String, _ store: String) throws -> RecordClient {
        try RecordClient(base: base, records: Photo.self, User.self, Tag.self, store: store) {
            $0.api.retry = .never
        }
    }

    static func photos(_ ids: ClosedRange<Int>) -> String {
        "["
            + ids.map { #"{"id": \#($0), "title": "photo \#($0)", "owner": {"id": 5, "name": "Ida"}}"# }.joined(
                separator: ",") + "]"
    }
}

extension RecordRequest where Value == Gallery.Photo {
    static func photos(of user: Int? = nil, fields: String? = nil) -> Self {
        .get("(/users/{user})/photos", ["user": user.map(String.init), "fields": fields])
    }
    static func photo(_ id: Int) -> Self { .get("/photos/{id}", ["id": "\(id)"]) }
}
