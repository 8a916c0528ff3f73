//! Patterns of parallel applications, in place of collectives.

use tenter_engine::Draws;
use tenter_workload::Schedule;
use tenter_workload::pattern::{
    Amg, Amr, CommunicationMatrix, DatabasePod, Gtc, Matrix, Milc, MiniDft, Nekbone, PatternKind,
    PatternSchedule,
};

use super::draw::Draw;
use super::limits::Limits;

/// Draws a pattern over `ranks` ranks of about `packets` packets on all queue pairs, as a YAML
/// mapping. Returns `None` if it has more transfers than that.
pub(super) fn write(
    draw: &mut Draw,
    ranks: u64,
    queue_pairs: u64,
    packets: u64,
    limits: &Limits,
) -> Option<String> {
    let draws = Draws::new(draw.below(1 << 32), "pattern", "test");
    let rack = draw.within(1..=ranks.div_ceil(2)) as u32;
    let (partners, transfers) = (2 * draw.within(1..=4), draw.within(1..=6));
    let kinds = [
        PatternKind::MiniDft(MiniDft::default()),
        PatternKind::Milc(Milc::default()),
        PatternKind::Nekbone(Nekbone::default()),
        PatternKind::Amg(Amg {
            points: 4,
            least_points: 2,
            ..Amg::default()
        }),
        PatternKind::Amr(Amr {
            partners: partners as u32,
            ..Amr::default()
        }),
        PatternKind::Gtc(Gtc::default()),
        PatternKind::DatabasePod(DatabasePod {
            rack,
            transfers: transfers as u32,
            ..DatabasePod::default()
        }),
        PatternKind::Matrix(Matrix::of(chosen_pairs(draws, ranks as u32))),
    ];
    let kind = &kinds[draw.below(kinds.len() as u64) as usize];
    let schedule = PatternSchedule::new(kind.clone(), draws, ranks as u32, 0).ok()?;
    let steps = draw.within(1..=3);
    // Patterns that draw may have a few pairs more with the scenario's own seed.
    let count = 2 * u64::from(schedule.transfer_count()) * queue_pairs * steps;
    if count > packets {
        return None;
    }
    let most = (packets / count).clamp(1, 40) * limits.packet_bytes;
    let mut size = || draw.within(1..=most);
    let own = match kind {
        PatternKind::MiniDft(_) => format!("block: {}B, reduce: {}B", size(), size()),
        PatternKind::Milc(_) => format!("face: {}B, reduce: {}B", size(), size()),
        PatternKind::Nekbone(_) => {
            let [face, edge, corner] = [size(), size(), size()];
            format!("face: {face}B, edge: {edge}B, corner: {corner}B")
        }
        PatternKind::Amg(_) => "points: 4, least_points: 2".to_owned(),
        PatternKind::Amr(_) => {
            let least = size();
            let most = least + size();
            format!("partners: {partners}, least: {least}B, most: {most}B, regrid: 0.5")
        }
        PatternKind::Gtc(_) => {
            let [charge, field, particles] = [size(), size(), size()];
            format!("charge: {charge}B, field: {field}B, particles: {particles}B")
        }
        PatternKind::DatabasePod(_) => {
            let size = size();
            format!("rack: {rack}, transfers: {transfers}, transfer: {size}B")
        }
        PatternKind::Matrix(_) => sends(&schedule.matrix(), &mut size),
    };
    let (name, compute) = (kind.member().algorithm, draw.below(20_000));
    Some(format!(
        "{{kind: {name}, steps: {steps}, compute: {compute}ns, {own}}}"
    ))
}

/// Draws a pattern over `ranks` ranks for a workload of flows, as a YAML mapping: who sends to
/// whom, without steps.
pub(super) fn demand(draw: &mut Draw, ranks: u64) -> String {
    let draws = Draws::new(draw.below(1 << 32), "demand", "test");
    let size = draw.within(1..=5_000);
    match draw.below(4) {
        0 => format!("{{kind: milc, face: {size}B}}"),
        1 => "{kind: nekbone}".to_owned(),
        2 => format!("{{kind: amr, partners: 4, least: {size}B}}"),
        _ => {
            let matrix = chosen_pairs(draws, ranks as u32);
            let sends = sends(&matrix, &mut || draw.within(1..=size));
            format!("{{kind: matrix, {sends}}}")
        }
    }
}

/// Writes a matrix as text, with a new size for each pair.
fn sends(matrix: &CommunicationMatrix, size: &mut impl FnMut() -> u64) -> String {
    let sends = matrix
        .iter()
        .map(|(src, dst, _)| format!("{src} {dst} {}", size()));
    format!("sends: {}", sends.collect::<Vec<_>>().join("; "))
}

/// Draws one to eight pairs; some ranks may have none.
fn chosen_pairs(draws: Draws, ranks: u32) -> CommunicationMatrix {
    let pair = |number: u64| {
        let src = draws.below(2 * number, u64::from(ranks)) as u32;
        let away = 1 + draws.below(2 * number + 1, u64::from(ranks) - 1) as u32;
        (src, (src + away) % ranks, 1)
    };
    let count = 1 + draws.below(u64::MAX, 8);
    CommunicationMatrix::of(ranks, (0..count).map(pair).collect())
}
