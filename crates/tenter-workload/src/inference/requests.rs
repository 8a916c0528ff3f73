//! Requests: arrival times, prompt lengths and answer lengths.

use std::fmt;
use std::ops::RangeInclusive;
use std::str::FromStr;

use tenter_engine::Draws;
use tenter_language::config::{
    Chance, Reader, Shape, Value, Written, component, parsed, told_apart,
};
use tenter_language::units::Time;

use crate::flow_workload::{Between, GapLaw, Point, SizeDistribution};

component! {
    /// Requests to a model: their number, their arrivals and their tokens.
    pub struct RequestsSpec as "`jobs[].workload.requests`", derive(Clone, Debug, PartialEq) {
        either "rate", "concurrency";
        /// Requests per second, which arrive at exponentially distributed times whatever becomes of
        /// those before (an open loop).
        rate: Option<RequestRate> = absent "this or `concurrency`";
        /// Users that each wait for a request before they send the next one (a closed loop).
        concurrency: Option<u32> = absent "this or `rate`", in 1..=REQUESTS_MAX;
        /// Requests in all, over all users.
        count: u32, in 1..=REQUESTS_MAX;
        /// Tokens of a prompt: a number, `{least, most}`, each number as likely, or `{points}` of a
        /// cumulative distribution.
        prompt_tokens: TokenCounts;
        /// Tokens of an answer, written in the same way.
        output_tokens: TokenCounts;
        check holds;
    }
}

/// Bound that lets message tags hold a request number beside their flag bits.
const REQUESTS_MAX: u32 = 1_000_000;
const TOKENS: RangeInclusive<u32> = 1..=10_000_000;

/// Checks that either a rate or a user count is given, and not both.
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

/// Arrival rate in requests per second, from 0.001 to 1,000,000.
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
        /// The least number of tokens.
        least: u32, in TOKENS;
        /// The largest number of tokens.
        most: u32, in TOKENS;
        check in_order;
    }
}

component! {
    /// Numbers of tokens by points of their cumulative distribution, both ascending.
    pub struct TokenPoints as "`jobs[].workload.requests.…_tokens`, written as points", derive(Clone, Debug, PartialEq) {
        /// Points of the distribution, in ascending order.
        points: Vec<TokenPoint>;
        /// Numbers of tokens that occur: those of the points alone, or all between them, along a
        /// line.
        between: Between = "lines";
        check are_a_distribution;
    }
}

component! {
    /// A point of a cumulative distribution.
    pub struct TokenPoint as "`jobs[].workload.requests.…_tokens.points[]`", derive(Clone, Copy, Debug, PartialEq, Eq) {
        /// A number of tokens of a prompt or of an answer.
        tokens: u32, in 0..=*TOKENS.end();
        /// The share of the requests with no more.
        cumulative: Chance;
    }
}

told_apart! {
    /// Several numbers of tokens, by a range or by points.
    pub enum TokensBy as derive(Clone, Debug, PartialEq) {
        "is neither a range nor points", "give `least` and `most`, or `points`";
        /// Between two numbers, each as likely.
        "least" => Range(TokenRange);
        /// By points of a cumulative distribution.
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

/// Token counts for prompts or answers.
#[derive(Clone, Debug, PartialEq)]
pub enum TokenCounts {
    /// One number that holds for all requests.
    One(u32),
    /// A number drawn from a range or a distribution.
    By(TokensBy),
}

impl TokenCounts {
    /// Maps a uniform 64-bit value to a token count.
    fn draw(&self, draw: u64) -> u32 {
        match self {
            TokenCounts::One(tokens) => *tokens,
            TokenCounts::By(TokensBy::Range(range)) => {
                let width = u128::from(range.most - range.least) + 1;
                // Multiplying and shifting spreads 64 bits over the range, with a bias below 2⁻⁴⁰.
                range.least + ((u128::from(draw) * width) >> 64) as u32
            }
            TokenCounts::By(TokensBy::Points(points)) => {
                let drawn = points.distribution().map(|of| of.draw(draw));
                // Reading has checked the points, so this default is never used.
                drawn.map_or(1, |tokens| tokens as u32)
            }
        }
    }

    /// Returns the largest number that can be drawn.
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

/// Event upon which a request arrives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arrival {
    /// A time after the iteration's start, in ps.
    At(u64),
    /// After the request with this number has ended.
    After(u32),
}

/// A request with its drawn lengths.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request {
    /// Time at which it arrives, or the request that it follows.
    pub arrival: Arrival,
    /// Number of tokens in its prompt.
    pub prompt: u32,
    /// Number of tokens in its answer.
    pub output: u32,
    /// Number by which it is dealt to replicas: its own, or in a closed loop its user's.
    pub dealt: u32,
}

impl RequestsSpec {
    /// Draws all requests, by number. A `seed` always gives the same requests.
    pub fn drawn(&self, seed: u64) -> Vec<Request> {
        let [gaps, sizes] = ["arrivals", "tokens"].map(|of| Draws::new(seed, "requests", of));
        let mut now = Time::ZERO;
        let one = |number: u32| {
            // Draws are addressed by request number, so lengths do not depend on arrivals.
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

    /// Returns the user count in a closed loop; `None` in an open one.
    pub(super) fn users(&self) -> Option<u32> {
        self.concurrency.filter(|_| self.is_closed())
    }

    /// Returns true if users wait for a request before they send the next one.
    pub fn is_closed(&self) -> bool {
        self.rate.is_none()
    }
}
