//! Requests: when they arrive, how long their prompts are, and how many tokens they ask for.

use std::fmt;
use std::ops::RangeInclusive;
use std::str::FromStr;

use tenter_config::{Chance, Reader, Shape, Value, Written, component, parsed, told_apart};
use tenter_engine::Draws;
use tenter_units::Time;

use crate::flow_workload::{Between, GapLaw, Point, SizeDistribution};

component! {
    /// Requests to a model.
    pub struct RequestsSpec as "`jobs[].workload.requests`", derive(Clone, Debug, PartialEq) {
        either "rate", "concurrency";
        /// Requests per second, which arrive at exponentially distributed times whatever becomes of
        /// those before (an open loop).
        rate: Option<RequestRate> = absent "this or `concurrency`";
        /// Users that each wait for a request before they send the next one (a closed loop).
        concurrency: Option<u32> = absent "this or `rate`", in 1..=REQUESTS_MAX;
        /// Requests in all.
        count: u32, in 1..=REQUESTS_MAX;
        /// Tokens of a prompt: a number, `{least, most}`, each number as likely, or `{points}` of a
        /// cumulative distribution.
        prompt_tokens: TokenCounts;
        /// Tokens of an answer, written in the same way.
        output_tokens: TokenCounts;
        check holds;
    }
}

/// Requests are numbered in tags of messages.
const REQUESTS_MAX: u32 = 1_000_000;
const TOKENS: RangeInclusive<u32> = 1..=10_000_000;

fn holds(spec: &RequestsSpec, reader: &mut dyn Reader) -> bool {
    match (spec.rate, spec.concurrency) {
        (None, None) => {
            let remedy = "add `concurrency: 16`, for example";
            reader.refuse_all("lacks `rate` or `concurrency`", remedy);
            false
        }
        (Some(_), Some(_)) => {
            let remedy = "leave one of them out";
            reader.refuse_all("has a `rate` and a `concurrency`", remedy);
            false
        }
        _ => true,
    }
}

/// Requests per second, from 0.001 to 1,000,000.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RequestRate(pub f64);

impl FromStr for RequestRate {
    type Err = ();

    fn from_str(word: &str) -> Result<RequestRate, ()> {
        let rate = word.parse().map_err(|_| ())?;
        let holds = (0.001..=1e6).contains(&rate);
        holds.then_some(RequestRate(rate)).ok_or(())
    }
}

impl fmt::Display for RequestRate {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(out)
    }
}

parsed!(RequestRate {
    "decimal, 0.001 to 1000000",
    "cannot be",
    "give requests per second, from 0.001 to 1000000"
});

component! {
    /// Numbers of tokens, each as likely as the others.
    pub struct TokenRange as "`jobs[].workload.requests.…_tokens`, written as a range" {
        /// The least number.
        least: u32, in TOKENS;
        /// The largest.
        most: u32, in TOKENS;
        check in_order;
    }
}

component! {
    /// Numbers of tokens by points of their cumulative distribution, both ascending.
    pub struct TokenPoints as "`jobs[].workload.requests.…_tokens`, written as points", derive(Clone, Debug, PartialEq) {
        /// The points.
        points: Vec<TokenPoint>;
        /// Whether only the numbers of the points occur, or all between them, along a line.
        between: Between = "lines";
        check are_a_distribution;
    }
}

component! {
    /// A point of a cumulative distribution.
    pub struct TokenPoint as "`jobs[].workload.requests.…_tokens.points[]`", derive(Clone, Copy, Debug, PartialEq, Eq) {
        /// A number of tokens.
        tokens: u32, in 0..=*TOKENS.end();
        /// The share of the requests with no more.
        cumulative: Chance;
    }
}

told_apart! {
    /// Several numbers of tokens.
    pub enum TokensBy as derive(Clone, Debug, PartialEq) {
        "is neither a range nor points", "give `least` and `most`, or `points`";
        /// Between two numbers.
        "least" => Range(TokenRange);
        /// By points.
        "points" => Points(TokenPoints);
    }
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "a check is given a reference"
)]
fn in_order(range: &TokenRange, reader: &mut dyn Reader) -> bool {
    let in_order = range.least <= range.most;
    if !in_order {
        let remedy = "swap the two, or raise `most`";
        reader.refuse("most", "is less than `least`", remedy);
    }
    in_order
}

