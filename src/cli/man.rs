//! Manual pages: the clap tree, and what no tree of arguments says.

use std::fmt::Write as _;

use clap::{Command, CommandFactory as _};
use clap_mangen::Man;

use super::args::Arguments;
use crate::audit::rules;
use crate::escape::visible;

/// A page in roff: castore's own, or a command's.
pub fn page(command: Option<&str>) -> Result<Vec<u8>, String> {
    let mut root = Arguments::command();
    root.build();
    let tree = match command {
        None => root,
        Some(name) => root
            .find_subcommand(name)
            .cloned()
            .map(|found| {
                let full = format!("castore-{name}");
                found.name(full).bin_name(format!("castore {name}")).disable_help_subcommand(true)
            })
            .ok_or_else(|| format!("no command is called '{}'", visible(name)))?,
    };
    let title = tree.get_name().to_uppercase();
    let inner: Vec<Command> = match command {
        Some(_) => tree.get_subcommands().cloned().collect(),
        None => Vec::new(),
    };
    let man = Man::new(tree);
    let mut out = Vec::new();
    let write = || -> std::io::Result<()> {
        // Not `render_title`: it writes an empty date as nothing, and what comes behind it moves to its place.
        let version = env!("CARGO_PKG_VERSION");
        out.extend_from_slice(format!(".TH {title} 1 \"\" \"castore {version}\" castore\n").as_bytes());
        man.render_name_section(&mut out)?;
        man.render_synopsis_section(&mut out)?;
        man.render_description_section(&mut out)?;
        man.render_options_section(&mut out)?;
        if command.is_none() {
            man.render_subcommands_section(&mut out)?;
        }
        for inner in inner {
            let name = inner.get_bin_name().unwrap_or_else(|| inner.get_name()).to_owned();
            let about = inner.get_about().map(ToString::to_string).unwrap_or_default();
            let heading = format!(".SH {}\n{}.\n", roff(&name.to_uppercase()), roff(&about));
            out.extend_from_slice(heading.as_bytes());
            let mut options = Vec::new();
            Man::new(inner).render_options_section(&mut options)?;
            // Under the heading of the command that they belong to.
            let text = String::from_utf8_lossy(&options).replace(".SH OPTIONS\n", "");
            out.extend_from_slice(text.as_bytes());
        }
        out.extend_from_slice(extra(command).as_bytes());
        Ok(())
    };
    write().map_err(|error| error.to_string())?;
    Ok(out)
}

/// The hand-written sections.
fn extra(command: Option<&str>) -> String {
    let own = match command {
        Some("audit") => format!("{}{AUDIT}", findings()),
        Some("compact") => COMPACT.to_owned(),
        Some("rehash") => REHASH.to_owned(),
        Some("tune") => TUNE.to_owned(),
        Some("hook") => HOOK.to_owned(),
        Some("measure") => MEASURE.to_owned(),
        None => OVERVIEW.to_owned(),
        _ => String::new(),
    };
    let shared = if matches!(command, Some("completions" | "man" | "explain")) { "" } else { SHARED };
    format!("{own}{shared}")
}

/// The rules, from the text that the report itself uses.
fn findings() -> String {
    let mut out = String::from(
        ".SH FINDINGS\nA finding has an id that does not change, and one severity. An \\fBerror\\fR says that OpenSSL or GnuTLS \
         loads less than, or other than, what the store holds, that look\\-ups fail, or that a secret is exposed. A \
         \\fBwarning\\fR costs time or space, or will break. A \\fBnotice\\fR is worth knowing.\n",
    );
    for rule in rules::RULES {
        let text =
            format!("{}. {} Example: {}. Help: {}.", sentence(rule.title), rule.why, rule.example, rule.help);
        let _ = write!(out, ".TP\n\\fB{}\\fR ({})\n{}\n", roff(rule.id), rule.severity.as_str(), roff(&text));
    }
    out
}

