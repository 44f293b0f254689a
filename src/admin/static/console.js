// What scripts of pages share.

/** Returns the token that changes must send in the header X-CSRF-Token. */
export function csrf() {
    return document.querySelector('meta[name="csrf"]')?.content ?? "";
}
