//! [`features!`]: a struct of numbers with names, which a linear model weighs.

/// Declares a struct with one `f32` for each feature: its values, or the weights of a model.
macro_rules! features {
    ($(#[$of_struct:meta])* $visibility:vis struct $type:ident {
        $($(#[$of_field:meta])* $name:ident,)*
    }) => {
        $(#[$of_struct])*
        #[derive(Debug, Clone, Copy, PartialEq, Default, serde::Serialize, serde::Deserialize)]
        #[serde(deny_unknown_fields)]
        $visibility struct $type {
            $($(#[$of_field])* pub $name: f32,)*
        }

        impl $type {
            /// Number of features.
            pub const N: usize = [$(stringify!($name)),*].len();

            /// Names of the features, in the order of the fields.
            pub const NAMES: [&str; Self::N] = [$(stringify!($name)),*];

            /// Returns the numbers in the order of the fields.
            pub fn to_array(self) -> [f32; Self::N] {
                [$(self.$name),*]
            }

            /// Returns the features with these numbers, in the order of the fields.
            pub fn from_array(numbers: [f32; Self::N]) -> Self {
                let [$($name),*] = numbers;
                Self { $($name),* }
            }
        }
    };
}

pub(crate) use features;