fn sentence(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

/// Text as roff takes it: hyphens that stay hyphens, backslashes, no line that starts with a control character.
fn roff(text: &str) -> String {
    let text = text.replace('\\', "\\e").replace('-', "\\-");
    if text.starts_with(['.', '\'']) { format!("\\&{text}") } else { text }
}

const OVERVIEW: &str = r#".SH EXAMPLES
.TP
castore audit /etc/ssl/certs
What is in this machine's store, what is wrong with it, and what a context pays for it.
.TP
castore compact /etc/ssl/certs \-\-bundle ca.crt \-\-capath certs
A smaller store that every client loads.
.TP
castore rehash certs
The hash links of a directory, made right.
.TP
castore measure /etc/ssl/certs \-\-vs capath:/etc/ssl/certs
What a context pays for the bundle on this machine.
"#;

const AUDIT: &str = r#".SH COUNTING
Certificates are counted once a PEM block or DER file, each file once whatever its names; two are the same when the
SHA\-256 of their DER is.
.SH EXAMPLES
.TP
castore audit /etc/ssl/certs
What is in this machine's store, what is wrong with it, and what a context pays for it.
.TP
castore audit \-\-fail\-on error /etc/ssl/certs
For scripts: status 1 where there is an error.
.TP
curl \-s https://example.org/ca.pem | castore audit \-
A bundle from a pipe.
"#;

const COMPACT: &str = r#".SH WHAT GOES IN
Of a file every certificate. Of a CApath what a look\-up by hash finds, and the bundle inside it, the bundle's order first.
Of a directory without a hash link every member. Certificates that no look\-up finds are listed. A certificate that may not
issue others and stands only in a CApath goes to \-\-capath alone. Private keys are never copied.
.PP
A certificate that trust attributes reject for TLS servers anywhere in the inputs is left out, with all its copies.
.SH WHAT COMES OUT
The bundle holds CERTIFICATE blocks of 64 columns and nothing else, mode 0644. The directory holds one file a certificate,
named by its CN, and HASH.N links to bare file names. What is written is read back before it takes its name. A second run
writes nothing.
.PP
A file that is replaced keeps its owner, group, mode and extended attributes; where a new file cannot be given them, nothing
is replaced. A file that holds a private key is never replaced or removed.
.PP
In an existing directory entries stay unless \-\-prune is given. What is not in the plan and stays trusted is listed.
.PP
The directories that are written in are locked (flock(2)) from before the reading to after the writing. Where what was read
has changed meanwhile, castore begins anew, three times at most.
.PP
Nobody can give another file the name of one that something is mounted on, as container engines do with single files.
\-\-in\-place writes into that file itself: readers may see part of each for a moment. Any other file is renamed over all the
same.
.SH EXAMPLES
.TP
castore compact /etc/ssl/certs \-\-bundle ca.crt \-\-capath certs
A minimal bundle and a hashed directory from this machine's store.
.TP
castore compact a.pem b.pem \-\-bundle ca.crt \-\-expired keep \-\-dry\-run
What joining two bundles would give.
.TP
castore compact ca.crt \-\-bundle ca.crt \-\-check
Whether a bundle is minimal: status 1 where it is not.
"#;

const TUNE: &str = r#".SH NOTES
OpenSSL's defaults parse OPENSSLDIR/cert.pem for every context. On Debian and Ubuntu that is the whole bundle, and the
directory beside it would give each certificate on demand. \fBtune apply\fR takes that one file away; the public bundle
stays whole.
.PP
It refuses unless, at that moment, a look\-up by hash finds every certificate of the bundle, with the same trust attributes,
in files that everybody may read who may read the bundle, and nothing of their subjects that the bundle hides now. It writes its record
(/var/lib/castore/undo.json) first, adds a diversion to dpkg's table where there is one (\fBdpkg\-divert \-\-local\fR, so that
an upgrade of package openssl does not bring the file back), and renames the link to cert.pem.castore. A run that was
killed on the way is finished by the next \fBapply\fR or \fBundo\fR. It acts on the layout of Debian and Ubuntu alone;
elsewhere \fBtune status\fR says what is there.
.PP
What fails then: what names that very file, and programs that chroot, give up privileges below a directory of mode 700 or
have no free file descriptor before their first handshake. \fB\-\-cert\-file stub\fR leaves a file of one certificate there.
.PP
\fB\-\-stub\-bundle\fR cuts the public bundle itself to one certificate. That breaks every program that reads the bundle
alone; those that castore finds here are listed, and nothing is done without \fB\-\-accept\-breakage\fR. The next run of
update\-ca\-certificates writes the bundle anew.
.SH FILES OF ITS OWN
.TP
/var/lib/castore/undo.json
What \fBtune undo\fR restores. It is there only while OpenSSL's default file is away.
"#;

