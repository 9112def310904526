//! `keystore`: a Java or PKCS#12 keystore.

use crate::audit::Context;
use crate::audit::finding::{Detail, Finding, Place, Severity};
use crate::audit::rule::Rule;
use crate::store::content::Shape;
use crate::store::model::Store;

/// A Java or PKCS#12 keystore.
pub const RULE: Rule = Rule {
    id: "keystore",
    severity: Severity::Notice,
    title: "a Java or PKCS#12 keystore",
    why: "It is recognised by its first bytes, and not read: no OpenSSL or GnuTLS program does.",
    example: "/etc/ssl/certs/java/cacerts",
    help: "export what is in it: keytool -exportcert -rfc, or openssl pkcs12",
    source: "RFC 7292; JDK: sun.security.provider.JavaKeyStore",
    check,
};

fn check(store: &Store, _: &Context, findings: &mut Vec<Finding>) {
    for file in store.files() {
        if let Some(Shape::Keystore(kind)) = file.shape {
            findings.push(Finding::at(
                RULE.id,
                Detail::Keystore(kind),
                vec![Place::Path(file.path().to_owned())],
            ));
        }
    }
}
