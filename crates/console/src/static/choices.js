// A list of column families has those of the keyspace that is chosen beside it.

const keyspace = document.querySelector("select#keyspace");
const family = document.querySelector("select#family");

if (keyspace && family) {
    const none = family.querySelector("option");
    const groups = [...family.querySelectorAll("optgroup")];
    const narrow = () => {
        const chosen = family.value;
        const shown = groups.filter((group) => keyspace.value === "" || group.dataset.keyspace === keyspace.value);
        family.replaceChildren(none, ...shown);
        const option = [...family.options].find((option) => option.value === chosen);
        family.value = option ? chosen : "";
    };
    // A family that is chosen first chooses its keyspace.
    family.addEventListener("change", () => {
        const group = family.selectedOptions[0]?.closest("optgroup");
        if (group && keyspace.value === "") {
            keyspace.value = group.dataset.keyspace;
        }
    });
    keyspace.addEventListener("change", narrow);
    narrow();
}
