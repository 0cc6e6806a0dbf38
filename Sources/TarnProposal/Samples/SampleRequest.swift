// The requests of a sampler from the options of a command.

import Glibc
import Tarn

/// Builds the options of a sampler.
package enum SampleRequest {
    /// Returns the options of a sampler with header fields and a bearer token.
    package static func options(
        pages: Int, headers: [(name: String, value: String)], token: String?
    ) -> Sampler.Options {
        var options = Sampler.Options()
        options.pages = pages
        options.headers = TransportHeaders(headers.map { TransportHeaders.Field($0.name, $0.value) })
        if options.headers["Accept"] == nil { options.headers["Accept"] = "application/json" }
        if let token { options.headers["Authorization"] = "Bearer \(token)" }
        return options
    }

    /// Whether a text is the name of an environment variable.
    package static func isVariable(_ name: String) -> Bool {
        guard let first = name.utf8.first, !(0x30...0x39).contains(first) else { return false }
        return name.utf8.allSatisfy { (0x61...0x7A).contains($0 | 0x20) || (0x30...0x39).contains($0) || $0 == 0x5F }
    }
}

extension Sampler {
    /// Looks at a URL, or reads a file.
    ///
    /// If the answer is an index of lists, each of them is looked at.
    ///
    /// - Parameter note: a closure that is called with a line about an index, and about each of its
    ///   URLs that has no records.
    package func samples(
        target: String, note: (String) -> Void = { _ in }
    ) async throws(SampleError) -> [Sample] {
        guard try Sampler.isURL(target) else { return [try Sampler.sample(file: target)] }
        let sample = try await sample(target), links = ListIndex.links(in: sample)
        guard !links.isEmpty else { return [sample] }
        note("\(Redaction.url(target)) is an index of \(links.count) URLs: looking at each")
        var lists: [Sample] = [], refusal: SampleError?
        for link in links {
            do throws(SampleError) { lists.append(try await self.sample(link, isOneOfMany: true)) } catch {
                if case .limited = error { throw error }
                if case .status(401, _, _) = error { refusal = refusal ?? error }
                note("not looked at: \(error.remark)")
            }
        }
        guard lists.isEmpty else { return lists }
        // Without a token, the URLs of the lists would be the only record.
        if let refusal { throw refusal }
        return [sample]
    }

    /// Whether a target is a URL, and not the name of a file.
    ///
    /// - Throws: `SampleError.unreadable` for a URL that cannot be requested.
    private static func isURL(_ target: String) throws(SampleError) -> Bool {
        do throws(HTTPURLError) {
            _ = try HTTPURL(target)
            return true
        } catch {
            let start = target.prefix(8).lowercased()
            guard start.hasPrefix("http://") || start.hasPrefix("https://") else { return false }
            let hasUser = URLReference(target).authority?.utf8.contains(UInt8(ascii: "@")) ?? false
            let advice =
                ": leave them out of the URL, and add --header 'Authorization: Basic …', with the base64 of "
                + "user:password, or name the variable with a token by --auth-env"
            throw .unreadable(target, reason: error.reason + (hasUser ? advice : ""))
        }
    }

    /// Looks at a list of a specification.
    package func sample(_ list: DeclaredList) async throws(SampleError) -> Sample {
        do throws(SampleError) { return try await sample(list.url, declared: list.style) } catch {
            // The declared page size may be too large.
            guard case .status(400..<500, _, _) = error, let url = list.urlWithoutSize else { throw error }
            return try await sample(url, declared: list.style)
        }
    }

    /// Reads a specification from a URL or a file, with the documents to which it refers.
    ///
    /// - Parameter servers: URLs of the API. Only a specification that is there is requested with
    ///   the credentials and header fields of the options.
    package func specification(
        _ target: String, servers: [String]
    ) async throws(SampleError) -> OpenAPIDocument {
        guard try Sampler.isURL(target) else {
            let path = target.split(separator: "/", omittingEmptySubsequences: false)
            let folder = path.dropLast().map { $0 + "/" }.joined()
            var files = try SpecificationFiles(
                Sampler.contents(ofFile: target), name: target, home: .file(path.last.map(String.init) ?? target))
            while let location = files.next() {
                do throws(SampleError) {
                    files.add(try Sampler.contents(ofPart: folder + location), at: location)
                } catch {
                    files.fail(location, error)
                }
            }
            return try OpenAPIDocument(files, name: target)
        }
        func isTrusted(_ url: String) -> Bool { servers.contains { Sampler.isSameServer(url, $0) } }
        let name = Redaction.url(target), root = try await document(target, isTrusted: isTrusted(target))
        // References are relative to the URL that has answered (RFC 3986 §5.1.3).
        let home = root.redirectedTo ?? target
        var files = try SpecificationFiles(
            root.body, name: name, home: (try? HTTPURL(home)).map { .url($0) } ?? .text)
        while let location = files.next() {
            do throws(SampleError) {
                files.add(try await referencedBody(location, isTrusted: isTrusted(home)), at: location)
            } catch {
                files.fail(location, error)
            }
        }
        return try OpenAPIDocument(files, name: name, url: target)
    }

    /// Reads a file that a specification names: no device and no pipe.
    private static func contents(ofPart path: String) throws(SampleError) -> [UInt8] {
        var status = stat()
        guard stat(path, &status) == 0 else { throw .unreadable(path, reason: "no such file") }
        guard status.st_mode & S_IFMT == S_IFREG else { throw .unreadable(path, reason: "it is no file") }
        return try contents(ofFile: path)
    }
}
