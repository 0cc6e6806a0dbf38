// The plans of refreshes, and the accounts for which they are complete.

import TarnHTTP
import TarnStore

extension RecordClient {
    /// The digests of a request's plan.
    package func refreshPlan<Value>(of request: RecordRequest<Value>) -> RefreshPlan {
        client.refreshPlan(of: [(request.endpoint, fingerprint(of: request))], "")
    }

    /// The account for which the answer to a request holds, as a keyed hash.
    package func refreshScope<Value>(of request: RecordRequest<Value>) async throws -> String {
        try await client.refreshScope(of: [request.endpoint])
    }
}

extension APIMirror {
    /// The digests of the plan of a sync: of these endpoints, or of all if there is no set.
    package func refreshPlan(of endpoints: Set<String>?) -> RefreshPlan {
        var limits = ""
        if let limit = options.limit { limits += "limit \(limit)\n" }
        if let since = options.since { limits += "since \(since)\n" }
        return client.refreshPlan(of: selected(endpoints).map { ($0, description.fingerprint(of: $0)) }, limits)
    }

    /// The accounts for which a sync of endpoints holds, as keyed hashes.
    package func refreshScope(of endpoints: Set<String>?) async throws -> String {
        try await client.refreshScope(of: selected(endpoints))
    }

    private func selected(_ endpoints: Set<String>?) -> [Endpoint] {
        description.endpoints.filter { endpoints?.contains($0.name) ?? true }
    }
}

extension APIClient {
    fileprivate func refreshPlan(
        of endpoints: [(endpoint: Endpoint, fingerprint: String)], _ limits: String
    ) -> RefreshPlan {
        var requests = "", rest = limits
        for (endpoint, fingerprint) in endpoints {
            let base = endpoint.api.map { client(of: endpoint).api.base + " \($0)" } ?? api.base
            requests += "\(endpoint.method) \(Redaction.url(base)) \(endpoint.path)\n"
            for parameter in endpoint.parameters {
                // A store contains no digest of a secret.
                requests += "\(parameter.name)=\(Redaction.isSecret(parameter.name) ? "" : parameter.value)\n"
            }
            if let body = endpoint.body { requests += "body \(body.text)\n" }
            rest += "import \(fingerprint)\n"
            if let pages = endpoint.limits.pages { rest += "pages \(pages)\n" }
            if let records = endpoint.limits.records { rest += "records \(records)\n" }
        }
        let first = endpoints.first.map { client(of: $0.endpoint) } ?? self
        return RefreshPlan(
            requests: String(SHA256.hexadecimal(requests).prefix(8)),
            plan: String(SHA256.hexadecimal(requests + rest).prefix(32)), api: first.base ?? first.api.base)
    }

    fileprivate func refreshScope(of endpoints: [Endpoint]) async throws -> String {
        var scopes: [String: String] = [:]
        for endpoint in endpoints where scopes[endpoint.api ?? ""] == nil {
            scopes[endpoint.api ?? ""] = try await client(of: endpoint).authScope()
        }
        let variants = endpoints.map { endpoint in
            let own = client(of: endpoint)
            return own.variant(of: own.headers(endpoint.headers))
        }
        return (scopes.sorted { $0.key < $1.key }.map(\.value) + variants.filter { !$0.isEmpty })
            .joined(separator: " ")
    }
}
