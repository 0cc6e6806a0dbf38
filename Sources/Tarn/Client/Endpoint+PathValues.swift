// The match of a URL with the path of an endpoint.

import Foundation
import TarnHTTP

extension Endpoint {
    /// The values of the path's variables in a URL, in their order; nil if the path does not match.
    ///
    /// Only variables that are a whole segment are matched.
    func pathValues(of url: HTTPURL, on base: HTTPURL) -> [Parameter]? {
        guard url.hasSameOrigin(as: base), let template = try? PathTemplate(path).description else { return nil }
        let root = base.path == "/" ? "" : base.path
        guard url.path.hasPrefix(root) else { return nil }
        let segments = url.path.dropFirst(root.count).split(separator: "/", omittingEmptySubsequences: false)
        let pattern = template.split(separator: "/", omittingEmptySubsequences: false)
        guard pattern.count == segments.count else { return nil }
        var values: [Parameter] = []
        for (pattern, segment) in zip(pattern, segments) {
            guard pattern.hasPrefix("{"), pattern.hasSuffix("}") else {
                guard pattern == segment else { return nil }
                continue
            }
            guard !segment.isEmpty else { return nil }
            values.append(
                Parameter(String(pattern.dropFirst().dropLast()), segment.removingPercentEncoding ?? String(segment)))
        }
        return values
    }
}
