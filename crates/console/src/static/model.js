// The page /model: copies scripts, and leads from an error to its line.

for (const button of document.querySelectorAll("button.copy")) {
    button.hidden = false;
    button.addEventListener("click", () => copy(button));
}

/** Copies the script of a button. Where a page may not write to the clipboard, the script is selected. */
async function copy(button) {
    const text = document.getElementById(button.dataset.copies);
    const status = document.getElementById("copied");
    try {
        await navigator.clipboard.writeText(text.textContent);
        status.textContent = "Copied";
        button.firstChild.data = "Copied";
        setTimeout(() => {
            button.firstChild.data = "Copy";
            status.textContent = "";
        }, 2000);
    } catch {
        getSelection().selectAllChildren(text);
        status.textContent = "The script is selected: copy it with the keyboard";
    }
}

for (const place of document.querySelectorAll(".errors .place")) {
    const button = document.createElement("button");
    button.type = "button";
    button.className = "place";
    button.textContent = place.textContent;
    const { area, line } = place.dataset;
    button.addEventListener("click", () => selectLine(document.getElementById(area), Number(line)));
    place.replaceWith(button);
}

/** Selects a line of a text area, counted from 1, and scrolls to it. */
function selectLine(area, line) {
    const lines = area.value.split("\n");
    const start = lines.slice(0, line - 1).reduce((sum, text) => sum + text.length + 1, 0);
    area.focus();
    area.setSelectionRange(start, start + (lines[line - 1]?.length ?? 0));
    area.scrollTop = ((line - 3) * area.scrollHeight) / lines.length;
}
