//! A report for people.

use std::collections::BTreeMap;
use std::io::{self, Write};

use anstyle::{AnsiColor, Style};

use super::measured::{ComparisonRow, MeasureRow, MeasuredRow, TimesRow};
use super::model::{CostRow, FindingRow, ReaderRow, Report, SourceRow};
use crate::audit::rule::Rule;
use crate::escape::visible;
use crate::readers::Reader;
use crate::wording::{self, count};

/// How the text looks.
#[derive(Debug, Clone, Copy, Default)]
pub struct Look {
    /// Lines are wrapped at this many columns; `None` leaves them long, for other programs.
    pub width: Option<usize>,
    /// Everything, not the first few lines of each kind.
    pub verbose: bool,
    /// With colour.
    pub color: bool,
}

/// Lines of one kind that are shown without `-v`.
const FEW: usize = 3;
/// Stores that are shown without `-v`.
const STORES: usize = 8;

/// Certificates from which on it matters who loads them.
const MANY: usize = 10;

/// Writes a report.
///
/// # Errors
/// Those of the writer.
pub fn render(report: &Report, look: Look, out: &mut dyn Write) -> io::Result<()> {
    let mut text = Text { look, out };
    match report.command {
        "audit" => text.audit(report),
        "measure" => text.measure(report),
        _ => text.writing(report),
    }
}

/// Writes the page of a rule.
///
/// # Errors
/// Those of the writer.
pub fn explain(rule: &Rule, width: Option<usize>, out: &mut dyn Write) -> io::Result<()> {
    let look = Look { width: Some(width.unwrap_or(80)), ..Look::default() };
    let mut text = Text { look, out };
    text.wrapped(&format!("{} ({}): {}.", rule.id, rule.severity.as_str(), rule.title), "")?;
    let parts =
        [("Why", rule.why), ("Example", rule.example), ("What to do", rule.help), ("Source", rule.source)];
    for (title, part) in parts {
        let end = if part.ends_with('.') || title == "Example" { "" } else { "." };
        text.wrapped(&format!("\n{title}"), "")?;
        text.wrapped(&format!("  {part}{end}"), "  ")?;
    }
    Ok(())
}

struct Text<'a> {
    look: Look,
    out: &'a mut dyn Write,
}

