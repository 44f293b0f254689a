//! Rules of logins and permissions.

use super::rules;
use crate::compat::span::since;
use crate::util::Release::V1_2;

rules! {
    /// The rules of logins and permissions.
    pub struct LoginRules {
        /// Refusals name the permissions and resources of 1.2 (`Permission`, `DataResource`); before, those of the file
        /// with rights.
        permissions_name_resources: bool = since(V1_2);
    }
}
