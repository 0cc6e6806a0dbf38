// Digests of what a refresh asks for: its records are complete only for the same requests.

import TarnHTTP
import TarnImport
import TarnStore

extension RecordClient {
    /// A digest of a request and of the import of its responses.
    package func refreshPlan<Value>(of request: RecordRequest<Value>) -> String {
        client.refreshPlan(of: [(request.endpoint, fingerprint(of: request))])
    }
}

extension APIMirror {
    /// A digest of endpoints and of the import of their responses; nil for all of the description.
    package func refreshPlan(of endpoints: Set<String>?) -> String {
        let selected = description.endpoints.filter { endpoints?.contains($0.name) ?? true }
        return client.refreshPlan(of: selected.map { ($0, description.fingerprint(of: $0)) })
    }
}

extension APIClient {
    fileprivate func refreshPlan(of endpoints: [(endpoint: Endpoint, fingerprint: String)]) -> String {
        var text = ""
        for (endpoint, fingerprint) in endpoints {
            let base = endpoint.api.map { client(of: endpoint).api.base + " \($0)" } ?? api.base
            text += "\(endpoint.method) \(Redaction.url(base)) \(endpoint.path) \(fingerprint)\n"
            for parameter in endpoint.parameters {
                // A store contains no digest of a secret.
                text += "\(parameter.name)=\(Redaction.isSecret(parameter.name) ? "" : parameter.value)\n"
            }
            if let body = endpoint.body { text += "body \(body.text)\n" }
        }
        return String(SHA256.hexadecimal(text).prefix(32))
    }
}