impl Text<'_> {
    fn audit(&mut self, report: &Report) -> io::Result<()> {
        self.verdict(report)?;
        self.stores(report)?;
        self.findings(report)?;
        self.readers(report)?;
        self.cost(report, false)?;
        self.totals(report)
    }

    /// What a writing command did, or would do.
    fn writing(&mut self, report: &Report) -> io::Result<()> {
        let mut by_action: BTreeMap<&str, Vec<String>> = BTreeMap::new();
        for change in &report.changes {
            let line = format!("{}: {}", visible(&change.path), change.reason);
            by_action.entry(change.action).or_default().push(line);
        }
        for (action, title) in ACTIONS {
            let Some(lines) = by_action.get(action) else { continue };
            let routine = matches!(action, "write" | "link");
            if routine && !self.look.verbose && lines.len() > 2 * FEW {
                // A file and a link for each certificate: the number says it.
                self.heading(&format!("{title} ({}; -v lists them)", lines.len()))?;
            } else {
                self.heading(&format!("{title} ({})", lines.len()))?;
                self.some(lines, lines.len())?;
            }
        }
        self.cost(report, true)
    }

    /// What was measured.
    fn measure(&mut self, report: &Report) -> io::Result<()> {
        let Some(measured) = &report.measure else { return Ok(()) };
        let library = &measured.library;
        self.heading(&visible(&library.version))?;
        self.wrapped(&format!("  {}", visible(&library.libssl)), "    ")?;
        if let Some(path) = library.libcrypto.as_ref().filter(|_| self.look.verbose) {
            self.wrapped(&format!("  {}", visible(path)), "    ")?;
        }
        let key = measured.key.as_ref();
        let title = format!(
            "{:<25}{:>6}{:>11}{:>11}{:>11}{:>11}",
            "CPU time, ms", "runs", "min", "median", "spread", "wall"
        );
        self.heading(&title)?;
        for (index, store) in measured.stores.iter().enumerate() {
            self.wrapped(&format!("  {}", describe_measured(measured, index)), "    ")?;
            self.times("context", &store.context)?;
            if let Some(look_up) = &store.look_up {
                self.times("first look-up", look_up)?;
            }
        }
        if let Some(key) = key {
            self.wrapped(&format!("  {}: private key", visible(&key.path)), "    ")?;
            self.times("load", &key.load)?;
            if let Some(times) = &key.load_and_check {
                self.times("load and check", times)?;
            }
            match (&key.fault, key.sound) {
                (Some(fault), _) => {
                    self.wrapped(&format!("    the check fails: {}", visible(fault)), "      ")?
                }
                (None, None) => self.wrapped("    this library has no check for such a key", "      ")?,
                (None, Some(_)) => {}
            }
        }
        measured.comparisons.iter().try_for_each(|row| self.comparison(measured, row))
    }

    fn times(&mut self, what: &str, row: &TimesRow) -> io::Result<()> {
        writeln!(
            self.out,
            "    {what:<21}{:>6}{:>11.3}{:>11.3}{:>11.3}{:>11.3}",
            row.runs, row.min_ms, row.median_ms, row.spread_ms, row.wall_median_ms
        )
    }

    fn comparison(&mut self, measured: &MeasureRow, row: &ComparisonRow) -> io::Result<()> {
        let verdict = match row.verdict {
            "within-noise" => "within noise, not worth a change",
            "too-few-runs" => "undecided, too few runs (--runs 8 or more)",
            other => other,
        };
        let (vs, store) = (letter(row.vs), letter(row.store));
        self.heading(&format!("{vs} against {store}: {verdict}"))?;
        self.wrapped(
            &format!(
                "  ratio {vs}/{store} {:.3} (with {:.0} % confidence {:.3} to {:.3}), {} in turns",
                row.ratio,
                row.confidence * 100.0,
                row.low,
                row.high,
                count(row.pairs, "pair"),
            ),
            "    ",
        )?;
        if self.look.verbose && measured.comparisons.len() == 1 {
            let limit = row.threshold * 100.0;
            self.wrapped(
                &format!("  a context with its first look-up; less than {limit:.0} % is noise"),
                "    ",
            )?;
        }
        Ok(())
    }

    fn verdict(&mut self, report: &Report) -> io::Result<()> {
        let summary = &report.summary;
        let worst = if summary.errors > 0 {
            self.paint("error")
        } else if summary.warnings > 0 {
            self.paint("warning")
        } else {
            Style::new().fg_color(Some(AnsiColor::Green.into())).bold()
        };
        let named: Vec<_> = report.sources.iter().filter(|source| source.inside.is_none()).collect();
        let what = match named.as_slice() {
            [one] => visible(&one.path).into_owned(),
            several => count(several.len(), "store"),
        };
        let tally = [(summary.errors, "error"), (summary.warnings, "warning"), (summary.notices, "notice")]
            .map(|(number, noun)| count(number, noun))
            .join(", ");
        self.styled(worst, &format!("{what}: {tally}"), "")?;
        if let Some(next) = next(report) {
            self.wrapped(&format!("next: {next}"), "      ")?;
        }
        Ok(())
    }

    fn stores(&mut self, report: &Report) -> io::Result<()> {
        self.heading("Stores")?;
        let shown = if self.look.verbose { report.sources.len() } else { STORES };
        for source in report.sources.iter().take(shown) {
            self.wrapped(&format!("  {}: {}", visible(&source.path), describe(source, report)), "    ")?;
        }
        self.more(report.sources.len().saturating_sub(shown), "stores")
    }

    fn findings(&mut self, report: &Report) -> io::Result<()> {
        let mut order: Vec<&str> = Vec::new();
        let mut groups: BTreeMap<&str, Vec<&FindingRow>> = BTreeMap::new();
        for severity in ["error", "warning", "notice"] {
            let counted = |finding: &&FindingRow| finding.severity == severity && !finding.ignored;
            for finding in report.findings.iter().filter(counted) {
                if !order.contains(&finding.id) {
                    order.push(finding.id);
                }
                groups.entry(finding.id).or_default().push(finding);
            }
        }
        let ignored: Vec<&FindingRow> = report.findings.iter().filter(|finding| finding.ignored).collect();
        if order.is_empty() && ignored.is_empty() {
            return Ok(());
        }
        self.heading("Findings")?;
        let mut notices = Vec::new();
        for id in order {
            let group = &groups[id];
            if group[0].severity == "notice" && !self.look.verbose {
                notices.push(format!("{} {id}", group.len()));
                continue;
            }
            let shown = if self.look.verbose { group.len() } else { FEW };
            for (index, finding) in group.iter().take(shown).enumerate() {
                self.finding(finding, index == 0)?;
            }
            self.more(group.len().saturating_sub(shown), id)?;
        }
        if !notices.is_empty() {
            self.wrapped(&format!("  notices: {} (-v shows them)", notices.join(", ")), "    ")?;
        }
        if self.look.verbose && !ignored.is_empty() {
            self.heading("Ignored")?;
            ignored.iter().try_for_each(|finding| self.finding(finding, false))?;
        } else if !ignored.is_empty() {
            let mut ids: BTreeMap<&str, usize> = BTreeMap::new();
            ignored.iter().for_each(|finding| *ids.entry(finding.id).or_default() += 1);
            let ids: Vec<String> = ids.into_iter().map(|(id, number)| format!("{number} {id}")).collect();
            self.wrapped(&format!("  ignored: {} (-v shows them)", ids.join(", ")), "    ")?;
        }
        Ok(())
    }

    fn finding(&mut self, finding: &FindingRow, with_help: bool) -> io::Result<()> {
        let place = finding.occurrences.first().map(|place| match place.line {
            Some(line) => format!("{}:{line}", visible(&place.path)),
            None => visible(&place.path).into_owned(),
        });
        let style = self.paint(finding.severity);
        let help = if with_help { format!("; {}", finding.help) } else { String::new() };
        let places = match finding.occurrences.len() {
            0 | 1 => String::new(),
            // Its message says how often.
            _ if finding.id == "duplicate" => String::new(),
            number => format!(" ({number} places)"),
        };
        let text = format!("{}[{}]: {}{places}{help}", finding.severity, finding.id, finding.message);
        let line = format!("  {}: {text}", place.unwrap_or_default());
        let mark = format!("{}[{}]:", finding.severity, finding.id);
        let lines = self.lines(&line, "    ");
        for line in lines {
            let line = if self.look.color && line.contains(&mark) {
                line.replacen(&mark, &format!("{style}{mark}{style:#}"), 1)
            } else {
                line
            };
            writeln!(self.out, "{line}")?;
        }
        if self.look.verbose {
            for place in finding.occurrences.iter().skip(1) {
                let line = place.line.map_or_else(String::new, |line| format!(":{line}"));
                writeln!(self.out, "      {}{line}", visible(&place.path))?;
            }
        }
        Ok(())
    }

    /// What each library loads of each store; those that load the same stand in one line.
    fn readers(&mut self, report: &Report) -> io::Result<()> {
        let mut lines = Vec::new();
        for source in &report.sources {
            let mut groups: Vec<(&ReaderRow, Vec<Reader>)> = Vec::new();
            for row in report.readers.iter().filter(|row| row.source == source.id && row.of > 0) {
                let Ok(reader) = row.reader.parse() else { continue };
                match groups.iter_mut().find(|(known, _)| known.loads_as(row)) {
                    Some((_, readers)) => readers.push(reader),
                    None => groups.push((row, vec![reader])),
                }
            }
            for (row, readers) in groups {
                let verb = if readers.len() == 1 { "loads" } else { "load" };
                let number = if row.loads == row.of {
                    format!("all {}", row.of)
                } else {
                    format!("{} of {}", row.loads, row.of)
                };
                let stop = row.stopped_by.as_ref().map_or_else(String::new, |stop| {
                    let line = stop.place.line.map_or_else(String::new, |line| format!(" by line {line}"));
                    format!(", stopped{line}: {}", stop.reason)
                });
                let path = visible(&source.path);
                lines.push(format!("{path}: {} {verb} {number}{stop}", wording::readers(&readers)));
            }
        }
        if lines.is_empty() {
            return Ok(());
        }
        self.heading("What each library loads")?;
        let shown = if self.look.verbose { lines.len() } else { STORES };
        for line in lines.iter().take(shown) {
            self.wrapped(&format!("  {line}"), "    ")?;
        }
        self.more(lines.len().saturating_sub(shown), "lines")
    }

    /// One line a family, one column a layout.
    fn cost(&mut self, report: &Report, gains_only: bool) -> io::Result<()> {
        let rows = &report.cost;
        if rows.is_empty() {
            return Ok(());
        }
        // The one library of which the machine's own version is known.
        let openssl = rows.iter().find(|row| row.reader.starts_with("openssl-"));
        let name = openssl.map(|row| format!(", {}", row.reader.replace("openssl-", "OpenSSL ")));
        let of =
            |family: &str, layout: &str| rows.iter().find(|row| row.family == family && row.layout == layout);
        let mut families: Vec<&CostRow> = Vec::new();
        for row in rows.iter().filter(|row| row.layout == "now") {
            let gains =
                of(row.family, "compacted").is_some_and(|after| after.certificates < row.certificates);
            // Of a handful of certificates one line says enough.
            let matters = self.look.verbose || row.certificates >= MANY;
            let shown = if gains_only { gains && matters } else { matters || families.is_empty() };
            if shown {
                families.push(row);
            }
        }
        if families.is_empty() {
            return Ok(());
        }
        let splits = rows.iter().any(|row| row.layout == "split");
        let title = format!("Cost of a load, CPU ms (estimate{})", name.unwrap_or_default());
        let last = if splits { "split" } else { "" };
        self.heading(format!("{title:<48}{:>9}{:>11}{last:>10}", "now", "compacted").trim_end())?;
        for &now in &families {
            let mut line = format!("  {:<46}", format!("{}, a {}", now.title, now.per));
            for (layout, width) in [("now", 9), ("compacted", 11), ("split", 10)] {
                let cell = of(now.family, layout).map(|row| format!("{:.2}", row.estimate.milliseconds));
                line.push_str(&format!("{:>width$}", cell.unwrap_or_default()));
            }
            writeln!(self.out, "{}", line.trim_end())?;
            for layout in ["now", "split"] {
                if let Some(measured) = of(now.family, layout).and_then(|row| row.measurement.as_ref()) {
                    let times = &measured.times;
                    let line = format!(
                        "    measured {layout}: {:.2} ms at least, {:.2} median of {} runs, {}",
                        times.min_ms,
                        times.median_ms,
                        times.runs,
                        visible(&measured.library),
                    );
                    self.wrapped(&line, "      ")?;
                }
            }
            if self.look.verbose {
                let reads = |layout| {
                    let row = of(now.family, layout)?;
                    Some(format!(
                        "{layout} {} in {}",
                        count(row.certificates, "certificate"),
                        count(row.files, "file")
                    ))
                };
                let mut parts: Vec<String> =
                    ["now", "compacted", "split"].into_iter().filter_map(reads).collect();
                if now.on_demand {
                    parts.push("the directory on demand".to_owned());
                }
                parts.push(now.estimate.model.clone());
                let sources = now.sources.iter().filter_map(|&id| report.sources.get(id));
                let paths: Vec<_> = sources.map(|source| visible(&source.path)).collect();
                let paths = if paths.is_empty() { "nothing at once".to_owned() } else { paths.join(", ") };
                self.wrapped(&format!("    {paths}: {}", parts.join("; ")), "      ")?;
            }
        }
        if !gains_only {
            self.reuse(report)?;
        }
        let version = openssl.and_then(|row| row.estimate.version.as_deref());
        if let (true, Some(version)) = (self.look.verbose, version) {
            writeln!(self.out, "  OpenSSL {version} is what this is estimated for")?;
        }
        let mut values: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        for row in &report.variables {
            values.entry(&row.value).or_default().push(row.name);
        }
        for (value, names) in values {
            self.wrapped(&format!("  set here: {} = {}", names.join(", "), visible(value)), "    ")?;
        }
        Ok(())
    }

    /// What a program saves that keeps its context.
    fn reuse(&mut self, report: &Report) -> io::Result<()> {
        let Some(now) = report.cost.iter().find(|row| row.layout == "now" && row.per != "process") else {
            return Ok(());
        };
        let Some(contexts) = report.contexts_per_day else {
            return self.wrapped("  one context for all requests pays this once, not once a request", "    ");
        };
        let day = ["now", "compacted", "split"].into_iter().filter_map(|layout| {
            let row = report.cost.iter().find(|row| row.family == now.family && row.layout == layout)?;
            Some(format!("{:.2} s {layout}", row.estimate.seconds_per_day?))
        });
        let line = format!(
            "  {contexts} contexts a day: {}; one context for all of them: {:.2} ms",
            day.collect::<Vec<_>>().join(", "),
            now.estimate.milliseconds,
        );
        self.wrapped(&line, "    ")
    }

    fn totals(&mut self, report: &Report) -> io::Result<()> {
        let summary = &report.summary;
        self.heading("Totals")?;
        self.wrapped(
            &format!(
                "  {} at {} (repeats: {}); {} expired at {}",
                count(summary.certificates, "certificate"),
                count(summary.occurrences, "place"),
                summary.duplicates,
                summary.expired,
                report.now,
            ),
            "    ",
        )?;
        writeln!(self.out, "  digest {}", summary.digest)?;
        if !report.labels.is_empty() {
            let labels: Vec<String> = report
                .labels
                .iter()
                .map(|(key, value)| format!("{}={}", visible(key), visible(value)))
                .collect();
            self.wrapped(&format!("  labels {}", labels.join(", ")), "    ")?;
        }
        Ok(())
    }

    fn some(&mut self, lines: &[String], of: usize) -> io::Result<()> {
        let shown = if self.look.verbose { of } else { 2 * FEW };
        for line in lines.iter().take(shown) {
            self.wrapped(&format!("  {line}"), "    ")?;
        }
        self.more(of.saturating_sub(shown), "")
    }

    fn more(&mut self, number: usize, what: &str) -> io::Result<()> {
        match number {
            0 => Ok(()),
            _ if what.is_empty() => writeln!(self.out, "    and {number} more (-v shows them)"),
            1 => writeln!(self.out, "    and 1 more {what} (-v shows it)"),
            _ => writeln!(self.out, "    and {number} more {what} (-v shows them)"),
        }
    }

    fn heading(&mut self, text: &str) -> io::Result<()> {
        self.styled(Style::new().bold(), text, "")
    }

    fn styled(&mut self, style: Style, text: &str, indent: &str) -> io::Result<()> {
        for line in self.lines(text, indent) {
            if self.look.color {
                writeln!(self.out, "{style}{line}{style:#}")?;
            } else {
                writeln!(self.out, "{line}")?;
            }
        }
        Ok(())
    }

    fn wrapped(&mut self, text: &str, indent: &str) -> io::Result<()> {
        self.lines(text, indent).into_iter().try_for_each(|line| writeln!(self.out, "{line}"))
    }

    fn lines(&self, text: &str, indent: &str) -> Vec<String> {
        match self.look.width {
            None => vec![text.to_owned()],
            Some(width) => {
                let (first, text) = text.split_at(text.len() - text.trim_start().len());
                let options = textwrap::Options::new(width.max(40))
                    .initial_indent(first)
                    .subsequent_indent(indent)
                    .break_words(false)
                    .word_separator(textwrap::WordSeparator::AsciiSpace)
                    .word_splitter(textwrap::WordSplitter::NoHyphenation);
                textwrap::wrap(text, options).into_iter().map(std::borrow::Cow::into_owned).collect()
            }
        }
    }

    fn paint(&self, severity: &str) -> Style {
        let color = match severity {
            "error" => AnsiColor::Red,
            "warning" => AnsiColor::Yellow,
            _ => AnsiColor::Cyan,
        };
        Style::new().fg_color(Some(color.into())).bold()
    }
}

