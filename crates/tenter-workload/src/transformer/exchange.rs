//! How tokens reach experts, and results come back.

use std::ops::RangeInclusive;

use tenter_language::config::{Idle, choice, component};

use super::error::{Checked, wrong};
use super::model::ModelSpec;
use super::skew::Skew;
use crate::collective::{
    CollectiveKind, ExpertKeys, MoeCombineLowLatency, MoeCombineNormal, MoeCombineNvlink,
    MoeDispatchLowLatency, MoeDispatchNormal, MoeDispatchNvlink, NormalKeys,
};

/// Way of tokens to experts and back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExchangeAlgorithm {
    /// All-to-alls of all choices, by the algorithm of all-to-alls.
    AllToAll,
    /// Dispatch and combination by way of hosts.
    Normal,
    /// Dispatch and combination straight from rank to rank.
    LowLatency,
    /// Dispatch and combination within one scale-up domain.
    Nvlink,
}

choice!(ExchangeAlgorithm {
    "all-to-all" => AllToAll,
    "normal" => Normal,
    "low-latency" => LowLatency,
    "nvlink" => Nvlink,
});

component! {
    /// How tokens reach experts, and results come back.
    pub struct ExpertExchange as "`jobs[].workload.expert_exchange`" {
        idle idle;
        /// `all-to-all` sends every choice in an all-to-all; the other words are algorithms of
        /// `moe-dispatch` and `moe-combine`.
        algorithm: ExchangeAlgorithm = "all-to-all";
        /// Hosts among which a token may choose its experts.
        hosts_per_token: Option<u32> = absent "all hosts", in COUNTS;
        /// Streaming multiprocessors that each NPU gives the kernels.
        sms: u32 = "24", in 1..=1_000, from "DeepEP's tests: 24 of 132";
    }
}

const COUNTS: RangeInclusive<u32> = 1..=u32::MAX;

/// Lists the keys of `normal` beside another algorithm.
fn idle(own: &ExpertExchange) -> Vec<Idle> {
    if own.algorithm == ExchangeAlgorithm::Normal {
        return Vec::new();
    }
    let remedy = "leave it out, or give `algorithm: normal`";
    let keys = ["hosts_per_token", "sms"];
    Idle::all(&keys, "has no effect on this algorithm", remedy)
}

impl ExpertExchange {
    /// Refuses kernels whose tokens are spread unevenly, which no calibration covers.
    pub(crate) fn check(self, key: &str, skew: Skew) -> Checked<()> {
        if self.algorithm == ExchangeAlgorithm::AllToAll || skew.is_even() {
            return Ok(());
        }
        let what = "has kernels that send all experts alike, and `expert_skew` is not 0".to_owned();
        let remedy = "leave out `expert_skew`, or give `algorithm: all-to-all`".to_owned();
        wrong(key, what, remedy)
    }

    /// Returns dispatch and combination for the experts of `model`, whose sizes are those of all
    /// tokens, each once; `None` for all-to-alls, whose sizes are those of all choices.
    pub(crate) fn kinds(self, model: &ModelSpec) -> Option<[CollectiveKind; 2]> {
        let experts = ExpertKeys {
            top_k: model.top_k,
            experts: model.experts,
            ..ExpertKeys::default()
        };
        let normal = NormalKeys {
            hosts_per_token: self.hosts_per_token,
            sms: self.sms,
            ..NormalKeys::default()
        };
        match self.algorithm {
            ExchangeAlgorithm::AllToAll => None,
            ExchangeAlgorithm::Normal => Some([
                MoeDispatchNormal { experts, normal }.into(),
                MoeCombineNormal { experts, normal }.into(),
            ]),
            ExchangeAlgorithm::LowLatency => Some([
                MoeDispatchLowLatency { experts }.into(),
                MoeCombineLowLatency { experts }.into(),
            ]),
            ExchangeAlgorithm::Nvlink => Some([
                MoeDispatchNvlink { experts }.into(),
                MoeCombineNvlink { experts }.into(),
            ]),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::transformer::small_model;

    #[test]
    fn kernels_know_the_experts_of_the_model() {
        let usual = [
            ("layers", "2"),
            ("hidden", "64"),
            ("heads", "8"),
            ("ffn", "128"),
            ("vocabulary", "64"),
        ];
        let model = small_model(&usual, &[("experts", "16"), ("top_k", "4")]);
        let model = crate::transformer::dimensions(&model);
        assert_eq!(ExpertExchange::default().kinds(&model), None);
        let of = |algorithm| ExpertExchange {
            algorithm,
            hosts_per_token: Some(2),
            sms: 20,
        };
        for (algorithm, word) in [
            (ExchangeAlgorithm::Normal, "normal"),
            (ExchangeAlgorithm::LowLatency, "low-latency"),
            (ExchangeAlgorithm::Nvlink, "nvlink"),
        ] {
            let kinds = of(algorithm).kinds(&model).expect("they are kernels");
            let found = kinds.each_ref().map(|kind| (kind.name(), kind.algorithm()));
            assert_eq!(found, [("moe-dispatch", word), ("moe-combine", word)]);
            let written = kinds[0].texts();
            assert!(written.contains(&("top_k", "4".to_owned())), "{written:?}");
            assert!(
                written.contains(&("experts", "16".to_owned())),
                "{written:?}"
            );
        }
        let refused = of(ExchangeAlgorithm::Normal).check("expert_exchange", Skew(0.5));
        let refused = refused
            .expect_err("no kernel is calibrated for it")
            .to_string();
        assert!(refused.contains("leave out `expert_skew`"), "{refused}");
        assert!(ExpertExchange::default().check("", Skew(0.5)).is_ok());
    }
}
