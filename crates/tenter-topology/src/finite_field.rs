//! Finite fields, by the powers of a primitive element.

/// The field of an order that is a power of a prime. An element is the number whose digits in base
/// `prime` are the coefficients of a polynomial.
#[derive(Clone, Debug)]
pub(crate) struct Field {
    prime: u32,
    /// The powers of a primitive element, from the first to that before 1 again.
    powers: Vec<u32>,
    /// The exponent of each element but 0, which has none.
    exponents: Vec<u32>,
}

impl Field {
    /// The field of an order, or none if that is no power of a prime.
    pub(crate) fn of_order(order: u32) -> Option<Field> {
        let prime = (2..=order).find(|divisor| order.is_multiple_of(*divisor))?;
        let mut rest = order;
        while rest.is_multiple_of(prime) {
            rest /= prime;
        }
        if rest != 1 {
            return None;
        }
        // The polynomial by which x to the degree is replaced; most have a primitive x in a few.
        let powers = (1..order).find_map(|by| powers_of_x(prime, order, by))?;
        let mut exponents = vec![0; order as usize];
        for (exponent, &power) in (0..).zip(&powers) {
            exponents[power as usize] = exponent;
        }
        Some(Field {
            prime,
            powers,
            exponents,
        })
    }

    pub(crate) fn order(&self) -> u32 {
        self.exponents.len() as u32
    }

    pub(crate) fn sum(&self, a: u32, b: u32) -> u32 {
        sum(self.prime, a, b)
    }

    pub(crate) fn product(&self, a: u32, b: u32) -> u32 {
        if a == 0 || b == 0 {
            return 0;
        }
        let [one, other] = [a, b].map(|element| self.exponents[element as usize]);
        self.power(one + other)
    }

    /// A power of the primitive element.
    pub(crate) fn power(&self, exponent: u32) -> u32 {
        self.powers[exponent as usize % self.powers.len()]
    }
}

/// The sum of two elements, digit by digit.
fn sum(prime: u32, mut a: u32, mut b: u32) -> u32 {
    let (mut sum, mut place) = (0, 1);
    while a > 0 || b > 0 {
        sum += (a + b) % prime * place;
        place *= prime;
        a /= prime;
        b /= prime;
    }
    sum
}

/// The powers of x where x to the degree is `by`, if they are all elements but 0.
fn powers_of_x(prime: u32, order: u32, by: u32) -> Option<Vec<u32>> {
    let top = order / prime;
    let times_x = |element: u32| {
        let (leading, rest) = (element / top, element % top * prime);
        (0..leading).fold(rest, |total, _| sum(prime, total, by))
    };
    let mut powers = vec![1];
    loop {
        match times_x(powers[powers.len() - 1]) {
            1 => break,
            0 => return None,
            _ if powers.len() == order as usize - 1 => return None,
            next => powers.push(next),
        }
    }
    (powers.len() == order as usize - 1).then_some(powers)
}

#[cfg(test)]
mod tests {
    use super::Field;

    #[test]
    fn fields_have_orders_that_are_powers_of_primes() {
        let orders = (2..=32).filter(|&order| Field::of_order(order).is_some());
        let orders: Vec<u32> = orders.collect();
        let expected = [
            2, 3, 4, 5, 7, 8, 9, 11, 13, 16, 17, 19, 23, 25, 27, 29, 31, 32,
        ];
        assert_eq!(orders, expected);
    }

    #[test]
    fn sums_and_products_are_those_of_a_field() {
        for order in [2, 3, 4, 5, 8, 9, 25] {
            let field = Field::of_order(order).expect("it is a power of a prime");
            for a in 0..order {
                // Each element is the sum, and but for 0 the product, with exactly one other.
                let reached = |with: &dyn Fn(u32) -> u32| {
                    let mut all: Vec<u32> = (0..order).map(with).collect();
                    all.sort_unstable();
                    all.dedup();
                    all.len() as u32
                };
                assert_eq!(reached(&|b| field.sum(a, b)), order);
                assert_eq!(
                    reached(&|b| field.product(a, b)),
                    if a == 0 { 1 } else { order }
                );
                for (b, c) in (0..order).flat_map(|b| (0..order).map(move |c| (b, c))) {
                    let whole = field.product(a, field.sum(b, c));
                    let parts = field.sum(field.product(a, b), field.product(a, c));
                    assert_eq!(whole, parts, "{a} · ({b} + {c}) of {order}");
                }
            }
        }
    }
}
