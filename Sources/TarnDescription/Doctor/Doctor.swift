// `tarn doctor`: what a sync needs, examined one by one. Nothing is changed.

import Foundation
import Tarn
import TarnHTTP
import TarnImport
import TarnStore

/// Examines the surroundings of a mirror: versions, description, store, credentials and server.
package struct Doctor: Sendable {
    /// The options of an examination.
    package struct Options: Sendable {
        /// The path of the description file.
        package var file = "tarn.yaml"
        /// The path of the store; nil for that of the description.
        package var store: String?
        /// The URLs that replace base URLs of the description; nil for none.
        package var base: BaseReplacements?
        /// Whether the server is left out.
        package var isOffline = false
        /// The environment that credentials are read from.
        package var environment = ProcessInfo.processInfo.environment

        package init() {}
    }

    let options: Options

    package init(_ options: Options) { self.options = options }

    /// Examines everything, in the order of ``DoctorFinding/Subject``.
    ///
    /// - Parameters:
    ///   - quickCheck: returns the findings of a quick check of the store at a path.
    ///   - show: called with each finding as soon as it is known.
    package func examine(
        quickCheck: (String) throws -> [String], show: (DoctorFinding) -> Void
    ) async {
        show(versions())
        let (description, finding) = self.description()
        show(finding)
        let path = options.store ?? description?.storePath
        if let path {
            fileSystem(path).forEach(show)
            store(path, quickCheck).forEach(show)
        }
        guard let description else { return }
        for (name, api) in description.apis {
            let findings = [credentials(api)] + (options.isOffline ? [] : await server(api, options.base?[name]))
            for var finding in findings {
                if let name { finding.text = "\(name): \(finding.text)" }
                show(finding)
            }
        }
    }

    private func versions() -> DoctorFinding {
        DoctorFinding(
            .versions, .ok,
            "liblmdb \(StoreLibraries.lmdb), libcurl \(CurlLibrary.version.prefix { $0 != " " }), "
                + "simdjson \(JSONLibrary.version), zstd \(StoreLibraries.zstd), OpenSSL \(StoreLibraries.openSSL), "
                + "store format \(StoreLibraries.format)")
    }

    private func description() -> (Description?, DoctorFinding) {
        guard access(options.file, F_OK) == 0 else {
            let isNeeded = options.store == nil
            return (
                nil,
                DoctorFinding(
                    .description, isNeeded ? .fail : .warn, "there is no \(options.file) here",
                    remedy: "name it with --file, or let `tarn init URL` propose one")
            )
        }
        do throws(DescriptionError) {
            let description = try Description.load(path: options.file)
            let entities = description.schema.entities.count, endpoints = description.endpoints.count
            return (
                description,
                DoctorFinding(
                    .description, .ok,
                    "\(options.file): \(entities) entit\(entities == 1 ? "y" : "ies"), "
                        + "\(endpoints) endpoint\(endpoints == 1 ? "" : "s")")
            )
        } catch {
            let more = error.problems.count - 1
            return (
                nil,
                DoctorFinding(
                    .description, .fail,
                    (error.problems.first?.description ?? "not valid") + (more > 0 ? ", and \(more) more" : ""),
                    remedy: "`tarn check --file \(options.file)` shows every problem with its line")
            )
        }
    }

    // MARK: Credentials

    private func credentials(_ api: APIDescription) -> DoctorFinding {
        let sources = api.authentication.sources
        guard !sources.isEmpty else { return DoctorFinding(.credentials, .ok, "the description names none") }
        var found: [String] = []
        for source in sources {
            switch source {
            case .value: continue
            case .command: found.append("\(source.place) (not run)")
            case .login(let place):
                guard let login = api.authentication.signIn?.loginText(environment: options.environment) else {
                    continue
                }
                guard case .signedIn = login.state else {
                    return DoctorFinding(
                        .credentials, .fail, login.text.prefix { $0 != ":" } + "", remedy: "run `\(place.command)`")
                }
                found.append(login.text)
                if let path = try? place.path(environment: options.environment), Doctor.isReadByOthers(path) {
                    return Doctor.readByOthers(path)
                }
            case .environment, .file:
                do throws(SecretError) {
                    _ = try api.authentication.read(source, environment: options.environment)
                    found.append("\(source.place) is set")
                } catch {
                    return DoctorFinding(
                        .credentials, .fail, "\(error)", remedy: "put the secret there; the description only names it")
                }
                if case .file(let path) = source, Doctor.isReadByOthers(path) {
                    return Doctor.readByOthers(path)
                }
            }
        }
        if let problem = api.authentication.problemOfKeys(environment: options.environment) {
            return DoctorFinding(
                .credentials, .fail, "\(problem)", remedy: "see `key` and `algorithm` under `auth` in the description")
        }
        return DoctorFinding(.credentials, .ok, found.joined(separator: ", "))
    }

    private static func readByOthers(_ path: String) -> DoctorFinding {
        DoctorFinding(.credentials, .warn, "other users may read the file \(path)", remedy: "chmod 600 \(path)")
    }

    private static func isReadByOthers(_ path: String) -> Bool {
        var status = stat()
        return stat(path, &status) == 0 && status.st_mode & 0o044 != 0
    }
}
