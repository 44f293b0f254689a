// Follows requests, and adds them to the table.

const LINES_MAX = 200;
const state = document.getElementById("state");
const counts = document.getElementById("counts");
const lines = document.getElementById("lines");
const pause = document.getElementById("pause");

let source = null;
let shown = 0;
let leftOut = 0;
let waiting = [];

/** Returns a cell with a text. Names of clients are isolated, so that their direction stays theirs. */
function cell(text, className) {
    const element = document.createElement("td");
    if (className) {
        element.className = className;
    }
    const isolated = document.createElement("bdi");
    isolated.textContent = text;
    element.append(isolated);
    return element;
}

function line(request) {
    const row = document.createElement("tr");
    const result = cell(request.result, "long");
    if (request.has_failed) {
        row.className = "failed";
        const mark = document.createElement("strong");
        mark.textContent = "failed:";
        result.prepend(mark, " ");
    }
    row.append(
        cell(request.at), cell(request.method), cell(request.generation), cell(request.place),
        cell(request.key, "long"), result, cell(request.micros, "number"), cell(request.client));
    return row;
}

/** Adds the requests that have come since the last time, newest first. */
function draw() {
    if (waiting.length === 0) {
        return;
    }
    lines.prepend(...waiting.reverse().slice(0, LINES_MAX).map(line));
    waiting = [];
    while (lines.children.length > LINES_MAX) {
        lines.lastElementChild.remove();
    }
}

/** Says whether requests are followed. A screen reader reads this aloud, so the changing numbers are elsewhere. */
function say(text) {
    if (state.textContent !== text) {
        state.textContent = text;
    }
}

/** Shows the numbers. */
function count() {
    const sampled = leftOut > 0 ? `; sampled: ${leftOut} requests left out` : "";
    counts.textContent = `${shown} requests shown${sampled}.`;
}

function follow() {
    let before = leftOut;
    source = new EventSource(state.dataset.stream);
    // The browser opens the stream again after a loss, and its numbers begin again.
    source.addEventListener("open", () => {
        before = leftOut;
        say("Following the requests.");
    });
    source.addEventListener("request", (event) => {
        shown += 1;
        waiting.push(JSON.parse(event.data));
        if (waiting.length > LINES_MAX) {
            waiting.shift();
        }
    });
    source.addEventListener("left_out", (event) => {
        leftOut = before + Number(event.data);
    });
    source.addEventListener("error", () => {
        say("The connection to the server was lost; trying again.");
    });
    pause.textContent = "Pause";
}

pause.addEventListener("click", () => {
    if (source) {
        source.close();
        source = null;
        draw();
        count();
        pause.textContent = "Go on";
        say("Paused.");
    } else {
        follow();
    }
});

pause.hidden = false;
follow();
setInterval(draw, 250);
setInterval(() => source && count(), 1000);
