import TarnHTTP
import TarnImport

extension Importer {
    /// Removes the secrets that a response repeats from what the import of it tells.
    ///
    /// Most responses repeat none.
    func conceal(secretsOf response: TransportResponse) {
        if let secrets = response.secrets { conceal(secrets, secrets.conceal) }
    }
}
