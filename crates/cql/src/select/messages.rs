//! Messages of several checks, in the words of the old servers.

pub(super) const NEEDS_FILTERING: &str = "Cannot execute this query as it might involve data filtering and thus may have \
     unpredictable performance. If you want to execute this query despite the performance unpredictability, use ALLOW \
     FILTERING";

pub(super) const NOT_ON_TOKEN: &str =
    "Only EQ and IN relation are supported on the partition key (unless you use the token() function)";

pub(super) const TOKEN_OF_SOME: &str =
    "The token() function must be applied to all partition key components or none of them";
