// Counts times to live down, and opens the super column that a link leads to.

const UNITS = [[86400, "day"], [3600, "hour"], [60, "minute"], [1, "second"]];

/** Returns seconds in their two largest units, as the server writes them. */
function inWords(seconds) {
    const words = [];
    let left = Math.max(0, seconds);
    for (const [length, unit] of UNITS) {
        const count = Math.floor(left / length);
        left %= length;
        if (count > 0) {
            words.push(`${count} ${unit}${count === 1 ? "" : "s"}`);
        } else if (words.length > 0) {
            break;
        }
        if (words.length === 2) {
            break;
        }
    }
    return words.join(" ") || "0 seconds";
}

const countdowns = [...document.querySelectorAll("[data-expires]")].map((element) => [
    element, Number(element.dataset.expires), Date.now() / 1000,
]);

function tick() {
    for (const [element, expires] of countdowns) {
        const left = Math.round(expires - Date.now() / 1000);
        element.textContent = left > 0 ? `in ${inWords(left)}` : "since this page was loaded";
    }
}

if (countdowns.length > 0) {
    setInterval(tick, 1000);
}

function openTarget() {
    const id = decodeURIComponent(location.hash.slice(1));
    document.getElementById(id)?.closest("details")?.setAttribute("open", "");
}

addEventListener("hashchange", openTarget);
openTarget();
