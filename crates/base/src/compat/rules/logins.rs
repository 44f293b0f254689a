//! Rules of logins and permissions.

use super::rules;
use crate::compat::span::since;
use crate::util::Release::V1_2;

rules! {
    /// Rules of logins and permissions.
    pub struct LoginRules {
        /// Messages about missing permissions name permissions and resources as 1.2 does (`Permission`,
        /// `DataResource`); before, as the access.properties file does.
        permissions_name_resources: bool = since(V1_2);
    }
}