/// Actions in the order in which people read them, and what they are called.
const ACTIONS: [(&str, &str); 8] = [
    ("drop", "Left out"),
    ("gain", "Gained"),
    ("repair", "Put right"),
    ("keep", "Left as it is"),
    ("write", "Files"),
    ("link", "Links"),
    ("unlink", "Links taken away"),
    ("remove", "Files taken away"),
];

fn describe(source: &SourceRow, report: &Report) -> String {
    let certificates = |number| count(number, "certificate");
    let held = match source.certificates - source.unique {
        0 => certificates(source.certificates),
        _ => format!("{} ({} distinct)", certificates(source.certificates), source.unique),
    };
    match source.kind {
        "capath" => {
            let mut text =
                format!("CApath, {held} in its own files, {} found by hash", source.reachable.unwrap_or(0));
            if let [first, rest @ ..] = source.only_here.as_slice() {
                let subject = report
                    .certificates
                    .iter()
                    .find(|row| row.sha256 == *first)
                    .map(|row| row.subject.as_str());
                let more = if rest.is_empty() { "" } else { ", ..." };
                text.push_str(&format!(
                    ", {} of them in no CAfile here ({}{more})",
                    source.only_here.len(),
                    visible(subject.unwrap_or_default())
                ));
            }
            text
        }
        "bundle" => {
            let mut text = format!("CAfile, {held}");
            let inside = source.inside.and_then(|id| report.sources.get(id));
            if let (Some(found), Some(directory)) = (source.reachable, inside) {
                let directory = visible(&directory.path);
                text.push_str(&if found == source.unique {
                    format!(", all of them also found by hash in {directory}")
                } else {
                    format!(", {found} of them also found by hash in {directory}")
                });
            }
            text
        }
        "directory" => {
            format!("directory without hash links, {held} in its own files")
        }
        "certificate" => "one certificate".to_owned(),
        "pkcs7" => format!("PKCS#7, {}", certificates(source.certificates)),
        "keystore" => "a keystore, not read".to_owned(),
        _ => "no certificate".to_owned(),
    }
}

