//! The saved form of the cubes of a node.

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::SidedCubes;

impl Serialize for SidedCubes {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let before = std::iter::once(&0).chain(&self.0);
        serializer.collect_seq(self.0.iter().zip(before).map(|(sided, before)| sided - before))
    }
}

impl<'de> Deserialize<'de> for SidedCubes {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut words = Vec::<u64>::deserialize(deserializer)?;
        let mut sum = 0_u64;
        for word in &mut words {
            sum = sum
                .checked_add(*word)
                .ok_or_else(|| D::Error::custom("the numbers of cubes are too large"))?;
            *word = sum;
        }
        Ok(Self(words))
    }
}
