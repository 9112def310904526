//! `eager-and-on-demand`: a CAfile whose certificates are all found by hash as well.

use crate::audit::Context;
use crate::audit::finding::{Detail, Finding, Place, Severity};
use crate::audit::rule::Rule;
use crate::store::model::Store;
use crate::store::source::{SourceId, SourceKind};
use std::collections::BTreeSet;

/// A CAfile whose certificates are all found by hash as well.
pub const RULE: Rule = Rule {
    id: "eager-and-on-demand",
    severity: Severity::Warning,
    title: "a CAfile whose certificates are all found by hash as well",
    why: "OpenSSL parses the whole CAfile for every context and needs none of it: each certificate would be found on demand.",
    example: "Debian since 2022: /usr/lib/ssl/cert.pem -> /etc/ssl/certs/ca-certificates.crt, and /usr/lib/ssl/certs -> /etc/ssl/certs",
    help: "reuse one context; what every program pays goes away with OpenSSL's default file (cert.pem in OPENSSLDIR), never by cutting the bundle",
    source: "SSL_CTX_set_default_verify_paths(3); Debian bug 805646; Launchpad bug 2009544",
    check,
};

fn check(store: &Store, context: &Context, findings: &mut Vec<Finding>) {
    for (directory, source) in store.source_ids() {
        if source.kind != SourceKind::CaPath {
            continue;
        }
        for bundle in store.bundles_inside(directory) {
            let certificates: BTreeSet<_> =
                store.occurrences_of(bundle).map(|(_, occurrence)| occurrence.certificate).collect();
            let covered = certificates.iter().all(|&certificate| store.is_reachable(directory, certificate));
            if !certificates.is_empty() && covered && defaults_lead_to_both(store, context, directory, bundle)
            {
                findings.push(Finding::at(
                    RULE.id,
                    Detail::EagerAndOnDemand { bundle, directory, certificates: certificates.len() },
                    vec![Place::Source(bundle)],
                ));
            }
        }
    }
}

/// Whether OpenSSL's defaults name both. A directory that is not this system's own is judged as if it were to
/// become one (an image's, a package's): then they do.
pub(crate) fn defaults_lead_to_both(
    store: &Store,
    context: &Context,
    directory: SourceId,
    bundle: SourceId,
) -> bool {
    let Some(defaults) = context.openssl_defaults else { return true };
    if defaults.directory.is_none() || store.source(directory).identity != defaults.directory {
        return true;
    }
    defaults.file.is_some() && store.files_of(bundle).any(|(_, file)| file.identity == defaults.file)
}