/// A, B, C, and numbers where the alphabet ends.
fn letter(index: usize) -> String {
    match u8::try_from(index) {
        Ok(index) if index < 26 => char::from(b'A' + index).to_string(),
        _ => (index + 1).to_string(),
    }
}

/// A store that was measured, and what of it each context loads.
fn describe_measured(measured: &MeasureRow, index: usize) -> String {
    let MeasuredRow { path, cafile, capath, certificates, blocks, .. } = &measured.stores[index];
    let mark = if measured.stores.len() > 1 { format!("{} ", letter(index)) } else { String::new() };
    let name = path.as_ref().map_or_else(|| "OpenSSL's defaults".into(), |path| visible(path));
    let named = path.as_deref().unwrap_or_default();
    let named = ["cafile:", "capath:"].iter().find_map(|prefix| named.strip_prefix(prefix)).unwrap_or(named);
    let part = |what: &str, part: &Option<String>| {
        let part = part.as_ref()?;
        // A bundle inside the directory that was named: its name says which.
        let inside = part.strip_prefix(named.trim_end_matches('/')).and_then(|rest| rest.strip_prefix('/'));
        Some(match inside {
            _ if part == named => what.to_owned(),
            Some(name) if !named.is_empty() => format!("{what} {}", visible(name)),
            _ => format!("{what} {}", visible(part)),
        })
    };
    let parts: Vec<String> = [part("CAfile", cafile), part("CApath", capath)].into_iter().flatten().collect();
    let loaded = match (certificates, blocks) {
        (None, _) => String::new(),
        (Some(loaded), Some(blocks)) if loaded < blocks => {
            format!(", {} in memory, of {blocks} parsed", count(*loaded, "certificate"))
        }
        (Some(loaded), _) => format!(", {} parsed", count(*loaded, "certificate")),
    };
    format!("{mark}{name}: {}{loaded}", parts.join(", "))
}

