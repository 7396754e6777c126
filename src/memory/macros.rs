//! Implementations that are the same for many types.

/// `Default` of a type of these fields, whatever its parameters are.
macro_rules! default_of_fields {
    ($Type:ident<$($T:ident),*> { $($field:ident),* }) => {
        impl<$($T),*> Default for $Type<$($T),*> {
            fn default() -> Self {
                Self { $($field: Default::default()),* }
            }
        }
    };
}
pub(crate) use default_of_fields;

/// `Debug` of a type of which these fields can be shown, or none.
macro_rules! debug_of_fields {
    ([$($of:tt)*] $Type:ident $(<$($with:tt),*>)? $(|$own:ident| $($field:ident: $value:expr),*)?) => {
        impl<$($of)*> std::fmt::Debug for $Type $(<$($with),*>)? {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                let mut shown = f.debug_struct(stringify!($Type));
                $(
                    let $own = self;
                    $(shown.field(stringify!($field), &$value);)*
                )?
                shown.finish_non_exhaustive()
            }
        }
    };
}
pub(crate) use debug_of_fields;

/// Calls a macro for tuples of one to four or to six parts, with their number, and a type, a name and an index of each.
macro_rules! for_tuples {
    ($each:ident 4) => {
        $each!(1: A a 0);
        $each!(2: A a 0, B b 1);
        $each!(3: A a 0, B b 1, C c 2);
        $each!(4: A a 0, B b 1, C c 2, D d 3);
    };
    ($each:ident 6) => {
        $crate::memory::for_tuples!($each 4);
        $each!(5: A a 0, B b 1, C c 2, D d 3, E e 4);
        $each!(6: A a 0, B b 1, C c 2, D d 3, E e 4, F f 5);
    };
}
pub(crate) use for_tuples;

/// Methods of what a pointer leads to, with an attribute if one is given.
macro_rules! forward {
    (#[$with:meta] $(ref $name:ident($($arg:ident: $type:ty),*) $(-> $out:ty)?;)*) => { $(
        #[$with]
        fn $name(&self, $($arg: $type),*) $(-> $out)? {
            (**self).$name($($arg),*)
        }
    )* };
    (#[$with:meta] $(mut $name:ident($($arg:ident: $type:ty),*) $(-> $out:ty)?;)*) => { $(
        #[$with]
        fn $name(&mut self, $($arg: $type),*) $(-> $out)? {
            (**self).$name($($arg),*)
        }
    )* };
    ($(ref $name:ident($($arg:ident: $type:ty),*) $(-> $out:ty)?;)*) => { $(
        fn $name(&self, $($arg: $type),*) $(-> $out)? {
            (**self).$name($($arg),*)
        }
    )* };
}
pub(crate) use forward;
