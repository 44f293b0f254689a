// The history of questions, which the browser stores.

import { QUESTIONS as KEY } from "/static/console.js";
const MOST = 50;
/** Longer questions are not stored: a browser stores a few megabytes for a server. */
const LONGEST = 16 * 1024;

function stored() {
    try {
        const questions = JSON.parse(localStorage.getItem(KEY) ?? "[]");
        return Array.isArray(questions) ? questions.filter((one) => isQuestion(one)) : [];
    } catch {
        return [];
    }
}

/** Returns whether this is a question, whose path leads to no other page. */
function isQuestion(one) {
    return typeof one?.path === "string" && one.path.startsWith("/ask?") && typeof one.title === "string";
}

function store(questions) {
    try {
        localStorage.setItem(KEY, JSON.stringify(questions.slice(0, MOST)));
    } catch {
        // The browser stores nothing, or no more. The page works without the history.
    }
}

/** Returns the title with characters that cannot be seen as escapes. */
function visible(title) {
    const escape = (letter) => `\\u{${letter.codePointAt(0).toString(16)}}`;
    return title.replace(/[\p{Cc}\p{Cf}\p{Co}\p{Cs}\p{Zl}\p{Zp}]/gu, escape);
}

function show(questions) {
    const section = document.getElementById("history");
    const list = document.getElementById("questions");
    list.replaceChildren(
        ...questions.map((question) => {
            const link = document.createElement("a");
            link.href = question.path;
            link.textContent = visible(question.title);
            const item = document.createElement("li");
            item.append(link);
            return item;
        }),
    );
    section.hidden = questions.length === 0;
}

const answer = document.getElementById("answer");
const title = document.querySelector("form.ask")?.dataset.title ?? "";
let questions = stored();
// Statements with passwords are not stored.
const isSecret = /password/i.test(answer?.dataset.asked ?? "");
if (answer && !isSecret && answer.dataset.asked.length <= LONGEST) {
    const path = answer.dataset.asked;
    questions = [{ path, title }, ...questions.filter((other) => other.path !== path)];
    store(questions);
}
show(questions);
document.getElementById("forget")?.addEventListener("click", () => {
    store([]);
    show([]);
});
// Control and Enter in the statement ask, as in other consoles.
document.getElementById("cql")?.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
        event.preventDefault();
        event.target.form.requestSubmit();
    }
});
