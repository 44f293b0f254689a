//! Messages about logins, users and permissions.

use super::{V0_7, V1_2, texts};

texts! {
    /// A call before login (0.6 `CassandraServer.checkLoginDone`, later `ClientState.hasColumnFamilyAccess`).
    not_logged_in() {
        "Login is required before any other API calls";
        V0_7: "You have not logged in"
    }

    /// A login without a user name or a password (`SimpleAuthenticator`, later `PasswordAuthenticator`).
    missing_credential(name: &str) {
        "Authentication request was missing the required key '{name}'";
        V1_2: "Required key '{name}' is missing"
    }

    /// A login with a wrong password or an unknown user (the same classes). 0.6 answers an unknown user with an
    /// internal error, which has the message of a wrong password.
    wrong_password(mode: &str, user: &str) {
        "Given password in password mode {mode} could not be validated for user {user}";
        V1_2: "Username and/or password are incorrect"
    }

    /// A login to a keyspace that the user must not use (0.6 `SimpleAuthenticator`).
    keyspace_not_authorized(user: &str, keyspace: &str) {
        "User {user} could not be authorized to use keyspace {keyspace}"
    }

    /// A request without the required permission (`ClientState`). To 1.1, the user is printed as Java prints a user
    /// without groups, with the permissions and resources of those releases.
    no_permission(user: &str, permission: &str, resource: &str) {
        "#<User {user} groups=[]> does not have permission {permission} for {resource}";
        V1_2: "User {user} has no {permission} permission on {resource} or any of its parents"
    }

    /// A statement names an undefined user.
    unknown_user(name: &str) {
        "User {name} doesn't exist"
    }
}
