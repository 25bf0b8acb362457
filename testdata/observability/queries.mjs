// Asks a Prometheus, whose address is the argument, for each expression of the dashboard
// and for the state of each alert, and fails if one of them is no valid expression, or
// if the gateway was not scraped.
import { readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";

const [prometheus] = process.argv.slice(2);
const dashboard = JSON.parse(readFileSync(new URL("../../caddyfile/deploy/observability/dashboard.json", import.meta.url)));

async function get(path) {
	const response = await fetch(prometheus + path);
	return response.json();
}

const query = (expression) => get("/api/v1/query?query=" + encodeURIComponent(expression));

async function until(what, holds) {
	for (let second = 0; second < 60; second++) {
		if (await holds().catch(() => false)) return;
		await sleep(1000);
	}
	throw new Error("waited in vain for " + what);
}

await until("a scrape", async () => (await query("sum(caddy_ai_gateway_exchanges_total) > 0")).data.result.length > 0);

const variables = { $__rate_interval: "1m", $provider: ".*", $model: ".*" };
let asked = 0;
for (const { targets = [] } of dashboard.panels) {
	for (const { expr } of targets) {
		const plain = Object.entries(variables).reduce((text, [name, value]) => text.replaceAll(name, value), expr);
		const answer = await query(plain);
		if (answer.status !== "success") throw new Error(`${plain}: ${answer.error}`);
		asked++;
	}
}

let rules = [];
await until("an evaluation of the alerts", async () => {
	rules = (await get("/api/v1/rules")).data.groups.flatMap((group) => group.rules);
	return rules.length > 0 && rules.every(({ health }) => health !== "unknown");
});
for (const { name, health, lastError } of rules) {
	if (health !== "ok") throw new Error(`${name}: ${lastError}`);
}
console.log(`${asked} expressions of the dashboard and ${rules.length} alerts`);
