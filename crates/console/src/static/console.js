// What scripts of pages share.

/** Where the browser stores the history of questions. */
export const QUESTIONS = "thriftstore.questions";

// The next user of this browser does not see the questions.
document.querySelector("form.logout")?.addEventListener("submit", () => localStorage.removeItem(QUESTIONS));

/** Returns the token that changes must send in the header X-CSRF-Token. */
export function csrf() {
    return document.querySelector('meta[name="csrf"]')?.content ?? "";
}

/** Where the browser stores which keyspaces of the side bar are unfolded, until its window is closed. */
const UNFOLDED = "thriftstore.keyspaces";

function unfolded() {
    try {
        return JSON.parse(sessionStorage.getItem(UNFOLDED) ?? "{}");
    } catch {
        return {};
    }
}

for (const keyspace of document.querySelectorAll(".tree details")) {
    const name = keyspace.dataset.keyspace;
    // The place of the page is always seen.
    const known = unfolded();
    const isKnown = Object.hasOwn(known, name);
    keyspace.open = keyspace.querySelector("[aria-current]") !== null || (isKnown ? known[name] : keyspace.open);
    keyspace.addEventListener("toggle", () => {
        try {
            sessionStorage.setItem(UNFOLDED, JSON.stringify({ ...unfolded(), [name]: keyspace.open }));
        } catch {
            // The browser stores nothing. The side bar works without.
        }
    });
}
