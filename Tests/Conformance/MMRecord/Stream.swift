// A made-up stream of short posts: the shape that programs with MMRecord had.

import Foundation
import TarnMacros

enum Stream {
    @Record struct Post: Equatable {
        @Key var id: Int64
        @Index var text: String
        @Attribute(from: "num_replies", default: 0) var replies: Int
        var createdAt: Date?
        @Attribute(from: "entities.first_link") var link: URL?
        @Relationship(from: "user", inverse: \Author.posts) var author: Reference<Author>
        var source: Reference<Source>?
        @Relationship(ordered: true) var mentions: References<Author>?
    }

    @Record struct Author: Equatable {
        @Key var id: Int64
        @Attribute(from: "handle") var username: String
        var name: String?
        var posts = Inverse<Post>()
        var counts: Reference<Counts>?
        var coverImage: Reference<CoverImage>?
    }

    /// Has no key of its own: it belongs to its author.
    @Record struct Counts: Equatable {
        @Key @Relationship(from: "@parent") var author: Reference<Author>
        var followers: Int
        var posts: Int
    }

    @Record struct CoverImage: Equatable {
        @Key @Relationship(from: "@parent") var author: Reference<Author>
        var url: URL?
        var width: Int
    }

    @Record struct Source: Equatable {
        @Key @Relationship(from: "@parent") var post: Reference<Post>
        var name: String
    }

    static func client(_ base: String, _ store: String) throws -> RecordClient {
        try RecordClient(
            base: base, records: Post.self, Author.self, Counts.self, CoverImage.self, Source.self, store: store
        ) { $0.api.retry = .never }
    }

    static func author(_ id: Int, followers: Int = 1, _ more: String = "") -> String {
        #"""
        {"id": "\#(id)", "handle": "user\#(id)", "counts": {"followers": \#(followers), "posts": 2},
         "cover_image": {"url": "https://img.example/\#(id).png", "width": 640}\#(more)}
        """#
    }

    static func post(_ id: Int, by author: Int, followers: Int = 1, _ more: String = "") -> String {
        #"""
        {"id": "\#(id)", "text": "post \#(id)", "num_replies": 1, "created_at": "2026-01-02T03:04:05Z",
         "source": {"name": "web"}, "user": \#(Self.author(author, followers: followers))\#(more)}
        """#
    }

    /// Three posts by two authors, on one page.
    static let page = "[\(post(103, by: 1)), \(post(102, by: 2)), \(post(101, by: 1))]"
}

extension RecordRequest where Value == Stream.Post {
    static func stream(_ count: Int? = nil) -> Self {
        .get("/posts", ["count": count.map(String.init)], records: "data")
    }
    static func post(_ id: Int64) -> Self { .get("/posts/{id}", ["id": "\(id)"], records: "data") }
}

extension RecordRequest where Value == Stream.Author {
    static func authors() -> Self { .get("/users", records: "data") }
}

extension ResponseValue<Int> {
    static var newest: Self { ResponseValue("newest", at: "meta.max") }
}

extension ResponseValue<Bool> {
    static var hasMore: Self { ResponseValue("hasMore", at: "meta.more") }
}
