// The search: all words must be in a section; those in its heading count most. The sections are
// loaded when the field is used for the first time.

const field = document.querySelector("#search");
const results = document.querySelector("#results");
const most = 12;

field.addEventListener("focus", load, { once: true });
field.addEventListener("input", show);
field.addEventListener("keydown", (event) => {
	if (event.key === "Enter") results.querySelector("a")?.click();
});
document.addEventListener("keydown", (event) => {
	if (event.key === "Escape") results.hidden = true;
	if (event.key === "/" && !event.ctrlKey && !event.metaKey && document.activeElement !== field) {
		event.preventDefault();
		field.focus();
	}
});
document.addEventListener("click", (event) => {
	if (!event.target.closest("search") || event.target.closest("#results a")) results.hidden = true;
});

// load loads the sections with an element, because a page that is opened from a folder may not fetch.
function load() {
	const script = document.createElement("script");
	script.src = "sections.js";
	script.addEventListener("load", show);
	document.head.append(script);
}

function show() {
	const words = field.value.toLowerCase().split(/\s+/).filter(Boolean);
	results.hidden = !words.length || !globalThis.sections;
	if (results.hidden) return;
	const found = find(words);
	results.replaceChildren(...found.map((section) => row(section, words)));
	if (!found.length) results.append(element("p", "No page has these words."));
}

function find(words) {
	return globalThis.sections
		.map((section) => ({ section, rank: rank(section, words) }))
		.filter(({ rank }) => rank > 0)
		.sort((a, b) => b.rank - a.rank)
		.slice(0, most)
		.map(({ section }) => section);
}

// rank returns how well a section fits, 0 if it lacks a word.
function rank({ page, heading, text }, words) {
	const [inPage, inHeading, inText] = [page, heading, text].map((part) => part.toLowerCase());
	let sum = 0;
	for (const word of words) {
		const rank = (inHeading.includes(word) ? 10 : 0) + (inPage.includes(word) ? 5 : 0) + (inText.includes(word) ? 1 : 0);
		if (!rank) return 0;
		sum += rank;
	}
	return sum;
}

function row(section, words) {
	const link = element("a", section.heading === section.page ? section.page : `${section.page}: ${section.heading}`);
	link.href = section.address;
	const at = Math.max(0, section.text.toLowerCase().indexOf(words[0]) - 40);
	link.append(element("small", (at ? "… " : "") + section.text.slice(at, at + 140)));
	const item = document.createElement("li");
	item.append(link);
	return item;
}

function element(name, text) {
	const made = document.createElement(name);
	made.textContent = text;
	return made;
}
