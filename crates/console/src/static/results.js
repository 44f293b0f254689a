// Sorts the table of a result by a column, and copies it.

const table = document.getElementById("result");
const copy = document.getElementById("copy");

/** Returns the text of a field, without notes about it. */
function textOf(field) {
    const shown = field.querySelector(".bytes") ?? field;
    return shown.classList.contains("void") || field.querySelector(".void") ? "" : shown.textContent.trim();
}

/** Compares numbers by their value, and other texts as people sort them. */
function compare(one, other) {
    const numbers = [one, other].map(Number);
    if (one !== "" && other !== "" && numbers.every(Number.isFinite)) {
        return numbers[0] - numbers[1];
    }
    return one.localeCompare(other);
}

function sortBy(column, head) {
    const isDescending = head.getAttribute("aria-sort") === "ascending";
    table.querySelectorAll("thead th").forEach((other) => other.removeAttribute("aria-sort"));
    head.setAttribute("aria-sort", isDescending ? "descending" : "ascending");
    const rows = [...table.tBodies[0].rows].map((row) => [textOf(row.cells[column]), row]);
    rows.sort(([one], [other]) => (isDescending ? compare(other, one) : compare(one, other)));
    table.tBodies[0].replaceChildren(...rows.map(([, row]) => row));
}

table?.querySelectorAll("thead th").forEach((head, column) => {
    const button = document.createElement("button");
    button.type = "button";
    button.className = "sort";
    button.append(...head.childNodes);
    button.addEventListener("click", () => sortBy(column, head));
    head.append(button);
});

/** Returns the table as lines of fields between tabs, which spreadsheets paste as a table. */
function lines() {
    const rows = [...table.rows].map((row) => [...row.cells].map((field) => textOf(field).replace(/[\t\n]/g, " ")));
    return rows.map((fields) => fields.join("\t")).join("\n");
}

async function copyResult() {
    const text = table ? lines() : document.querySelector("pre.json").textContent;
    const status = document.getElementById("copied");
    try {
        await navigator.clipboard.writeText(text);
        status.textContent = "Copied";
    } catch {
        status.textContent = "The browser does not let the page copy: download the file";
    }
    setTimeout(() => (status.textContent = ""), 3000);
}

if (copy && (table || document.querySelector("pre.json"))) {
    copy.hidden = false;
    copy.addEventListener("click", copyResult);
}
