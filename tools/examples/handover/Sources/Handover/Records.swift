import TarnMacros

@Record struct Issue: Equatable {
    @Key var id: Int64
    var title: String
    @Relationship(from: "user", inverse: \User.issues) var author: Reference<User>
}

@Record struct User: Equatable {
    @Key var id: Int64
    var login: String
    var issues = Inverse<Issue>()
}

extension RecordRequest where Value == Issue {
    static func issues(_ repository: String) -> Self { .get("/repos/{+repository}/issues", ["repository": repository]) }
    static func issue(_ number: String, in repository: String) -> Self {
        .get("/repos/{+repository}/issues/{number}", ["repository": repository, "number": number])
    }
}

extension RequestRoutes {
    /// The requests that this program sends, by their paths.
    static var forge: RequestRoutes {
        var routes = RequestRoutes()
        routes.add("/repos/{+repository}/issues") { .issues($0["repository"]) }
        routes.add("/repos/{+repository}/issues/{number}") { .issue($0["number"], in: $0["repository"]) }
        return routes
    }
}
