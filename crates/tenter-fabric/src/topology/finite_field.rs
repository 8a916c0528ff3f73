//! Finite fields, represented by powers of a primitive element.

/// A finite field. An element is a number whose digits in base `prime` are a polynomial's
/// coefficients.
#[derive(Clone, Debug)]
pub(crate) struct Field {
    prime: u32,
    /// Powers that a primitive element has for exponents 0 to order − 2, after which they repeat.
    powers: Vec<u32>,
    /// Each element's logarithm to that base; 0 has none, and its entry is unused.
    exponents: Vec<u32>,
}

impl Field {
    /// Returns the field with `order` elements, or `None` if `order` is no prime power.
    pub(crate) fn of_order(order: u32) -> Option<Field> {
        // The least divisor above 1 is a prime.
        let prime = (2..=order).find(|divisor| order.is_multiple_of(*divisor))?;
        let mut rest = order;
        while rest.is_multiple_of(prime) {
            rest /= prime;
        }
        if rest != 1 {
            return None;
        }
        // A product of degree `n` is reduced by replacing x^n with a polynomial `by`. Most fields
        // have a primitive x after few tries.
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

    /// Multiplies two elements by adding their logarithms.
    pub(crate) fn product(&self, a: u32, b: u32) -> u32 {
        if a == 0 || b == 0 {
            return 0;
        }
        let [one, other] = [a, b].map(|element| self.exponents[element as usize]);
        self.power(one + other)
    }

    /// Returns a power of the primitive element. Exponents count modulo order − 1.
    pub(crate) fn power(&self, exponent: u32) -> u32 {
        self.powers[exponent as usize % self.powers.len()]
    }
}

/// Adds two elements digit by digit, without carries.
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

/// Lists the powers of x if x^n is `by`; `None` unless they are all elements but 0.
fn powers_of_x(prime: u32, order: u32, by: u32) -> Option<Vec<u32>> {
    // Place value of the leading coefficient.
    let top = order / prime;
    let times_x = |element: u32| {
        let (leading, rest) = (element / top, element % top * prime);
        // The leading coefficient says how often `by` is added.
        (0..leading).fold(rest, |total, _| sum(prime, total, by))
    };
    let mut powers = vec![1];
    loop {
        match times_x(powers[powers.len() - 1]) {
            1 => break,
            // A product of x with an element other than 0 is 0, so this is no field.
            0 => return None,
            // More powers than elements: they repeat without coming back to 1.
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
