// What scripts of pages share.

/** Where the browser stores the history of questions. */
export const QUESTIONS = "thriftstore.questions";

// The next user of this browser does not see the questions.
document.querySelector("form.logout")?.addEventListener("submit", () => localStorage.removeItem(QUESTIONS));

/** Returns the token that changes must send in the header X-CSRF-Token. */
export function csrf() {
    return document.querySelector('meta[name="csrf"]')?.content ?? "";
}
