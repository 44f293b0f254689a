// Replaces the charts of a page by newer ones, while somebody looks at the page.

const EVERY_MS = 2000;
const charts = document.querySelector("[data-charts]");

async function refresh() {
    if (document.hidden || charts.contains(document.activeElement)) {
        return;
    }
    try {
        const reply = await fetch(charts.dataset.charts);
        // A reply that is a login page or an error leaves the charts as they are.
        if (reply.ok && !reply.redirected) {
            const drawn = new DOMParser().parseFromString(await reply.text(), "text/html");
            charts.replaceChildren(...drawn.body.children);
        }
    } catch {
        // The server cannot be reached; the next try may succeed.
    }
}

if (charts) {
    setInterval(refresh, EVERY_MS);
}