const HOOK: &str = r#".SH POLICY
/etc/castore/hook.conf says \fBmode = \fIWORD\fR; # starts a comment. Without the file it is \fBreport\fR.
.TP
\fBoff\fR
Nothing.
.TP
\fBreport\fR
Audits the system's store and keeps the report (JSON) in /var/lib/castore/report.json.
.TP
\fBdedupe\fR
Takes exact duplicates out of the bundle, and nothing else: nothing expired, nothing that is no CA, and nothing is gained.
A bundle without duplicates is not touched; one that OpenSSL or GnuTLS refuses is left as it is, with status 2.
.TP
\fBsplit\fR
Looks after \fBcastore tune apply\fR: where a look\-up by hash no longer finds every certificate of the bundle, OpenSSL's
default file is a link to the bundle again, without a call of dpkg; where it finds all again, it goes again. A stub that has
expired or is no member any more is replaced.
.PP
In all modes but \fBoff\fR the report is written. Standard input is read to its end. Nothing is printed on success; what
was put back is told on standard error, with status 0.
"#;

const REHASH: &str = r#".SH LINKS
A file is linked when its name ends in .pem, .crt, .cer or .crl, in any case, and it holds exactly one certificate or CRL,
as \fBopenssl\-rehash\fR(1) does. Numbers have no gap. A link that works keeps its number, also one to a file elsewhere, as
long as it is the only way to its certificate. A file that is named like a hash link is never overwritten. At no moment is
a certificate lost that was found before: a link is moved over the one it replaces, and what is stale goes last.
.PP
Directories are done one after the other, each locked (\fBflock\fR(2)) from reading to writing. One that cannot be done
does not stop the others; the status is 2 then.
.PP
With \-\-old, OpenSSL 1.0.0 and later find nothing in the directory any more, unless \-\-keep is given too. The last one of
\-\-old and \-\-compat counts.
.SH IN PLACE OF OPENSSL REHASH
\fB\-old\fR, \fB\-compat\fR, \fB\-n\fR, \fB\-v\fR, \fB\-h\fR and \fB\-help\fR are taken with one dash or two, up to
\fB\-\-\fR. \fB\-provider\fR, \fB\-provider\-path\fR and \fB\-propquery\fR are bad usage: castore computes hashes itself.
\fB\-v\fR prints the same lines: \fBDoing DIR\fR, a \fBlink FILE \-> HASH.N\fR for each link that is wanted, also where it
stands already, an \fBunlink HASH.N\fR for each that goes; in order of names, where OpenSSL's order is that of a hash
table. With \-\-dry\-run or \-\-check it prints them and writes nothing. Members without a link are named on standard error
in OpenSSL's words, behind castore's name, so that nobody takes it for the other program. Control characters in names are
escaped.
.PP
The links are the same wherever OpenSSL makes them right. What differs:
.IP \(bu 2
An upper\-case link or one with leading zeros counts as there for OpenSSL, and the one that is looked up is never made.
castore replaces it.
.IP \(bu 2
OpenSSL keeps a wrong or dangling link whose number lies below the count, and leaves one beyond the count for ever. castore
replaces and removes them.
.IP \(bu 2
OpenSSL overwrites a regular file that is named like a link. castore counts it as what it holds, or stops with status 2
where it holds something else.
.IP \(bu 2
OpenSSL removes a name and makes it anew, without lock and flush. castore renames, locks and flushes. A lock that somebody
else holds is waited for three seconds.
.IP \(bu 2
OpenSSL has 256 places for one subject, and compares within them one by one. castore has no limit.
.IP \(bu 2
OpenSSL removes links to files outside the directory. castore keeps one that works, by a hash that is asked for, and is the
only way to its certificate.
.IP \(bu 2
OpenSSL's status is the number of errors (256 of them are 0), and 0 for an option that it does not know. castore's is 0, 1
(\-\-check alone) or 2. A member without a certificate is no error, and is named. A member that cannot be read stops its
directory.
.IP \(bu 2
A FIFO or device does not make castore wait.
.IP \(bu 2
Dot files and what tools leave behind are no members; a bundle under a name that distributions give it is passed over
without a warning.
.IP \(bu 2
A directory that may not be written is no error where nothing is to be done.
.SH IN PLACE OF C_REHASH
Called \fBc_rehash\fR, castore reads that program's command line: \fBc_rehash\fR [\fB\-h\fR] [\fB\-help\fR] [\fB\-n\fR]
[\fB\-v\fR] [\fB\-\-\fR] [\fIDIR\fR...]. It makes links by both hashes, and always prints \fBDoing DIR\fR. To install it:
.PP
.RS
ln \-s castore /usr/local/bin/c_rehash
.RE
.PP
As there, what is no directory is passed over with status 0 (castore says so on standard error), a directory that may not
be written is \fBSkipping DIR, can't write\fR on standard output, and an empty SSL_CERT_DIR counts as not set. What differs
beside the above:
.IP \(bu 2
The script removes all links first, those of other lengths than eight digits too, and makes them anew one by one: meanwhile
nothing is found. With \fB\-v\fR it prints each of them; castore prints an \fBunlink\fR only for what goes.
.IP \(bu 2
The script takes any name with .pem, crt or cer in it (notes\-on\-crt.txt, x.pem.bak), and the first of several certificates
in a file. castore takes the names and files above. It takes .PEM, too.
.IP \(bu 2
The script makes no link in a second directory for a certificate that the first one has. castore does.
.IP \(bu 2
A file with a certificate and a CRL is linked for both by the script, for the certificate by castore and \fBopenssl
rehash\fR.
.IP \(bu 2
The variable OPENSSL means nothing: no other program is run. The status is 0 or 2.
.SH EXAMPLES
.TP
castore rehash \-\-dry\-run /etc/ssl/certs
What would change.
.TP
castore rehash \-compat \-v certs
Links by both hashes, told as OpenSSL tells them.
"#;

const MEASURE: &str = r#".SH WHAT IS MEASURED
The libssl of this machine is loaded at run time, in a child process: one that breaks ends with status 2 and a message.
Without \-\-libssl it is the first of libssl.so.3, libssl.so.4 and libssl.so.1.1 that the loader finds; the report names its
version and file. Beside a path given to \-\-libssl, the libcrypto of the same ending is loaded with it. OpenSSL 1.1.1 or
newer is needed. The child's environment is empty but for LD_LIBRARY_PATH, which says what this user's programs load; the
library reads its own openssl.cnf.
.PP
The times are of CPU, user and system, in milliseconds; \fBwall\fR is the median of the time that passed. \fBspread\fR is
the interquartile range: half of the runs lie within it. Runs that warm up are not counted. They are measurements of this
machine at this time, never estimates.
.TP
context
SSL_CTX_new, SSL_CTX_load_verify_locations, SSL_CTX_free: what every context pays before a handshake.
.TP
first look\-up
The first time that a subject is asked for in a new context, as a handshake does: in a CApath the file behind a hash link
is opened and parsed. The same certificate is looked up in every store that has it.
.TP
certificates parsed
What the context holds in memory when it is made, counted by the library; a CApath parses nothing before the look\-up. Copies
are parsed as well and not kept: then it says of how many.
.SH STORES
A file is a CAfile. A directory is a CApath; a bundle inside it under a name that distributions give it
(ca\-certificates.crt, ca\-bundle.crt, cert.pem, ...) is loaded as the CAfile as well, as OpenSSL's defaults do on Debian.
\fBcafile:\fR\fIFILE\fR and \fBcapath:\fR\fIDIR\fR (or several with colons) mean that one alone. Without a STORE: one
context of OpenSSL's defaults, the file of SSL_CERT_FILE or cert.pem in OPENSSLDIR together with the directories of
SSL_CERT_DIR or certs in OPENSSLDIR. Several STOREs are several rows, run in turns. There is no \-\-root: a library follows
the links of the machine.
.SH VERDICT
With \-\-vs the stores are run in turns, A B, then B A. What is compared is the CPU time of a context with its first
look\-up. Pairs are put into blocks in the order in which they ran; of each block the least of both stores counts, as what
disturbs a run makes it longer. The ratio is the median of the blocks' ratios; its interval holds the true median with 99 %
confidence, whatever the distribution (it is that of the sign test).
.TP
faster, slower
The whole interval lies more than 3 % away from 1, and the difference is above 0.02 ms.
.TP
within noise, not worth a change
Anything else: neither is sure, or the difference is too small to be noticed, as that of one per cent is.
.TP
undecided, too few runs
Fewer than eight pairs.
.PP
By default there are as many runs as go into two seconds, at least 8, and 36 where stores are compared; on a busy machine or
with a large store that may take up to half a minute, and where it takes longer there are fewer.
.SH KEYS
\-\-key times opening the file and PEM_read_bio_PrivateKey, and the same together with EVP_PKEY_check. The key stays in the
child's memory, of which no image is written when it crashes, and is never shown. An encrypted key is refused; no password
is asked for. A key that the check refuses is told, with status 0.
.SH EXAMPLES
.TP
castore measure
What one context of OpenSSL's defaults costs here.
.TP
castore measure /etc/ssl/certs \-\-vs capath:/etc/ssl/certs
What the bundle costs, against look\-ups on demand alone.
.TP
castore measure ca.crt \-\-vs new.crt
Whether a bundle is worth being replaced.
.TP
castore measure \-\-key server.pem
What loading a private key costs, and checking it.
"#;

const SHARED: &str = r#".SH ENVIRONMENT
.TP
SSL_CERT_FILE, SSL_CERT_DIR
What \fBaudit\fR looks at and \fBmeasure\fR loads where no path is named. SSL_CERT_DIR, a list with colons: the directories that \fBrehash\fR works
on where none is named; set and empty it names none. They say nothing of a \-\-root.
.TP
LD_LIBRARY_PATH
Where \fBmeasure\fR finds libssl, as every program does.
.TP
SOURCE_DATE_EPOCH
The time, in seconds since 1970, that files, links and new directories get which \fBcompact\fR and \fBrehash\fR write. It says
nothing of what counts as expired: that is \-\-at, or the clock.
.TP
NO_COLOR
No colour, whatever it is set to; \-\-color goes before it.
.TP
COLUMNS
Where output goes to a file or pipe: lines of text reports are wrapped at this many columns. Without it they are long.
.SH EXIT STATUS
.TP
0
Done. Findings do not change this.
.TP
1
\fBaudit\fR: there are findings at or above \-\-fail\-on. \fBcompact\fR and \fBrehash\fR with \-\-check: something would change.
.TP
2
No answer: bad usage, a named path that cannot be read, a refused write, a library that cannot be measured. Nothing was changed, unless the message says what was; \fBrehash\fR does the other
directories all the same.
.SH FILES
.TP
/etc/ssl/certs
The hashed directory of Debian, Ubuntu, SUSE, Alpine and Arch.
.TP
/etc/ssl/certs/ca\-certificates.crt
The bundle of Debian, Ubuntu, Alpine and Arch.
.TP
/etc/pki/ca\-trust/extracted
Bundles and the hashed directory of Fedora and its kin.
.TP
/usr/lib/ssl/cert.pem, /usr/lib/ssl/certs
What OpenSSL loads by default on Debian and Ubuntu.
.SH SEE ALSO
\fBopenssl\-rehash\fR(1), \fBopenssl\-verification\-options\fR(1), \fBupdate\-ca\-certificates\fR(8), \fBtrust\fR(1)
"#;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_command_has_a_page() {
        for command in Arguments::command().get_subcommands() {
            let page = String::from_utf8(page(Some(command.get_name())).unwrap()).unwrap();
            assert!(page.contains(".SH SYNOPSIS") && page.contains(".SH OPTIONS"), "{}", command.get_name());
        }
        assert!(page(Some("nothing")).is_err());
    }
}
