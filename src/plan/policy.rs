//! What a user decides, as named values.

/// What becomes of expired certificates.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ExpiredPolicy {
    /// They go, each one listed.
    #[default]
    Drop,
    /// They stay.
    Keep,
    /// They go where a valid certificate of the same subject and key stays.
    Superseded,
}

/// What becomes of blocks that cannot be read without a guess.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum MalformedPolicy {
    /// Nothing is written.
    #[default]
    Refuse,
    /// They are left out, each one listed.
    Drop,
    /// The guess is taken, each one listed; where there is none, nothing is written.
    Repair,
}

/// What becomes of certificates that may not issue others.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum NotCaPolicy {
    /// They stay where they are.
    #[default]
    Keep,
    /// They go, each one listed.
    Drop,
}

/// What becomes of trust attributes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum TrustPolicy {
    /// TRUSTED blocks become plain ones; what that widens is listed.
    #[default]
    Plain,
    /// TRUSTED blocks stay such.
    Keep,
    /// Nothing is written where there is one.
    Refuse,
}

/// In which order certificates are written. Those of one subject always keep their order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Order {
    /// As they were met.
    #[default]
    FirstSeen,
    /// By subject, as text.
    Subject,
    /// By fingerprint.
    Fingerprint,
}

/// Whether an existing output may gain anchors.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum GainPolicy {
    /// Nothing is written where it would.
    #[default]
    Refuse,
    /// It may; each one is listed.
    Accept,
}

/// Whether entries of an existing directory that the plan does not want are removed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum PrunePolicy {
    /// They stay, and are listed.
    #[default]
    Keep,
    /// They go.
    Prune,
}

/// How `compact` decides.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Policy {
    /// Expired certificates.
    pub expired: ExpiredPolicy,
    /// Damaged blocks.
    pub malformed: MalformedPolicy,
    /// Leaves.
    pub not_ca: NotCaPolicy,
    /// Trust attributes.
    pub trust: TrustPolicy,
    /// Order.
    pub order: Order,
    /// New anchors in an existing output.
    pub gain: GainPolicy,
    /// Unwanted entries of an existing directory.
    pub prune: PrunePolicy,
    /// How many per cent of an existing output's distinct certificates may go without being named.
    pub max_shrink: u8,
}

impl Default for Policy {
    fn default() -> Self {
        Self {
            expired: ExpiredPolicy::default(),
            malformed: MalformedPolicy::default(),
            not_ca: NotCaPolicy::default(),
            trust: TrustPolicy::default(),
            order: Order::default(),
            gain: GainPolicy::default(),
            prune: PrunePolicy::default(),
            max_shrink: 20,
        }
    }
}