fn are_a_distribution(points: &TokenPoints, reader: &mut dyn Reader) -> bool {
    let is_one = points.distribution().is_some();
    if !is_one {
        let what = "make no distribution of numbers of tokens";
        let remedy = "give numbers and shares that ascend, the last share 1";
        reader.refuse("points", what, remedy);
    }
    is_one
}

impl TokenPoints {
    fn distribution(&self) -> Option<SizeDistribution> {
        let point = |of: &TokenPoint| Point {
            size_bytes: u64::from(of.tokens),
            up_to: of.cumulative.probability(),
        };
        let points = self.points.iter().map(point).collect();
        SizeDistribution::new(points, self.between).ok()
    }
}

/// How many tokens a prompt or an answer has.
#[derive(Clone, Debug, PartialEq)]
pub enum TokenCounts {
    /// All the same.
    One(u32),
    /// A range, or points.
    By(TokensBy),
}

impl TokenCounts {
    /// The number by a uniform 64-bit value.
    fn draw(&self, draw: u64) -> u32 {
        match self {
            TokenCounts::One(tokens) => *tokens,
            TokenCounts::By(TokensBy::Range(range)) => {
                let width = u128::from(range.most - range.least) + 1;
                range.least + ((u128::from(draw) * width) >> 64) as u32
            }
            TokenCounts::By(TokensBy::Points(points)) => {
                let drawn = points.distribution().map(|of| of.draw(draw));
                drawn.map_or(1, |tokens| tokens as u32)
            }
        }
    }

    /// The largest number.
    pub(super) fn largest(&self) -> u32 {
        self.draw(u64::MAX)
    }
}

impl Value for TokenCounts {
    type Bounds = ();

    fn shape((): ()) -> Shape {
        let number = u32::shape(TOKENS);
        Shape::Either(Box::new(number), Box::new(TokensBy::shape(())))
    }

    fn read(reader: &mut dyn Reader, key: &str, (): ()) -> Option<TokenCounts> {
        if reader.is_mapping(key) {
            return TokensBy::read(reader, key, ()).map(TokenCounts::By);
        }
        u32::read(reader, key, TOKENS).map(TokenCounts::One)
    }

    fn written(&self) -> Written {
        match self {
            TokenCounts::One(tokens) => tokens.written(),
            TokenCounts::By(by) => by.written(),
        }
    }
}

/// When a request comes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arrival {
    /// So long after the start, in ps.
    At(u64),
    /// When a request before it has ended.
    After(u32),
}

/// A request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request {
    /// When it comes.
    pub arrival: Arrival,
    /// Tokens of its prompt.
    pub prompt: u32,
    /// Tokens of its answer.
    pub output: u32,
    /// The number by which it is dealt to replicas: its own, or that of its user.
    pub dealt: u32,
}

impl RequestsSpec {
    /// All requests, in the order of their numbers; those of a seed are always the same.
    pub fn drawn(&self, seed: u64) -> Vec<Request> {
        let [gaps, sizes] = ["arrivals", "tokens"].map(|of| Draws::new(seed, "requests", of));
        let mut now = Time::ZERO;
        let one = |number: u32| {
            let of_tokens = sizes.of(u64::from(number));
            let (arrival, dealt) = match (self.rate, self.concurrency) {
                (Some(RequestRate(rate)), _) => {
                    let mean = Time::from_ps((1e12 / rate) as u64);
                    let gap = GapLaw::Exponential.draw(mean, gaps, u64::from(number));
                    now = now.saturating_add(gap);
                    (Arrival::At(now.ps()), number)
                }
                (None, users) => {
                    let users = users.unwrap_or(1);
                    let before = number.checked_sub(users);
                    let arrival = before.map_or(Arrival::At(0), Arrival::After);
                    (arrival, number % users)
                }
            };
            Request {
                arrival,
                prompt: self.prompt_tokens.draw(of_tokens.at(0)),
                output: self.output_tokens.draw(of_tokens.at(1)),
                dealt,
            }
        };
        (0..self.count).map(one).collect()
    }

    /// How many users wait for their requests, in a closed loop.
    pub(super) fn users(&self) -> Option<u32> {
        self.concurrency.filter(|_| self.is_closed())
    }

    /// Whether requests follow others.
    pub fn is_closed(&self) -> bool {
        self.rate.is_none()
    }
}