/// What to type next.
fn next(report: &Report) -> Option<String> {
    let has = |id: &str| report.findings.iter().any(|finding| finding.id == id && !finding.ignored);
    let named: Vec<&SourceRow> = report.sources.iter().filter(|source| source.inside.is_none()).collect();
    let paths: Vec<String> = named.iter().map(|source| shell_word(&source.path)).collect();
    let paths = match paths.as_slice() {
        [_, _, _, _, ..] => "PATH...".to_owned(),
        few => few.join(" "),
    };
    // Typed as it stands it must not act on the machine instead.
    let paths = match &report.root {
        Some(root) => format!("--root {} {paths}", shell_word(root)),
        None => paths,
    };
    if report.summary.errors > 0 && report.summary.certificates == 0 {
        return None;
    }
    if has("unreachable") || has("no-hash-links") || has("wrong-hash-link") || has("bad-link-name") {
        return Some(format!("castore rehash --dry-run {paths}"));
    }
    // What compact puts right without a guess.
    let mendable = |finding: &FindingRow| {
        finding.ignored
            || finding.severity != "error"
            // A refusal for another reason than framing or other blocks stands beside an error of its own.
            || matches!(finding.id, "glued-boundary" | "der-in-bundle" | "bundle-refused" | "hidden-block")
    };
    if report.summary.errors > 0 && !report.findings.iter().all(mendable) {
        return Some("mend the errors below; castore audit -v shows every place".to_owned());
    }
    let milliseconds = |layout: &str| {
        let mut defaults = report.cost.iter().filter(|row| row.family == "openssl-defaults");
        defaults.find(|row| row.layout == layout).map(|row| row.estimate.milliseconds)
    };
    let saved = match (milliseconds("now"), milliseconds("compacted")) {
        (Some(now), Some(then)) if now > then => {
            format!(" (saves about {:.2} of {now:.2} ms a context)", now - then)
        }
        _ => String::new(),
    };
    let worth = ["duplicate", "duplicate-across", "expired", "one-sided"].into_iter().any(has);
    if report.summary.errors > 0 || worth {
        return Some(format!("castore compact {paths} --bundle NEW.crt --capath NEW --dry-run{saved}"));
    }
    if has("eager-and-on-demand") {
        return Some("reuse one TLS context; compact would save nothing here".to_owned());
    }
    None
}

/// A path as a shell takes it for one word, where it can be typed at all.
fn shell_word(path: &str) -> String {
    let text = visible(path);
    let plain = |c: char| c.is_ascii_alphanumeric() || "/._-+@%=:,".contains(c);
    let text = if text.starts_with('-') && text != "-" { format!("./{text}") } else { text.into_owned() };
    if !text.is_empty() && text.chars().all(plain) {
        text
    } else {
        format!("'{}'", text.replace('\'', "'\\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_for_a_shell() {
        assert_eq!(shell_word("/etc/ssl/certs"), "/etc/ssl/certs");
        assert_eq!(shell_word("my dir"), "'my dir'");
        assert_eq!(shell_word("-rf.pem"), "./-rf.pem");
        assert_eq!(shell_word("it's"), "'it'\\''s'");
        assert_eq!(shell_word("$(id)"), "'$(id)'");
        assert_eq!(shell_word("-"), "-");
    }
}
